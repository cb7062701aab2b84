"""Sets of shingles compared: the default.

The similarity is Jaccard, |A and B| / |A or B|, as a correctly rounded double, so that a pair exactly at the threshold
counts. Candidate pairs come in stars: a document, and others that met it or one another's neighbors. Where a star has
many more pairs than documents, as among the versions of one licence, its shingles are numbered once and a pair costs
a popcount of two bit rows; elsewhere one document is laid out and the other looked up in it, with early exit.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from neardup.kernel import Threads, count_bits, kernel, stable_order
from neardup.schema import F64, I64, U64, Candidates, Pairs, Shingles
from neardup.steps.verify.slices import SLICE, select

_FIRST_LOOK: Final = 64  # shingles compared before the first look at whether the pair can pass; then twice as many
_LOG_DOUBT: Final = 13.8  # ln(10^6): the chance that one look gives up a pair that would pass is below 10^-6
_DENSE: Final = 8  # pairs a document from which numbering the shingles of a star pays
_BIT_BYTES: Final = 64 << 20  # bit rows of a star beyond this are not made


class _Star(NamedTuple):
    """The documents of one star, their shingles numbered.

    rows: uint64[n_docs, n_words]; bit j of a row is set where the document has shingle number j.
    sizes: int64[n_docs]; shingles of each document.
    a, b: int64[n_pairs]; the rows of the pairs.
    """

    rows: U64
    sizes: I64
    a: I64
    b: I64


def verify(candidates: Candidates, shingles: Shingles, *, threshold: float, threads: Threads) -> Pairs:
    """Return the pairs whose Jaccard similarity is at least the threshold. Threshold 0.0 returns all of them."""
    star = np.full(shingles.offsets.size - 1, -1, np.int64)
    _join_stars(candidates.a, candidates.b, star)
    order = stable_order(star[candidates.a], star.size)
    a, b = candidates.a[order], candidates.b[order]

    def compare(piece: slice) -> F64:
        return _compare_star(a[piece], b[piece], shingles, threshold)

    similarity = np.empty(a.size, np.float64)
    similarity[order] = np.concatenate([np.empty(0), *threads.map(compare, _pieces(star[a]))])
    return select(candidates, similarity, threshold)


def _pieces(stars: I64) -> list[slice]:
    """Return runs of pairs, given the star of each: a large star by itself, small ones together."""
    ends = [*np.flatnonzero(np.diff(stars)) + 1, stars.size]
    pieces = []
    start = last = 0
    for end in ends:
        if end - last >= SLICE and last > start:
            pieces.append(slice(start, last))
            start = last
        if end - start >= SLICE:
            pieces.append(slice(start, end))
            start = end
        last = end
    return pieces + ([slice(start, stars.size)] if start < stars.size else [])


def _compare_star(a: I64, b: I64, shingles: Shingles, threshold: float) -> F64:
    """Return the similarities of a run of pairs, by bit rows where their documents are in many pairs each."""
    out = np.empty(a.size, np.float64)
    star = _number(a, b, shingles) if a.size >= SLICE else None
    if star is not None:
        _compare_rows(star.a, star.b, star.sizes, star.rows, threshold, out)
    else:
        longest = int(np.diff(shingles.offsets)[a].max(initial=0))
        _compare(a, b, *shingles, threshold, np.empty(9 * longest + 3, np.uint64), out)
    return out


def _number(a: I64, b: I64, shingles: Shingles) -> _Star | None:
    """Return the documents of these pairs as bit rows, or None where that would not pay."""
    low = int(min(a.min(), b.min()))
    row_of = np.zeros(int(max(a.max(), b.max())) - low + 1, np.int64)
    row_of[a - low] = row_of[b - low] = 1
    docs = np.flatnonzero(row_of) + low
    if a.size < _DENSE * docs.size:
        return None
    sizes = np.diff(shingles.offsets)[docs]
    numbers = np.empty(sizes.sum(), np.int64)
    capacity = 1 << int(8 * sizes.max(initial=1)).bit_length()
    while (n_numbers := _number_shingles(docs, *shingles, *_empty_table(capacity), numbers)) < 0:
        capacity *= 4
    n_words = n_numbers // 64 + 1
    if docs.size * n_words * 8 > _BIT_BYTES:
        return None
    bits = np.zeros((docs.size, n_words), np.uint64)
    _set_bits(numbers, sizes, bits)
    row_of[docs - low] = np.arange(docs.size)
    return _Star(bits, sizes, row_of[a - low], row_of[b - low])


def _empty_table(capacity: int) -> tuple[U64, U64]:
    """Return the keys and values of a hash table without entries."""
    return np.zeros(capacity, np.uint64), np.zeros(capacity, np.uint64)


@kernel
def _join_stars(a: I64, b: I64, star: I64) -> None:
    """star[doc] = the document whose star it is in: the first that met it and is in its own. Pairs ascend by (a, b)."""
    for pair in range(a.size):
        if star[a[pair]] < 0:
            star[a[pair]] = a[pair]
        if star[a[pair]] == a[pair] and star[b[pair]] < 0:
            star[b[pair]] = a[pair]


@kernel
def _number_shingles(docs: I64, hashes: U64, offsets: I64, keys: U64, values: U64, numbers: I64) -> int:
    """numbers = the number of each shingle of docs, from 0 in order of first sight; return how many, -1 for no room.

    keys, values: a hash table of zeros, a power of two in size.
    """
    mask = np.uint64(keys.size - 1)
    known = 0
    at = 0
    for doc in docs:
        for place in range(offsets[doc], offsets[doc + 1]):
            value = hashes[place]
            slot = value & mask
            while keys[slot] != np.uint64(0) and keys[slot] != value:
                slot = (slot + np.uint64(1)) & mask
            if keys[slot] == np.uint64(0):
                if 2 * known >= keys.size:
                    return -1
                keys[slot] = value
                values[slot] = np.uint64(known)
                known += 1
            numbers[at] = np.int64(values[slot])
            at += 1
    return known


@kernel
def _set_bits(numbers: I64, sizes: I64, rows: U64) -> None:
    """rows[doc] = a set bit for each of its numbers."""
    at = 0
    for doc in range(sizes.size):
        for place in range(at, at + sizes[doc]):
            rows[doc, numbers[place] >> 6] |= np.uint64(1) << np.uint64(numbers[place] & 63)
        at += sizes[doc]


@kernel
def _compare_rows(a: I64, b: I64, sizes: I64, rows: U64, threshold: float, out: F64) -> None:
    """out[i] = Jaccard of rows a[i] and b[i], or -1.0 where their sizes alone rule the threshold out."""
    for pair in range(a.size):
        size_a = sizes[a[pair]]
        size_b = sizes[b[pair]]
        if min(size_a, size_b) < threshold * max(size_a, size_b) - 1.0:
            out[pair] = -1.0
            continue
        shared = np.uint64(0)
        for word in range(rows.shape[1]):
            shared += count_bits(rows[a[pair], word] & rows[b[pair], word])
        out[pair] = shared / (size_a + size_b - shared)


@kernel
def _compare(a: I64, b: I64, hashes: U64, offsets: I64, threshold: float, slots: U64, out: F64) -> None:
    """out[i] = Jaccard of documents a[i] and b[i], or -1.0 as soon as it cannot reach the threshold.

    The hashes of a[i] are laid out by their high bits once for all its candidates, which follow one another; those of
    b[i] are then looked up one by one, at half the cost of a merge.
    """
    laid_out = np.int64(-1)
    shift = np.uint64(0)
    for pair in range(a.size):
        start = offsets[a[pair]]
        size_a = offsets[a[pair] + 1] - start
        if laid_out != a[pair]:
            laid_out = a[pair]
            bits = np.uint64(1)
            while np.int64(1) << np.int64(bits) < 4 * size_a:
                bits += np.uint64(1)
            shift = np.uint64(64) - bits
            slots[: (np.int64(1) << np.int64(bits)) + size_a + 1] = np.uint64(0)
            slot = np.int64(-1)
            for place in range(start, start + size_a):
                slot = max(slot + 1, np.int64(hashes[place] >> shift))
                slots[slot] = hashes[place]
        size_b = offsets[b[pair] + 1] - offsets[b[pair]]
        size = size_a + size_b
        # The least intersection that passes: I / (size - I) >= t. One less, so that rounding cannot lose a pair.
        least = max(math.ceil(threshold * size / (1.0 + threshold)) - 1, 0)
        can_pass = least <= min(size_a, size_b)
        shared = np.int64(0)
        seen = np.int64(0)
        look = np.int64(_FIRST_LOOK)
        while can_pass and seen < size_b:
            until = min(look, size_b)
            for place in range(offsets[b[pair]] + seen, offsets[b[pair]] + until):
                value = hashes[place]
                slot = np.int64(value >> shift)
                while slots[slot] < value and slots[slot] != np.uint64(0):
                    slot += 1
                shared += slots[slot] == value
            seen = until
            look *= 2
            mean = seen * (least / size_b)
            variance = mean * (1.0 - least / size_b)
            slack = _LOG_DOUBT / 3.0 + math.sqrt(_LOG_DOUBT**2 / 9.0 + 2.0 * variance * _LOG_DOUBT)
            can_pass = shared + (size_b - seen) >= least and shared >= mean - slack
        if not can_pass or size == 0:
            out[pair] = -1.0 if threshold > 0.0 else 0.0
        else:
            out[pair] = shared / (size - shared)
