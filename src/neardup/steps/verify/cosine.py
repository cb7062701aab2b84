"""Vectors compared: the cosine of the angle between them, 0 where they point away from one another."""

import numpy as np

from neardup.kernel import Threads, kernel
from neardup.schema import F32, F64, I64, Candidates, Pairs
from neardup.steps.verify.slices import passing


def verify_vectors(candidates: Candidates, vectors: F32, *, threshold: float, threads: Threads) -> Pairs:
    """Return the pairs whose cosine is at least the threshold. 0.0 returns all of them.

    vectors: float32[n_docs, dimension], none of them zero. Sums are of double precision and in one order; equal vectors
    have the cosine 1 exactly.
    """

    def compare(a: I64, b: I64, out: F64) -> None:
        _compare(a, b, vectors, out)

    return passing(candidates, compare, threshold=threshold, threads=threads)


@kernel
def _compare(a: I64, b: I64, vectors: F32, out: F64) -> None:
    """out[i] = cosine of vectors a[i] and b[i], from 0 to 1."""
    for pair in range(a.size):
        shared, of_a, of_b = 0.0, 0.0, 0.0
        for i in range(vectors.shape[1]):
            x = np.float64(vectors[a[pair], i])
            y = np.float64(vectors[b[pair], i])
            shared += x * y
            of_a += x * x
            of_b += y * y
        out[pair] = min(1.0, max(0.0, shared / np.sqrt(of_a * of_b)))
