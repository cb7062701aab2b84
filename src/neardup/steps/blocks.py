"""Step 4, for signatures of bits: block tables, by which documents within a Hamming distance meet for certain.

In: signatures as words of bits. Out: the keys of each table, for candidate pairs by equal keys.

Bits are cut into distance + agreeing blocks. Two signatures that differ in at most `distance` bits differ in at most as
many blocks, and agree in `agreeing` others: there is a table for each choice of so many blocks, its key their bits.
More agreeing blocks make longer keys and smaller buckets, but more tables; `choose_blocks` weighs the two.

Source: Manku, Jain, Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007, section 3.
"""

from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import U64

_MOST_TABLES: Final = 1024
_SORTED_PAIRS: Final = 8  # pairs that can be compared in the time a document is sorted into a table


def choose_blocks(n_docs: int, *, bits: int, distance: int) -> int:
    """Return in how many blocks documents of a table agree, for the least expected work."""
    feasible = [m for m in range(1, bits - distance + 1) if m == 1 or comb(distance + m, m) <= _MOST_TABLES]

    def work(agreeing: int) -> float:
        key_bits = bits * agreeing / (distance + agreeing)
        pairs = n_docs / 2 ** (key_bits + 1)
        return comb(distance + agreeing, agreeing) * (_SORTED_PAIRS + pairs)

    return min(feasible, key=work)


def table_masks(*, bits: int, distance: int, agreeing: int) -> U64:
    """Return uint64[n_tables, bits / 64]: for each table the bits that its documents agree in."""
    edges = np.linspace(0, bits, distance + agreeing + 1).round().astype(np.int64)
    tables = list(combinations(range(distance + agreeing), agreeing))
    masks = np.zeros((len(tables), bits), np.bool_)
    for mask, blocks in zip(masks, tables, strict=True):
        for block in blocks:
            mask[edges[block] : edges[block + 1]] = True
    return np.packbits(masks, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def table_keys(words: U64, masks: U64) -> U64:
    """Return uint64[n_docs]: the keys of one table. words: uint64[bits / 64, n_docs]; masks: uint64[bits / 64]."""
    keys = np.empty(words.shape[1], np.uint64)
    _fold_bits(words, masks, keys)
    return keys


@kernel
def _fold_bits(words: U64, masks: U64, out: U64) -> None:
    """out[doc] = hash of the bits of its words that the masks choose."""
    for doc in range(out.size):
        key = np.uint64(0)
        for word in range(masks.size):
            key = mix(key ^ (words[word, doc] & masks[word]))
        out[doc] = key
