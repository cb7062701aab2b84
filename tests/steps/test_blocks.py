"""Block tables, against all pairs by brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernel import Threads
from neardup.steps.blocks import choose_blocks, table_keys, table_masks
from neardup.steps.candidates import Near, Tables, candidate_pairs


def met(words: np.ndarray, masks: np.ndarray, distance: int) -> set[tuple[int, int]]:
    """Return the pairs that tables find. words: uint64[n_words, n_docs]."""
    docs = np.arange(words.shape[1])
    found: list[np.ndarray] = []
    tables = Tables(
        len(masks), 1, lambda table, _: (table_keys(words, masks[table]), docs), docs.size, Near(words, distance)
    )
    with Threads(2) as threads:
        candidate_pairs(tables, threads, found.append)
    return {(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for some in found for pair in some}


def within(words: np.ndarray, distance: int) -> set[tuple[int, int]]:
    """Return all pairs of which at most `distance` bits differ."""
    bits = np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1)
    return {(a, b) for a, b in combinations(range(len(bits)), 2) if (bits[a] != bits[b]).sum() <= distance}


@given(st.sampled_from([64, 128]), st.integers(0, 7), st.integers(1, 3), st.integers(0, 2**32))
def test_every_pair_within_the_distance_meets(bits: int, distance: int, agreeing: int, seed: int) -> None:
    """Whatever bits differ, and however many blocks agree: the pairs are those of brute force."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2**64, (bits // 64, 4), np.uint64)
    words = np.repeat(base, 4, axis=1)
    for doc in range(words.shape[1]):
        for bit in rng.integers(0, bits, rng.integers(0, distance + 2)).tolist():
            words[bit // 64, doc] ^= np.uint64(1 << (bit % 64))

    masks = table_masks(bits=bits, distance=distance, agreeing=agreeing)

    assert within(words, distance) == met(words, masks, distance)


@pytest.mark.parametrize(("bits", "distance"), [(64, 3), (64, 7), (128, 6), (128, 14)])
def test_tables_are_few_for_few_documents_and_fine_for_many(bits: int, distance: int) -> None:
    """More documents take longer keys, and the expected size of a bucket stays small."""
    chosen = [choose_blocks(n_docs, bits=bits, distance=distance) for n_docs in (10, 10_000, 1_000_000)]

    assert sorted(chosen) == chosen
    assert len(table_masks(bits=bits, distance=distance, agreeing=chosen[0])) <= 2 * distance + 2
    assert 1_000_000 / 2 ** (bits * chosen[2] / (distance + chosen[2])) < 50


def test_each_table_looks_at_the_bits_of_its_blocks() -> None:
    """Tables of one block share no bit and together have all."""
    masks = table_masks(bits=128, distance=6, agreeing=1)

    bits = np.unpackbits(masks.view(np.uint8), axis=1)
    assert (7, 128) == bits.shape
    assert (bits.sum(axis=0) == 1).all()
