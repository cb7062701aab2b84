"""Candidate pairs, against dictionaries of buckets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from neardup.kernel import Threads, mix
from neardup.steps import candidates as step
from neardup.steps.candidates import band_keys, candidate_pairs, first_of_equal


def by_rows(keys: np.ndarray, n_parts: int = 1) -> step.Tables:
    """Return tables of which each has a row of keys."""

    def keys_of(table: int, part: int) -> tuple[np.ndarray, np.ndarray]:
        places = np.flatnonzero((keys[table] >> np.uint64(32)) % np.uint64(n_parts) == part)
        return keys[table][places], places

    return step.Tables(keys.shape[0], n_parts, keys_of, keys.shape[1], None)


def met(keys: np.ndarray, count: int = 1, n_parts: int = 1) -> tuple[set[tuple[int, int]], list[int], step.Met]:
    """Return the candidate pairs of these keys, each once and as they came, and what is told of them."""
    found: list[np.ndarray] = []
    with Threads(count) as threads:
        result = candidate_pairs(by_rows(keys, n_parts), threads, found.append)
    pairs = np.concatenate([np.empty(0, np.uint64), *found])
    return {(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()}, pairs.tolist(), result


@given(arrays.arrays(np.uint64, st.tuples(st.integers(1, 4), st.integers(0, 30)), elements=st.integers(0, 5)))
def test_documents_meet_where_a_key_is_equal(small: np.ndarray) -> None:
    """Each pair that shares the key of some band comes, a before b, once for each such band."""
    keys = mix_all(small)
    shared = [(a, b) for row in keys for a, b in combinations(range(row.size), 2) if row[a] == row[b]]

    actual, pairs, result = met(keys)

    assert set(shared) == actual
    assert len(shared) == len(pairs)
    assert result.uncompared == 0


@given(arrays.arrays(np.uint64, st.tuples(st.just(3), st.integers(0, 60)), elements=st.integers(0, 9)))
def test_parts_and_threads_change_nothing(small: np.ndarray) -> None:
    """The same pairs, as often, and the same counts, in however many parts a table comes."""
    keys = mix_all(small)

    outcomes = [met(keys, count, n_parts) for count, n_parts in ((1, 1), (2, 1), (1, 3), (4, 7))]

    assert all(sorted(outcomes[0][1]) == sorted(pairs) for _, pairs, _ in outcomes)
    assert all(outcomes[0][2] == result for _, _, result in outcomes)


def mix_all(keys: np.ndarray) -> np.ndarray:
    """Return small numbers as uniform keys."""
    flat = [mix(value) for value in keys.ravel().astype(np.uint64)]
    return np.array(flat, np.uint64).reshape(keys.shape)


def test_a_crowded_bucket_is_linear_and_counted() -> None:
    """In a bucket beyond the limit each document meets the first and its window; the rest is counted."""
    size = step.BUCKET_LIMIT + 1

    actual, _, result = met(mix_all(np.full((1, size), 7)))

    expected = {(a, b) for b in range(size) for a in {0, *range(max(0, b - step.WINDOW), b)} if a < b}
    assert expected == actual
    assert (1, 1) == (result.buckets, result.crowded)
    assert size * (size - 1) // 2 - len(expected) == result.uncompared


def test_bands_do_not_meet_one_another() -> None:
    """Equal values in different bands give different keys."""
    keys = band_keys(np.full((1, 128), 3, np.uint32), bands=16, rows=8)

    assert 16 == np.unique(keys).size


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40))
def test_first_of_equal_is_the_first(contents: list[tuple[int, int]]) -> None:
    """Each document is given the first with the same content, also where half the hash is equal."""
    docs = np.arange(len(contents)) * 3
    content = np.array(contents, np.uint64).reshape(-1, 2).T.copy()

    actual = first_of_equal(content, docs).tolist()

    assert [3 * contents.index(one) for one in contents] == actual


def test_pairs_that_fill_the_room_go_on_where_they_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handed on in many pieces, within buckets and between them, they are the same pairs."""
    keys = mix_all(np.array([[1] * (step.BUCKET_LIMIT + 300) + [2] * 200 + [3] * 1500]))
    whole, _, told = met(keys)
    monkeypatch.setattr(step, "_PAIRS", step.BUCKET_LIMIT)

    pieces, pairs, told_of_pieces = met(keys)

    assert whole == pieces
    assert len(pairs) == len(pieces)
    assert told == told_of_pieces
