"""One Permutation Hashing with optimal densification: one pass over the shingles, empty bins filled from others.

Each shingle falls into one of k bins, a bin keeps its least value; an empty bin takes the value of another, found by
hashing its own number and the number of the attempt until one is found that is not empty. Two texts that are empty in
the same bin so look in the same places.

Source: Shrivastava, Optimal Densification for Fast and Accurate Minwise Hashing, ICML 2017 (arXiv 1703.04664), 4.
"""

from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import I64, U32, U64, Shingles

_EMPTY: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(shingles: Shingles, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of these texts."""
    out = np.empty((shingles.offsets.size - 1, num_perm), np.uint32)
    _sketch(shingles.hashes, shingles.offsets, np.empty(num_perm, np.uint64), out)
    return out


@kernel
def _sketch(hashes: U64, offsets: I64, bins: U64, out: U32) -> None:
    """out[doc] = the least value of each bin, or of the bin that stands in for it, folded to 32 bits."""
    k = np.uint64(bins.size)
    half = np.uint64(32)
    for doc in range(offsets.size - 1):
        bins[:] = _EMPTY
        for place in range(offsets[doc], offsets[doc + 1]):
            value = hashes[place] * _FACTOR
            bin = ((value >> half) * k) >> half
            bins[bin] = min(bins[bin], mix(value))
        is_empty = offsets[doc] == offsets[doc + 1]
        for j in range(bins.size):
            bin = np.uint64(j)
            attempt = np.uint64(0)
            while bins[bin] == _EMPTY and not is_empty:
                attempt += np.uint64(1)
                bin = ((mix(np.uint64(j) << half | attempt) >> half) * k) >> half
            out[doc, j] = np.uint32(bins[bin] >> half)
