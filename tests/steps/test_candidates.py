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


def split(keys: list[list[int]], docs: list[int], table: int, level: int) -> set[tuple[int, int]]:
    """Return the pairs of a bucket by the rule, in plain Python: all, or its first ones and those of its parts."""
    if len(docs) <= (step.SPLIT_LIMIT if level else step.BUCKET_LIMIT):
        return set(combinations(docs, 2))
    pairs = {(docs[0], doc) for doc in docs[1:]}
    if level == step.LEVELS:
        return pairs | {(a, b) for i, b in enumerate(docs) for a in docs[max(0, i - step.WINDOW) : i]}
    parts: dict[int, list[int]] = {}
    for doc in docs[1:]:
        parts.setdefault(keys[(table + level + 1) % len(keys)][doc], []).append(doc)
    return pairs.union(*(split(keys, part, table, level + 1) for part in parts.values()))


@given(arrays.arrays(np.uint64, st.tuples(st.integers(1, 4), st.integers(0, 40)), elements=st.integers(0, 2)))
def test_a_crowded_bucket_is_split_by_further_bands(small: np.ndarray) -> None:
    """The pairs are those of the rule, the rest is counted, and the largest crowded buckets are told of."""
    keys = mix_all(small)
    with pytest.MonkeyPatch.context() as limits:
        for name, value in {"BUCKET_LIMIT": 6, "SPLIT_LIMIT": 3, "LEVELS": 2, "WINDOW": 1}.items():
            limits.setattr(step, name, value)
        actual, pairs, result = met(keys)
        buckets = [
            (table, [doc for doc in range(small.shape[1]) if row[doc] == key])
            for table, row in enumerate(small.tolist())
            for key in sorted(set(row))
        ]
        expected = [split(small.tolist(), docs, table, 0) for table, docs in buckets]
        crowded = [len(docs) for _, docs in buckets if len(docs) > step.BUCKET_LIMIT]

    assert actual == set().union(*expected)
    assert len(pairs) == sum(map(len, expected))
    assert result.crowded == len(crowded)
    assert result.uncompared == sum(len(docs) * (len(docs) - 1) // 2 for _, docs in buckets) - len(pairs)
    assert [size for _, size in result.templates][:1] == sorted(crowded)[-1:]


def test_a_crowded_bucket_is_linear() -> None:
    """Documents whose keys are equal in all bands meet a bounded number of others."""
    size = 10 * step.BUCKET_LIMIT

    _, pairs, result = met(mix_all(np.full((1, size), 7)))

    assert len(pairs) <= size * (step.LEVELS + 1 + step.WINDOW)
    assert len(pairs) + result.uncompared == size * (size - 1) // 2


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
