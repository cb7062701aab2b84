"""Step 4: candidate pairs, documents that share a band key.

In: signatures (for the keys), then the keys of all documents. Out: pairs a < b, each once. Knows nothing of texts or
thresholds; similarity is the next step's business.

Documents meet by sorting each band's keys. A bucket of more than BUCKET_LIMIT documents would cost the square of its
size, so in it each document meets only the first of the bucket and the WINDOW documents before it; what is left
uncompared is counted. Exact copies never get here.

Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3rd ed., 3.4.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from neardup.kernel import Threads, count_bits, kernel, mix, sort_bits
from neardup.schema import I64, U32, U64, Candidates

BUCKET_LIMIT: Final = 2048
WINDOW: Final = 32
_KEY_BITS: Final = 44  # of a band key that sorting looks at
_MERGE_AT: Final = 1 << 25  # pairs held before repeats are dropped


class Met(NamedTuple):
    """What came of bringing equal band keys together.

    candidates: the pairs that met.
    buckets: buckets of two or more documents, over all bands.
    crowded: buckets of more than BUCKET_LIMIT documents.
    uncompared: pairs that such buckets left out, counted once a band.
    """

    candidates: Candidates
    buckets: int
    crowded: int
    uncompared: int


def band_keys(signatures: U32, *, bands: int, rows: int) -> U64:
    """Return uint64[bands, n_docs]: the key of each band of each signature."""
    out = np.empty((bands, signatures.shape[0]), np.uint64)
    _fold_band_keys(signatures, rows, out)
    return out


class Near(NamedTuple):
    """A test that pairs of a bucket pass before they are candidates: at most `distance` bits differ.

    words: uint64[n_words, n_docs]; the bits of the documents.
    """

    words: U64
    distance: int


class Tables(NamedTuple):
    """By which keys documents meet.

    n_tables: how many tables there are, one a band.
    keys_of: gives uint64[n_docs], the keys of the documents for a table. Asked from several threads, a table at a
        time: the keys of all tables at once would be memory never touched before.
    docs: int64[n_docs]; the documents, ascending.
    near: a test of pairs that meet, by place in docs; None takes all.
    """

    n_tables: int
    keys_of: Callable[[int], U64]
    docs: I64
    near: Near | None


def candidate_pairs(tables: Tables, threads: Threads) -> Met:
    """Return the pairs of documents that share the key of at least one table, and are near."""
    docs = tables.docs
    held = [np.empty(0, np.uint64)]
    counts = np.zeros(3, np.int64)
    near = tables.near or Near(np.empty((0, docs.size), np.uint64), 0)
    work = threads.start(lambda table: _pairs_of_table(tables.keys_of(table), near), range(tables.n_tables))
    for pairs, table_counts in work:
        held.append(pairs)
        counts += table_counts
        if sum(map(len, held)) > _MERGE_AT:
            held = [_distinct(held, docs.size)]
    merged = _distinct(held, docs.size)
    a = docs[(merged >> np.uint64(32)).astype(np.int64)]
    b = docs[(merged & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    return Met(Candidates(a, b), *map(int, counts))


def first_of_equal(content: U64, docs: I64) -> I64:
    """Return int64[n]: for each of the documents the first one, in order, whose content (uint64[2, n]) is the same."""
    firsts = docs.copy()
    keyed, shift = _sorted_with_places(content[0])
    _find_firsts(keyed, shift, content, docs, firsts)
    return firsts


def _distinct(held: list[U64], n_docs: int) -> U64:
    """Return the pairs (a << 32 | b) ascending, each once."""
    merged = np.concatenate(held)
    bits = int(n_docs).bit_length()
    ordered = sort_bits(sort_bits(merged, 0, bits), 32, 32 + bits)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] ^ np.uint64(1)))] if ordered.size else ordered


def _pairs_of_table(keys: U64, near: Near) -> tuple[U64, I64]:
    """Return the pairs (a << 32 | b) of one table, and its counts of buckets, crowded buckets, pairs left out."""
    assert keys.size < 1 << 32
    keyed, shift = _sorted_with_places(keys)
    counts = np.zeros(4, np.int64)
    _write_pairs(keyed, shift, BUCKET_LIMIT, WINDOW, *near, np.empty(0, np.uint64), counts)
    pairs = np.empty(counts[0], np.uint64)
    _write_pairs(keyed, shift, BUCKET_LIMIT, WINDOW, *near, pairs, counts)
    return pairs, counts[1:]


def _sorted_with_places(keys: U64) -> tuple[U64, int]:
    """Return the keys in order with their places in the low bits, in place of as many low bits of the key.

    Two keys that differ in the lost bits only share a bucket: one pair in 2^44 or so more to be verified.
    """
    shift = max(64 - _KEY_BITS, int(keys.size).bit_length())
    keyed = keys >> np.uint64(shift) << np.uint64(shift) | np.arange(keys.size, dtype=np.uint64)
    return sort_bits(keyed, shift, 64), shift


@kernel
def _fold_band_keys(signatures: U32, rows: int, out: U64) -> None:
    """out[band, doc] = hash of the rows of that band, salted with the band's number."""
    for doc in range(signatures.shape[0]):
        for band in range(out.shape[0]):
            key = mix(np.uint64(band) + np.uint64(1))
            for row in range(band * rows, band * rows + rows):
                key = (key ^ np.uint64(signatures[doc, row])) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(32)
            out[band, doc] = mix(key)


@kernel
def _write_pairs(
    keyed: U64, shift: int, limit: int, window: int, words: U64, distance: int, pairs: U64, counts: I64
) -> None:
    """pairs = all pairs of each bucket, or of its windows, that are near; counts = pairs, buckets, crowded, left out.

    With no room in `pairs` it only counts.
    """
    bits = np.uint64(shift)
    low = (np.uint64(1) << bits) - np.uint64(1)
    writes = pairs.size > 0
    at = np.int64(0)
    counts[:] = 0
    start = 0
    while start < keyed.size:
        end = start + 1
        while end < keyed.size and keyed[end] >> bits == keyed[start] >> bits:
            end += 1
        size = end - start
        if size > 1:
            is_crowded = size > limit
            counts[1] += 1
            counts[2] += is_crowded
            compared = np.int64(0)
            for j in range(start + 1, end):
                b = keyed[j] & low
                first = max(start, j - window) if is_crowded else start
                compared += j - first + (first > start)
                for i in range(first - (first > start), j):
                    a = keyed[start if i < first else i] & low
                    if _is_near(words, a, b, distance):
                        if writes:
                            pairs[at] = a << np.uint64(32) | b
                        at += 1
            counts[3] += size * (size - 1) // 2 - compared
        start = end
    counts[0] = at


@kernel
def _is_near(words: U64, a: np.uint64, b: np.uint64, distance: int) -> bool:
    """Say whether at most `distance` bits of two documents differ; true where there are no bits."""
    differing = np.uint64(0)
    for word in range(words.shape[0]):
        differing += count_bits(words[word, a] ^ words[word, b])
    return bool(differing <= np.uint64(distance))


@kernel
def _find_firsts(keyed: U64, shift: int, content: U64, docs: I64, firsts: I64) -> None:
    """firsts[place] = the first document of its bucket with the same content; a bucket rarely holds two contents."""
    bits = np.uint64(shift)
    low = (np.uint64(1) << bits) - np.uint64(1)
    start = 0
    while start < keyed.size:
        lead = np.int64(keyed[start] & low)
        end = start + 1
        others = -1  # where the first with another content is
        while end < keyed.size and keyed[end] >> bits == keyed[start] >> bits:
            place = np.int64(keyed[end] & low)
            if content[0, place] == content[0, lead] and content[1, place] == content[1, lead]:
                firsts[place] = docs[lead]
            elif others < 0:
                others = end
            else:
                for earlier in range(others, end):
                    twin = np.int64(keyed[earlier] & low)
                    if content[0, place] == content[0, twin] and content[1, place] == content[1, twin]:
                        firsts[place] = firsts[twin]
                        break
            end += 1
        start = end
