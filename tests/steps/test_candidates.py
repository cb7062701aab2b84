"""Candidate pairs, against dictionaries of buckets."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from neardup.kernel import Threads, mix
from neardup.steps import candidates as step
from neardup.steps.candidates import band_keys, candidate_pairs, first_of_equal


def by_rows(keys: np.ndarray, docs: np.ndarray) -> step.Tables:
    """Return tables of which each has a row of keys."""
    return step.Tables(keys.shape[0], lambda table: keys[table][docs], docs, None)


def met(keys: np.ndarray, count: int = 1) -> tuple[set[tuple[int, int]], step.Met]:
    """Return the candidate pairs of these keys, and all that is told of them."""
    with Threads(count) as threads:
        result = candidate_pairs(by_rows(keys, np.arange(keys.shape[1])), threads)
    return set(zip(result.candidates.a.tolist(), result.candidates.b.tolist(), strict=True)), result


@given(arrays.arrays(np.uint64, st.tuples(st.integers(1, 4), st.integers(0, 30)), elements=st.integers(0, 5)))
def test_documents_meet_where_a_key_is_equal(small: np.ndarray) -> None:
    """Each pair that shares the key of some band comes once, a before b, ascending."""
    keys = mix_all(small)
    expected = {(a, b) for row in keys for a, b in combinations(range(row.size), 2) if row[a] == row[b]}

    actual, result = met(keys)

    assert expected == actual
    assert len(actual) == result.candidates.a.size
    assert sorted(actual) == list(zip(*(ends.tolist() for ends in result.candidates), strict=True))
    assert result.uncompared == 0


def test_only_the_documents_asked_for_meet() -> None:
    """Pairs are among some documents, by their own numbers."""
    keys = mix_all(np.array([[1, 1, 1, 2, 2, 1]]))
    with Threads(1) as threads:
        found = candidate_pairs(by_rows(keys, np.array([0, 2, 4, 5])), threads).candidates

    assert [(0, 2), (0, 5), (2, 5)] == list(zip(found.a.tolist(), found.b.tolist(), strict=True))


def mix_all(keys: np.ndarray) -> np.ndarray:
    """Return small numbers as uniform keys."""
    flat = [mix(value) for value in keys.ravel().astype(np.uint64)]
    return np.array(flat, np.uint64).reshape(keys.shape)


def test_a_crowded_bucket_is_linear_and_counted() -> None:
    """In a bucket beyond the limit each document meets the first and its window; the rest is counted."""
    size = step.BUCKET_LIMIT + 1

    actual, result = met(mix_all(np.full((1, size), 7)))

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


def test_the_number_of_threads_changes_nothing() -> None:
    """One, two and four threads give the same arrays."""
    keys = mix_all(np.random.default_rng(3).integers(0, 400, (8, 1000)))

    results = [met(keys, count)[1].candidates for count in (1, 2, 4)]

    assert all(np.array_equal(results[0].a, other.a) and np.array_equal(results[0].b, other.b) for other in results)
