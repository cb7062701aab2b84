"""Verification, against sets of Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import as_dict, as_shingles
from neardup.kernel import Threads, mix
from neardup.schema import WEIGHT_ONE, Candidates, Weighted
from neardup.steps.verify import estimate, verify, verify_weighted
from neardup.steps.verify.slices import SLICE


def all_candidates(n_docs: int) -> Candidates:
    """Return every pair of n documents."""
    a, b = np.triu_indices(n_docs, 1)
    return Candidates(a.astype(np.int64), b.astype(np.int64))


def spread(numbers: set[int]) -> set[int]:
    """Return small numbers as hashes, which are uniform."""
    return {int(mix(np.uint64(number))) for number in numbers}


def jaccard(sets: list[set[int]], threshold: float) -> dict[tuple[int, int], float]:
    """Return all pairs of sets at or above the threshold."""
    found = {}
    for a, b in zip(*all_candidates(len(sets)), strict=True):
        union = len(sets[a] | sets[b])
        similarity = len(sets[a] & sets[b]) / union if union else 0.0
        if similarity >= threshold:
            found[int(a), int(b)] = similarity
    return found


@given(
    st.lists(st.sets(st.integers(1, 30), max_size=30), max_size=8),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 2 / 3, 0.8, 0.9, 1.0]),
)
def test_verify_equals_sets_when_small(numbers: list[set[int]], threshold: float) -> None:
    """Pairs and similarities are those of Python's sets, to the last bit; a pair at the threshold counts."""
    sets = [spread(one) for one in numbers]
    with Threads(1) as threads:
        pairs = verify(all_candidates(len(sets)), as_shingles(sets), threshold=threshold, threads=threads)

    assert jaccard(sets, threshold) == as_dict(pairs)


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_verify_by_bit_rows_equals_sets(threshold: float) -> None:
    """A star of many pairs, compared by bit rows, gives what one by one comparison gives."""
    rng = np.random.default_rng(5)
    core = rng.permutation(400) + 1
    sets = [
        spread(set(core[: rng.integers(300, 400)].tolist()) | set(rng.integers(500, 600, 40).tolist()))
        for _ in range(120)
    ]
    sets += [spread({1_000 + doc}) for doc in range(5)]
    candidates = all_candidates(len(sets))
    assert candidates.a.size > SLICE

    with Threads(2) as threads:
        pairs = verify(candidates, as_shingles(sets), threshold=threshold, threads=threads)

    assert jaccard(sets, threshold) == as_dict(pairs)


def test_verify_keeps_long_pairs_at_the_threshold() -> None:
    """Early exit gives up none of a hundred long pairs that lie exactly at the threshold."""
    rng = np.random.default_rng(7)
    sets = []
    for pair in range(100):
        shared = set(rng.integers(1, 2**63, 4000).tolist())
        sets += [shared | {pair + 1}, shared | set(rng.integers(1, 2**63, 999).tolist())]
    docs = np.arange(0, 200, 2)

    with Threads(1) as threads:
        pairs = verify(Candidates(docs, docs + 1), as_shingles(sets), threshold=0.8, threads=threads)

    assert [0.8] * 100 == pairs.similarity.tolist()


def test_verify_of_nothing_is_nothing() -> None:
    """No candidates, no pairs."""
    with Threads(1) as threads:
        pairs = verify(all_candidates(0), as_shingles([]), threshold=0.5, threads=threads)

    assert {} == as_dict(pairs)


def test_estimate_is_the_share_of_equal_values() -> None:
    """The estimate counts equal values of two signatures."""
    signatures = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [9, 9, 9, 9]], np.uint32)

    with Threads(1) as threads:
        pairs = estimate(all_candidates(3), signatures, threshold=0.5, threads=threads)

    assert {(0, 1): 0.75} == as_dict(pairs)


@given(
    st.lists(st.dictionaries(st.integers(1, 12), st.integers(1, 5), max_size=12), max_size=8),
    st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 0.8, 1.0]),
)
def test_weighted_similarity_equals_sums_of_minima_and_maxima(counts: list[dict[int, int]], threshold: float) -> None:
    """Generalized Jaccard to the last bit; a pair at the threshold counts."""
    spread_counts = [{int(mix(np.uint64(key))): count for key, count in one.items()} for one in counts]
    rows = [sorted(one.items()) for one in spread_counts]
    weighted = Weighted(
        np.array([key for row in rows for key, _ in row], np.uint64),
        np.array([count * WEIGHT_ONE for row in rows for _, count in row], np.int64),
        np.cumsum([0, *map(len, rows)]),
    )
    expected = {}
    for a, b in zip(*all_candidates(len(rows)), strict=True):
        keys = spread_counts[a].keys() | spread_counts[b].keys()
        both = [(spread_counts[a].get(key, 0), spread_counts[b].get(key, 0)) for key in keys]
        similarity = sum(map(min, both)) / sum(map(max, both)) if both else 0.0
        if similarity >= threshold:
            expected[int(a), int(b)] = similarity

    with Threads(1) as threads:
        pairs = verify_weighted(all_candidates(len(rows)), weighted, threshold=threshold, threads=threads)

    assert expected == as_dict(pairs)


@pytest.mark.parametrize("n_words", [1, 2])
def test_bits_are_compared_one_by_one(n_words: int) -> None:
    """The estimate of signatures of bits is the share of bits that are equal."""
    signatures = np.random.default_rng(4).integers(0, 2**64, (20, n_words), np.uint64)
    bits = np.unpackbits(signatures.view(np.uint8), axis=1)

    with Threads(2) as threads:
        pairs = estimate(all_candidates(20), signatures, threshold=0.0, threads=threads)

    assert {pair: float((bits[pair[0]] == bits[pair[1]]).mean()) for pair in as_dict(pairs)} == as_dict(pairs)
