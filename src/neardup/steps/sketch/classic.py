"""The classic sketch: k hash functions, the least value of each. The reference that the others are measured against.

Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997; hash functions (a x + b) >> 32 modulo
2^64 as in Dietzfelbinger, Hagerup, Katajainen, Penttonen, J. Algorithms 25(1), 1997, over hashes that are mixed.
"""

from functools import lru_cache

import numpy as np

from neardup.kernel import kernel
from neardup.schema import I64, U32, U64, Shingles


def sketch(shingles: Shingles, num_perm: int) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of these texts."""
    out = np.empty((shingles.offsets.size - 1, num_perm), np.uint32)
    factors, terms = _functions(num_perm)
    _sketch(shingles.hashes, shingles.offsets, factors, terms, out)
    return out


@lru_cache(maxsize=4)
def _functions(num_perm: int) -> tuple[U64, U64]:
    """Return the factors (odd) and terms of the hash functions; the first ones are the same for any number."""
    draws = np.random.Generator(np.random.PCG64(20260101)).integers(0, 1 << 64, (num_perm, 2), np.uint64)
    return draws[:, 0] | np.uint64(1), draws[:, 1].copy()


@kernel
def _sketch(hashes: U64, offsets: I64, factors: U64, terms: U64, out: U32) -> None:
    """out[doc, j] = the least (factors[j] x + terms[j]) >> 32 over the shingles x of a text."""
    for doc in range(offsets.size - 1):
        out[doc, :] = np.uint32(0xFFFFFFFF)
        for place in range(offsets[doc], offsets[doc + 1]):
            x = hashes[place]
            for j in range(factors.size):
                out[doc, j] = min(out[doc, j], np.uint32((factors[j] * x + terms[j]) >> np.uint64(32)))
