"""Step 4: candidate pairs, documents that share a band key.

In: signatures (for the keys), then the keys of all documents. Out: pairs a < b, once for each key they share. Knows
nothing of texts or thresholds; similarity is the next step's business.

Documents meet by sorting each band's keys. A bucket of more than BUCKET_LIMIT documents would cost the square of its
size: in it each document meets only the first of the bucket, and the others are parted by the key of the next band too,
and so on while more than SPLIT_LIMIT stay together, LEVELS bands deep at most. What is together even then meets the
WINDOW documents before it. What is left uncompared is counted. Exact copies never get here.

Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3rd ed., 3.4.
"""

from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from neardup.kernel import Threads, count_bits, kernel, mix, sort_bits
from neardup.schema import I64, U32, U64

BUCKET_LIMIT: Final = 2048
SPLIT_LIMIT: Final = 64
LEVELS: Final = 8
WINDOW: Final = 32
_KEY_BITS: Final = 44  # of a band key that sorting looks at
_PAIRS: Final = 1 << 21  # pairs handed on at a time; all of a bucket at its limit fit in
_TEMPLATES: Final = 5  # crowded buckets that are told of
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


class Met(NamedTuple):
    """What came of bringing equal band keys together.

    buckets: buckets of two or more documents, over all bands.
    crowded: buckets of more than BUCKET_LIMIT documents.
    uncompared: pairs that such buckets left out, counted once a band.
    templates: of some such buckets, the largest first, the place of a document and how many documents there are.
    """

    buckets: int
    crowded: int
    uncompared: int
    templates: list[tuple[int, int]]


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
    """By which keys documents meet. A document is known by its place, uint32, in an order that `keys_of` keeps.

    n_tables: how many tables there are, one a band. n_parts: in how many parts a table comes; equal keys are in one.
    keys_of: gives for (table, part) uint64[n] keys and int64[n] places. Asked from several threads, a part at a time:
        the keys of all tables at once would be memory never touched before.
    n_docs: how many documents there are.
    near: a test of pairs that meet, by place; None takes all.
    n_reference: how many documents, the first ones, are not compared with one another.
    """

    n_tables: int
    n_parts: int
    keys_of: Callable[[int, int], tuple[U64, I64]]
    n_docs: int
    near: Near | None
    n_reference: int = 0


def candidate_pairs(tables: Tables, threads: Threads, found: Callable[[U64], None]) -> Met:
    """Hand on the pairs of documents that share the key of some table, and are near, as a << 32 | b of their places.

    found: called from several threads with uint64[n]; a pair comes once for each key that its documents share.
    """
    assert tables.n_docs < 1 << 32
    near = tables.near or Near(np.empty((0, tables.n_docs), np.uint64), 0)

    def meet(piece: tuple[int, int]) -> Met:
        return _meet(*piece, tables, near, found)

    mets = list(threads.map(meet, product(range(tables.n_tables), range(tables.n_parts))))
    sizes: dict[int, int] = {}
    for place, size in (one for met in mets for one in met.templates):
        sizes[place] = max(size, sizes.get(place, 0))
    largest = sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:_TEMPLATES]
    return Met(
        sum(met.buckets for met in mets), sum(met.crowded for met in mets), sum(met.uncompared for met in mets), largest
    )


def first_of_equal(content: U64, docs: I64) -> I64:
    """Return int64[n]: for each of the documents the first one, in order, whose content (uint64[2, n]) is the same."""
    firsts = docs.copy()
    keyed, shift = _sorted_with_places(content[0], np.arange(docs.size), docs.size)
    _find_firsts(keyed, shift, content, docs, firsts)
    return firsts


def _meet(table: int, part: int, tables: Tables, near: Near, found: Callable[[U64], None]) -> Met:
    """Hand on the pairs of a part of a table; return what came of it."""
    keyed, shift = _sorted_with_places(*tables.keys_of(table, part), tables.n_docs)
    buckets, crowded, uncompared, compared = _hand_on(keyed, shift, BUCKET_LIMIT, 0, tables, near, found)
    rest = _list_crowded(keyed, shift, BUCKET_LIMIT)
    templates = _largest(rest, shift)
    uncompared -= compared
    for level in range(1, LEVELS + 1):
        if not rest.size:
            break
        places = (rest & _low(shift)).astype(np.int64)
        further = _keys_at((table + level) % tables.n_tables, places, tables)
        keyed, shift = _sorted_with_places(further ^ (rest >> np.uint64(shift)) * _ODD, places, tables.n_docs)
        window = WINDOW if level == LEVELS else 0
        uncompared -= _hand_on(keyed, shift, SPLIT_LIMIT, window, tables, near, found)[3]
        rest = _list_crowded(keyed, shift, SPLIT_LIMIT)
    return Met(buckets, crowded, uncompared, templates)


def _keys_at(table: int, places: I64, tables: Tables) -> U64:
    """Return the keys of documents in a table, whatever part of it they are in."""
    order = np.argsort(places)
    ascending = places[order]
    keys = np.empty(places.size, np.uint64)
    for part in range(tables.n_parts):
        its_keys, its_places = tables.keys_of(table, part)
        at = np.minimum(np.searchsorted(ascending, its_places), places.size - 1)
        is_asked = ascending[at] == its_places
        keys[order[at[is_asked]]] = its_keys[is_asked]
    return keys


def _largest(rest: U64, shift: int) -> list[tuple[int, int]]:
    """Return of the largest crowded buckets a document's place and how many there are."""
    _, firsts, counts = np.unique(rest >> np.uint64(shift), return_index=True, return_counts=True)
    places = (rest[firsts] & _low(shift)).astype(np.int64)
    largest = np.lexsort((places, -counts))[:_TEMPLATES]
    return list(zip(places[largest].tolist(), (counts[largest] + 1).tolist(), strict=True))


def _low(shift: int) -> np.uint64:
    return np.uint64((1 << shift) - 1)


def _hand_on(  # the buckets, how they are gone through, and where their pairs go
    keyed: U64, shift: int, limit: int, window: int, tables: Tables, near: Near, found: Callable[[U64], None]
) -> list[int]:
    """Hand on the pairs of buckets; return how many buckets, crowded buckets, pairs, and compared pairs there are."""
    state = np.array([0, 0, 0, 0, 0, 0, tables.n_reference])
    pairs = np.empty(min(max(4 * keyed.size, 2 * BUCKET_LIMIT), _PAIRS), np.uint64)
    while state[0] < keyed.size:
        n_pairs = _write_pairs(keyed, shift, limit, window, *near, state, pairs)
        if n_pairs:
            found(pairs[:n_pairs].copy())
    counts: list[int] = state[2:6].tolist()
    return counts


def _sorted_with_places(keys: U64, places: I64, n_docs: int) -> tuple[U64, int]:
    """Return the keys in order with the places of documents in the low bits, in place of as many low bits of the key.

    Two keys that differ in the lost bits only share a bucket: one pair in 2^44 or so more to be verified.
    """
    shift = max(64 - _KEY_BITS, int(n_docs).bit_length())
    keyed = keys >> np.uint64(shift) << np.uint64(shift) | places.astype(np.uint64)
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
    keyed: U64, shift: int, limit: int, window: int, words: U64, distance: int, state: I64, pairs: U64
) -> int:
    """pairs = the next pairs of each bucket, or with its first and of its windows, that are near; return how many.

    state: where the next bucket starts, the next place in it (0 before the first), and counts of buckets, crowded
    ones, pairs, and pairs compared; all zeros at first. Then the place from which documents are paired with earlier
    ones.
    """
    bits = np.uint64(shift)
    low = (np.uint64(1) << bits) - np.uint64(1)
    at = np.int64(0)
    start = state[0]
    j = state[1]
    while start < keyed.size:
        end = start + 1
        while end < keyed.size and keyed[end] >> bits == keyed[start] >> bits:
            end += 1
        size = end - start
        is_crowded = size > limit
        if j == 0 and size > 1:
            j = start + 1
            while j < end and np.int64(keyed[j] & low) < state[6]:
                j += 1
            n_alone = j - start  # the first one, and those that are not compared with one another
            if j < end:
                state[2] += 1
                state[3] += is_crowded
                state[4] += size * (size - 1) // 2 - n_alone * (n_alone - 1) // 2
        while start < j < end:
            first = max(start, j - window) if is_crowded else start
            first -= first > start
            if at + j - first > pairs.size:
                state[0] = start
                state[1] = j
                return int(at)
            b = keyed[j] & low
            for i in range(first, j):
                a = keyed[start if i == first else i] & low
                if _is_near(words, a, b, distance):
                    pairs[at] = a << np.uint64(32) | b
                    at += 1
            state[5] += j - first
            j += 1
        start = end
        j = np.int64(0)
    state[0] = start
    state[1] = 0
    return int(at)


def _list_crowded(keyed: U64, shift: int, limit: int) -> U64:
    """Return those of the sorted values that are in a bucket of more than `limit`, but the first of each."""
    out = np.empty_like(keyed)
    return out[: _write_crowded(keyed, shift, limit, out)]


@kernel
def _write_crowded(keyed: U64, shift: int, limit: int, out: U64) -> int:
    """out = the values in crowded buckets but the first of each; return how many."""
    bits = np.uint64(shift)
    at = np.int64(0)
    start = 0
    while start < keyed.size:
        end = start + 1
        while end < keyed.size and keyed[end] >> bits == keyed[start] >> bits:
            end += 1
        if end - start > limit:
            for place in range(start + 1, end):
                out[at] = keyed[place]
                at += 1
        start = end
    return int(at)


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
