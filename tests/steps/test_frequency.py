"""Document frequencies, against counters of Python."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import as_shingles
from neardup.kernel import mix
from neardup.schema import WEIGHT_ONE, Frequencies, Shingles
from neardup.steps.frequency import Seen, count, directory_of, drop, frequent, inverse, merge, merge_runs, repeated

NUMBERS = st.lists(st.integers(1, 40), max_size=200)


def spread(numbers: list[int]) -> np.ndarray:
    """Return small numbers as hashes, which are uniform."""
    return np.array([mix(np.uint64(number)) for number in numbers], np.uint64)


def as_counter(frequencies: Frequencies) -> dict[int, int]:
    """Return a table as a dictionary."""
    assert (np.diff(frequencies.hashes.astype(object)) > 0).all()
    return dict(zip(frequencies.hashes.tolist(), frequencies.counts.tolist(), strict=True))


@given(NUMBERS)
def test_count_equals_a_counter(numbers: list[int]) -> None:
    """Each hash with how often it is there, ascending."""
    assert Counter(spread(numbers).tolist()) == as_counter(count(spread(numbers), 1))


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_merging_adds_up(parts: list[list[int]]) -> None:
    """Runs merged as they come, and then all, are the count of all; each is over twice as large as the next."""
    runs: list[Frequencies] = []
    for part in parts:
        runs = merge_runs([*runs, count(spread(part), len(part))])
    assert all(one.hashes.size > 2 * other.hashes.size for one, other in pairwise(runs))

    whole = runs[0]
    for run in runs[1:]:
        whole = merge(whole, run)

    expected = Counter(spread([number for part in parts for number in part]).tolist())
    assert expected == as_counter(whole)
    assert sum(map(len, parts)) == whole.n_docs
    assert {key: times for key, times in expected.items() if times > 1} == as_counter(repeated(whole))


@given(NUMBERS, st.floats(0.01, 0.99))
def test_frequent_shingles_are_dropped(numbers: list[int], max_df: float) -> None:
    """Those of more than the share of the texts go, all others stay in place; a shingle of one text always stays."""
    table = count(spread(numbers), 50)
    counts = as_counter(table)

    dropped = frequent(table, max_df)

    assert {key for key, times in counts.items() if times > max(max_df * 50, 1)} == set(dropped.tolist())
    texts = Shingles(spread([*range(1, 60), *range(1, 60)]), np.array([0, 0, 30, 30, 118]))
    left = drop(Shingles(texts.hashes.copy(), texts.offsets), dropped)
    for (start, end), (new_start, new_end) in zip(pairwise(texts.offsets), pairwise(left.offsets), strict=True):
        kept = [value for value in texts.hashes[start:end].tolist() if value not in set(dropped.tolist())]
        assert kept == left.hashes[new_start:new_end].tolist()


@given(NUMBERS)
def test_inverse_is_the_formula(numbers: list[int]) -> None:
    """1 + ln(n_docs / frequency), a shingle that is in no table found in one text; never below 1."""
    table = count(spread(numbers), 60)
    counts = as_counter(table)
    hashes = spread(list(range(1, 80)))

    weights = inverse(hashes, table, directory_of(table))

    expected = [1 + np.log(max(60 / counts.get(key, 1), 1)) for key in hashes.tolist()]
    assert np.allclose(expected, weights / WEIGHT_ONE, atol=1e-6)


@given(st.lists(st.lists(st.integers(0, 300), max_size=60), max_size=8))
def test_seen_is_a_set(batches: list[list[int]]) -> None:
    """Which of some hashes were not there before, over batches, repeats within a batch too, and growth."""
    seen = Seen()
    seen._slots = np.zeros(8, np.uint64)
    known: set[int] = set()
    for batch in batches:
        expected = []
        for number in batch:
            expected.append(number not in known)
            known.add(number)
        hashes = np.array([mix(np.uint64(number + 1)) for number in batch], np.uint64)

        assert expected == seen.add(hashes).tolist()


def test_nothing_is_dropped_by_an_empty_list() -> None:
    """Without frequent shingles, shingles are handed through."""
    shingles = as_shingles([{1, 2}, {3}])

    assert shingles is drop(shingles, np.empty(0, np.uint64))
