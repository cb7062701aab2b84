"""The default sketch: Fast Similarity Sketching, MinHash at the cost of a pass or two over the shingles.

Source: Dahlgaard, Knudsen, Thorup, Fast Similarity Sketching, FOCS 2017 (arXiv 1704.04370), section 2: round i of at
most 2k puts every shingle into a bin, by a hash while i < k and into bin i - k after; a bin keeps the least (round,
value); it ends with the round in which the last bin was filled.
"""

from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import I64, U32, U64, Shingles

_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ROUND: Final = np.uint64(52)  # a bin holds the round above bit 52, and 52 bits of the hash below
_VALUE: Final = np.uint64((1 << 52) - 1)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(shingles: Shingles, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of these texts."""
    out = np.empty((shingles.offsets.size - 1, num_perm), np.uint32)
    _sketch(shingles.hashes, shingles.offsets, np.empty(num_perm, np.uint64), out)
    return out


@kernel
def _sketch(hashes: U64, offsets: I64, bins: U64, out: U32) -> None:
    """out[doc] = the least (round, value) of each bin, folded to 32 bits."""
    k = np.uint64(bins.size)
    for doc in range(offsets.size - 1):
        start = offsets[doc]
        end = offsets[doc + 1]
        bins[:] = _EMPTY
        empty = bins.size if end > start else 0
        turn = np.uint64(0)
        while empty > 0:
            salt = mix(turn)  # 0 in round 0: shingle hashes are mixed already
            high = turn << _ROUND
            for place in range(start, end):
                value = (hashes[place] ^ salt) * _FACTOR
                bin = ((value >> np.uint64(32)) * k) >> np.uint64(32) if turn < k else turn - k
                old = bins[bin]
                # Without a branch: whether a bin is taken cannot be foretold.
                bins[bin] = min(old, high | (value & _VALUE))
                empty -= old == _EMPTY
            turn += np.uint64(1)
        for j in range(bins.size):
            out[doc, j] = np.uint32((bins[j] * _FACTOR) >> np.uint64(32))
