"""Step 2: weights of shingles, by how often each occurs in its text and how rare it is among all texts.

In: shingle hashes in text order with repeats. Out: each distinct one with its weight, ascending by hash.
"""

from collections.abc import Callable

import numpy as np

from neardup.kernel import kernel
from neardup.schema import I64, U64, WEIGHT_ONE, Shingles, Weighted


def weigh(shingles: Shingles, *, counts: bool, rarity: Callable[[U64], I64] | None) -> Weighted:
    """Return the distinct shingles of each text with their weights, in units of 1 / WEIGHT_ONE.

    counts: a shingle weighs as many times as it occurs, or once. rarity: gives the weight of one occurrence of each
    hash; None weighs all alike.
    """
    hashes = np.empty_like(shingles.hashes)
    weights = np.empty(hashes.size, np.int64)
    longest = int(np.diff(shingles.offsets).max(initial=0))
    offsets = np.empty_like(shingles.offsets)
    slots = np.empty((2, 5 * longest + 2), np.uint64)
    _count_distinct(shingles.hashes, shingles.offsets, slots, hashes, weights, offsets)
    hashes, weights = hashes[: offsets[-1]], weights[: offsets[-1]]
    if not counts:
        weights[:] = 1
    weights *= WEIGHT_ONE if rarity is None else rarity(hashes)
    return Weighted(hashes, weights, offsets)


@kernel
def _count_distinct(values: U64, offsets: I64, slots: U64, hashes: U64, counts: I64, out: I64) -> None:
    """hashes, counts = the distinct values of each text, ascending, and how often each occurs there.

    An ordered hash table, as for distinct shingles, with the counts beside. slots: uint64[2, n].
    """
    zero = np.uint64(0)
    one = np.uint64(1)
    at = np.int64(0)
    out[0] = 0
    for doc in range(offsets.size - 1):
        size = offsets[doc + 1] - offsets[doc]
        bits = one
        while np.int64(1) << np.int64(bits) < 2 * size:
            bits += one
        last = np.int64(1) << np.int64(bits)
        slots[0, : last + size] = zero
        for place in range(offsets[doc], offsets[doc + 1]):
            value = max(values[place], one)
            times = one
            slot = np.int64(value >> (np.uint64(64) - bits))
            while slots[0, slot] != zero and slots[0, slot] < value:
                slot += 1
            if slots[0, slot] == value:
                slots[1, slot] += one
                continue
            while slots[0, slot] != zero:
                slots[0, slot], value = value, slots[0, slot]
                slots[1, slot], times = times, slots[1, slot]
                slot += 1
            slots[0, slot] = value
            slots[1, slot] = times
            last = max(last, slot + 1)
        for place in range(last):
            if slots[0, place] != zero:
                hashes[at] = slots[0, place]
                counts[at] = np.int64(slots[1, place])
                at += 1
        out[doc + 1] = at
