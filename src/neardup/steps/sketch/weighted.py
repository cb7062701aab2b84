"""Weighted MinHash: texts share each value with a probability equal to the generalized Jaccard of their weights.

A shingle of weight w stands as about w copies, each a shingle of its own for Fast Similarity Sketching. What remains
of w after whole copies is one more with a chance that the shingle's hash decides, the same in every text: the number of
copies ascends with w, so that the least and the greatest of two weights are right on average, at any scale.

Source: Haeupler, Manasse, Talwar, Consistent Weighted Sampling Made Fast, Small, and Easy, arXiv 1410.4266, section 3;
Dahlgaard, Knudsen, Thorup, FOCS 2017, as in `minhash`.
"""

from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import I64, U32, U64, WEIGHT_ONE, Weighted

_ONE_BITS: Final = np.uint64(WEIGHT_ONE.bit_length() - 1)
_COPY: Final = np.uint64(0xD6E8FEB86659FD93)
_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_ROUND: Final = np.uint64(52)  # a bin holds the round above bit 52, and 52 bits of the hash below
_VALUE: Final = np.uint64((1 << 52) - 1)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(weighted: Weighted, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of these texts."""
    out = np.empty((weighted.offsets.size - 1, num_perm), np.uint32)
    _sketch(*weighted, np.empty(num_perm, np.uint64), out)
    return out


@kernel
def _sketch(hashes: U64, weights: I64, offsets: I64, bins: U64, out: U32) -> None:
    """out[doc] = the least (round, value) of each bin over all copies of all shingles, folded to 32 bits."""
    k = np.uint64(bins.size)
    for doc in range(offsets.size - 1):
        bins[:] = _EMPTY
        empty = bins.size if offsets[doc + 1] > offsets[doc] else 0
        turn = np.uint64(0)
        while empty > 0:
            salt = mix(turn)
            high = turn << _ROUND
            for place in range(offsets[doc], offsets[doc + 1]):
                chance = hashes[place] >> (np.uint64(64) - _ONE_BITS)
                copies = max((np.uint64(weights[place]) + chance) >> _ONE_BITS, np.uint64(1))
                for copy in range(copies):
                    value = (mix(hashes[place] + np.uint64(copy) * _COPY) ^ salt) * _FACTOR
                    bin = ((value >> np.uint64(32)) * k) >> np.uint64(32) if turn < k else turn - k
                    old = bins[bin]
                    bins[bin] = min(old, high | (value & _VALUE))
                    empty -= old == _EMPTY
            turn += np.uint64(1)
        for j in range(bins.size):
            out[doc, j] = np.uint32((bins[j] * _FACTOR) >> np.uint64(32))
