"""Random hyperplanes: signatures of bits, on which side of each of many planes a vector lies.

Two vectors at the angle a lie on one side of a random plane with the chance 1 - a / pi, whatever their lengths. The
normal of a plane has one number a dimension: 64 coin tosses and a share of one more, summed, which is close to the
normal distribution and the same on every machine. Sums run in one order, so a signature is the same in any company.

Source: Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002, section 3.
"""

import functools
from typing import Final

import numpy as np

from neardup.kernel import count_bits, kernel, mix
from neardup.schema import F32, U32

_SALT: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(vectors: F32, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm], each 0 or 1. vectors: float32[n_docs, dimension], finite."""
    out = np.empty((vectors.shape[0], num_perm), np.uint32)
    _sketch(vectors, _planes(vectors.shape[1], num_perm), np.empty(num_perm, np.float32), out)
    return out


@functools.lru_cache(maxsize=4)
def _planes(dimension: int, num_perm: int) -> F32:
    """Return float32[dimension, num_perm]: the normals of the planes."""
    out = np.empty((dimension, num_perm), np.float32)
    _draw(out)
    return out


@kernel
def _draw(out: F32) -> None:
    """out = numbers near the normal distribution, of variance 16 + 1/12: 64 tosses and a number from 0 to 1."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            tosses = mix(np.uint64(i) * _SALT + np.uint64(j + 1))
            share = np.float64(mix(tosses + _SALT) >> np.uint64(40)) / 16777216.0
            out[i, j] = np.float32(np.float64(count_bits(tosses)) - 32.5 + share)


@kernel
def _sketch(vectors: F32, planes: F32, sums: F32, out: U32) -> None:
    """out[doc, j] = 1 where vector doc is on the upper side of plane j."""
    for doc in range(vectors.shape[0]):
        largest = 0.0
        for i in range(vectors.shape[1]):
            largest = max(largest, abs(np.float64(vectors[doc, i])))
        sums[:] = 0
        for i in range(vectors.shape[1]):
            value = np.float32(np.float64(vectors[doc, i]) / largest)
            for j in range(sums.size):
                sums[j] += value * planes[i, j]
        for j in range(sums.size):
            out[doc, j] = np.uint32(sums[j] > 0)
