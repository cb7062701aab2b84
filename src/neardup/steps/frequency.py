"""Step 2: document frequencies, in how many texts a shingle is found, and what follows from them.

In: shingle hashes of texts. Out: a table of frequencies (`count`, `merge`), how rare shingles are (`inverse`), those of
more than a share of the texts (`frequent`), shingles without those (`drop`).

A shingle that is in no table counts as found in one text, so a table holds only those found in two or more.

Source of the weights: Manning, Raghavan, Schuetze, Introduction to Information Retrieval, 2008, 6.2.1; here
idf = 1 + ln(n_docs / frequency), so that a shingle found everywhere still weighs 1.
"""

import numpy as np

from neardup.kernel import kernel, sort_bits
from neardup.schema import I64, U64, WEIGHT_ONE, Bools, Frequencies, Shingles


class Seen:
    """A set of 64-bit hashes that grows."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 16, np.uint64)
        self._size = 0

    def add(self, hashes: U64) -> Bools:
        """Put hashes in; return bool[n], which of them were not there before."""
        if 2 * (self._size + hashes.size) > self._slots.size:
            held = self._slots[self._slots != 0]
            self._slots = np.zeros(1 << int(4 * (self._size + hashes.size)).bit_length(), np.uint64)
            _put(held, self._slots, np.empty(held.size, np.bool_))
        is_new = np.empty(hashes.size, np.bool_)
        self._size += _put(hashes, self._slots, is_new)
        return is_new


def count(hashes: U64, n_docs: int) -> Frequencies:
    """Return the frequencies of shingles, found ones too, given those of n_docs texts, each once a text.

    Overwrites the hashes.
    """
    ordered = sort_bits(hashes, 0, 64)
    is_first = np.empty(ordered.size, np.bool_)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return Frequencies(ordered[starts], np.diff(starts, append=ordered.size), n_docs)


def merge(one: Frequencies, other: Frequencies) -> Frequencies:
    """Return the frequencies over the texts of both."""
    hashes = np.empty(one.hashes.size + other.hashes.size, np.uint64)
    counts = np.empty(hashes.size, np.int64)
    size = _merge(one.hashes, one.counts, other.hashes, other.counts, hashes, counts)
    return Frequencies(hashes[:size].copy(), counts[:size].copy(), one.n_docs + other.n_docs)


def merge_runs(runs: list[Frequencies]) -> list[Frequencies]:
    """Return runs of which each is more than twice as large as the next, so that each shingle is merged few times."""
    while len(runs) > 1 and runs[-2].hashes.size <= 2 * runs[-1].hashes.size:
        runs = [*runs[:-2], merge(runs[-2], runs[-1])]
    return runs


def repeated(frequencies: Frequencies) -> Frequencies:
    """Return the table without shingles found in one text: they count as such without being in it."""
    chosen = frequencies.counts > 1
    return Frequencies(frequencies.hashes[chosen], frequencies.counts[chosen], frequencies.n_docs)


def frequent(frequencies: Frequencies, max_df: float) -> U64:
    """Return the hashes, ascending, found in more than this share of the texts, and in two at least."""
    return frequencies.hashes[frequencies.counts > max(max_df * frequencies.n_docs, 1.0)]


def drop(shingles: Shingles, hashes: U64) -> Shingles:
    """Return the shingles without these (ascending). Overwrites what it is given."""
    if not hashes.size:
        return shingles
    offsets = np.empty_like(shingles.offsets)
    _drop(shingles.hashes, shingles.offsets, hashes, _directory(hashes), offsets)
    return Shingles(shingles.hashes[: offsets[-1]], offsets)


def inverse(hashes: U64, frequencies: Frequencies, directory: I64) -> I64:
    """Return int64[n]: 1 + ln(n_docs / frequency) of each hash, in units of 1 / WEIGHT_ONE, at least WEIGHT_ONE.

    directory: what `directory_of` made of the frequencies. A whole number of units, so that a sum does not depend on
    its order.
    """
    counts = np.empty(hashes.size, np.int64)
    _look_up(hashes, frequencies.hashes, frequencies.counts, directory, counts)
    ratio = np.maximum(frequencies.n_docs, counts) / counts
    return np.rint((1.0 + np.log(ratio)) * WEIGHT_ONE).astype(np.int64)


def directory_of(frequencies: Frequencies) -> I64:
    """Return where the hashes that begin with each bit pattern start: a search in one or two steps."""
    return _directory(frequencies.hashes)


def _directory(hashes: U64) -> I64:
    """Return int64[2^bits + 1]: the place of the first hash whose high bits are at least i."""
    bits = max(1, int(hashes.size).bit_length())
    starts = np.zeros((1 << bits) + 1, np.int64)
    np.cumsum(np.bincount((hashes >> np.uint64(64 - bits)).astype(np.int64), minlength=1 << bits), out=starts[1:])
    return starts


@kernel
def _put(hashes: U64, slots: U64, is_new: Bools) -> int:
    """Put hashes into an open hash table, a power of two in size; return how many were not there."""
    mask = np.uint64(slots.size - 1)
    added = 0
    for i in range(hashes.size):
        value = max(hashes[i], np.uint64(1))
        slot = value & mask
        while slots[slot] != np.uint64(0) and slots[slot] != value:
            slot = (slot + np.uint64(1)) & mask
        is_new[i] = slots[slot] == np.uint64(0)
        slots[slot] = value
        added += is_new[i]
    return added


@kernel
def _merge(hashes_a: U64, counts_a: I64, hashes_b: U64, counts_b: I64, hashes: U64, counts: I64) -> int:
    """hashes, counts = those of both, ascending, counts of equal hashes added; return how many."""
    at = i = j = 0
    while i < hashes_a.size or j < hashes_b.size:
        takes_a = j == hashes_b.size or (i < hashes_a.size and hashes_a[i] <= hashes_b[j])
        takes_b = i == hashes_a.size or (j < hashes_b.size and hashes_b[j] <= hashes_a[i])
        hashes[at] = hashes_a[i] if takes_a else hashes_b[j]
        counts[at] = 0
        if takes_a:
            counts[at] += counts_a[i]
            i += 1
        if takes_b:
            counts[at] += counts_b[j]
            j += 1
        at += 1
    return at


@kernel
def _find(value: np.uint64, hashes: U64, directory: I64, shift: np.uint64) -> int:
    """Return the place of a hash among hashes, or -1."""
    prefix = np.int64(value >> shift)
    for place in range(directory[prefix], directory[prefix + 1]):
        if hashes[place] == value:
            return place
    return -1


@kernel
def _shift(directory: I64) -> np.uint64:
    """Return by how much a hash is shifted to give its place in a directory."""
    shift = np.uint64(64)
    size = directory.size - 1
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    return shift


@kernel
def _look_up(values: U64, hashes: U64, counts: I64, directory: I64, out: I64) -> None:
    """out[i] = the count of values[i], or 1."""
    shift = _shift(directory)
    for i in range(values.size):
        place = _find(values[i], hashes, directory, shift)
        out[i] = counts[place] if place >= 0 else 1


@kernel
def _drop(values: U64, offsets: I64, hashes: U64, directory: I64, out: I64) -> None:
    """Move the values that are not among hashes to the front; out[doc + 1] = where those of a text end now."""
    shift = _shift(directory)
    at = np.int64(0)
    out[0] = 0
    for doc in range(offsets.size - 1):
        for place in range(offsets[doc], offsets[doc + 1]):
            value = values[place]
            values[at] = value
            at += _find(value, hashes, directory, shift) < 0
        out[doc + 1] = at
