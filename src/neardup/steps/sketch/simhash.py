"""SimHash: signatures of 64 or 128 bits, of which two texts share more the smaller the angle between their weights.

Each bit is a vote of the shingles: by the sign that the bit of its hash gives it, each shingle adds its weight or takes
it away, and the bit is 1 where the sum is above 0.

Source: Charikar, Similarity Estimation Techniques from Rounding Algorithms, STOC 2002, section 3; in the form of Manku,
Jain, Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007, section 2.
"""

from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.schema import I64, U64, Weighted

WORD_BITS: Final = 64
_SALT: Final = np.uint64(0x9E3779B97F4A7C15)


def sketch(weighted: Weighted, num_perm: int) -> U64:
    """Return uint64[n_docs, num_perm / 64]: the signatures of these texts, 64 bits a word."""
    out = np.empty((weighted.offsets.size - 1, num_perm // WORD_BITS), np.uint64)
    _sketch(*weighted, np.empty(WORD_BITS, np.int64), out)
    return out


@kernel
def _sketch(hashes: U64, weights: I64, offsets: I64, votes: I64, out: U64) -> None:
    """out[doc, word] = bit j set where the votes of the shingles on it add up to more than 0."""
    one = np.uint64(1)
    for doc in range(offsets.size - 1):
        for word in range(out.shape[1]):
            votes[:] = 0
            for place in range(offsets[doc], offsets[doc + 1]):
                bits = mix(hashes[place] + np.uint64(word) * _SALT)
                weight = weights[place]
                for j in range(votes.size):
                    # weight where the bit is 1, -weight where it is 0: no branch, so that it runs on vectors.
                    sign = np.int64((bits >> np.uint64(j)) & one) - 1
                    votes[j] += (weight ^ sign) - sign
            signature = np.uint64(0)
            for j in range(votes.size):
                signature |= np.uint64(votes[j] > 0) << np.uint64(j)
            out[doc, word] = signature
