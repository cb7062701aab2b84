"""SuperMinHash: signatures with a lower error than MinHash on small sets, at a cost that falls as a text grows.

Each shingle offers value number j of a random permutation of the k places a random number in [j, j + 1). Places keep
the least they were offered; offers stop where none can be accepted any more.

Source: Ertl, SuperMinHash - A New Minwise Hashing Algorithm for Jaccard Similarity Estimation, arXiv 1706.05698,
algorithm 3. Numbers r + j are kept as j in the high and r in the low 32 bits.
"""

from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import I64, U32, U64, Shingles

_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(shingles: Shingles, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of these texts."""
    out = np.empty((shingles.offsets.size - 1, num_perm), np.uint32)
    order, seen, counts = np.empty((3, num_perm), np.int64)
    _sketch(*shingles, np.empty(num_perm, np.uint64), order, seen, counts, out)
    return out


@kernel
def _sketch(hashes: U64, offsets: I64, least: U64, order: I64, seen: I64, counts: I64, out: U32) -> None:
    """out[doc] = the least numbers offered, folded to 32 bits.

    order, seen: the permutation of a shingle as far as it is drawn, and for which shingle each entry holds (`p`, `q` of
    the source). counts[j]: places that hold a number with whole part j, those never offered any counted last (`b`).
    """
    k = np.int64(least.size)
    half = np.uint64(32)
    for doc in range(offsets.size - 1):
        least[:] = _EMPTY
        seen[:] = -1
        counts[:] = 0
        counts[k - 1] = k
        last = k - 1
        for place in range(offsets[doc], offsets[doc + 1]):
            state = hashes[place]
            j = np.int64(0)
            while j <= last:
                state += _STEP
                draw = mix(state)
                other = j + np.int64(((draw >> half) * np.uint64(k - j)) >> half)
                if seen[j] != place:
                    seen[j] = place
                    order[j] = j
                if seen[other] != place:
                    seen[other] = place
                    order[other] = other
                order[j], order[other] = order[other], order[j]
                offered = np.uint64(j) << half | draw & np.uint64(0xFFFFFFFF)
                if offered < least[order[j]]:
                    old = np.int64(min(least[order[j]] >> half, np.uint64(k - 1)))
                    least[order[j]] = offered
                    if j < old:
                        counts[old] -= 1
                        counts[j] += 1
                        while counts[last] == 0:
                            last -= 1
                j += 1
        for number in range(k):
            out[doc, number] = np.uint32(mix(least[number]) >> half)
