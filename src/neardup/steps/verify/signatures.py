"""Signatures compared: an estimate, the share of values or bits that two documents have in common."""

import numpy as np

from neardup.kernel import Threads, count_bits, kernel
from neardup.schema import F64, I64, U32, U64, Candidates, Pairs, Values
from neardup.steps.verify.slices import passing


def estimate(candidates: Candidates, signatures: Values, *, threshold: float, threads: Threads) -> Pairs:
    """Return the pairs whose share of equal signature values, or bits, is at least the threshold.

    signatures: uint32[n_docs, num_perm], or uint64[n_docs, num_perm / 64].
    """
    kernel = _compare_signatures if signatures.dtype == np.uint32 else _compare_bits

    def compare(a: I64, b: I64, out: F64) -> None:
        kernel(a, b, signatures, out)

    return passing(candidates, compare, threshold=threshold, threads=threads)


@kernel
def _compare_signatures(a: I64, b: I64, signatures: U32, out: F64) -> None:
    """out[i] = share of values that the signatures of a[i] and b[i] have in common."""
    for pair in range(a.size):
        equal = 0
        for j in range(signatures.shape[1]):
            equal += signatures[a[pair], j] == signatures[b[pair], j]
        out[pair] = equal / signatures.shape[1]


@kernel
def _compare_bits(a: I64, b: I64, signatures: U64, out: F64) -> None:
    """out[i] = share of bits that the signatures of a[i] and b[i] have in common."""
    bits = 64 * signatures.shape[1]
    for pair in range(a.size):
        differing = np.int64(0)
        for word in range(signatures.shape[1]):
            differing += np.int64(count_bits(signatures[a[pair], word] ^ signatures[b[pair], word]))
        out[pair] = (bits - differing) / bits
