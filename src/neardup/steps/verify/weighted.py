"""Weighted shingles compared.

The similarity is the generalized Jaccard: the sum of the lesser weight of each shingle by the sum of the greater.
Weights are whole numbers of a unit, so sums are exact, and the similarity is a correctly rounded double.
"""

import numpy as np

from neardup.kernel import Threads, kernel
from neardup.schema import F64, I64, U64, Candidates, Pairs, Weighted
from neardup.steps.verify.slices import passing


def verify_weighted(candidates: Candidates, weighted: Weighted, *, threshold: float, threads: Threads) -> Pairs:
    """Return the pairs whose generalized Jaccard similarity is at least the threshold. 0.0 returns all of them."""
    totals = np.diff(np.concatenate(([0], np.cumsum(weighted.weights)))[weighted.offsets])

    def compare(a: I64, b: I64, out: F64) -> None:
        _compare_weighted(a, b, *weighted, totals, threshold, out)

    return passing(candidates, compare, threshold=threshold, threads=threads)


@kernel
def _compare_weighted(
    a: I64, b: I64, hashes: U64, weights: I64, offsets: I64, totals: I64, threshold: float, out: F64
) -> None:
    """out[i] = generalized Jaccard of documents a[i] and b[i], or -1.0 where their totals rule the threshold out."""
    for pair in range(a.size):
        total = totals[a[pair]] + totals[b[pair]]
        lesser = min(totals[a[pair]], totals[b[pair]])
        if lesser < threshold * (total - lesser) * (1.0 - 1e-9):
            out[pair] = -1.0
            continue
        i = offsets[a[pair]]
        j = offsets[b[pair]]
        shared = np.int64(0)
        while i < offsets[a[pair] + 1] and j < offsets[b[pair] + 1]:
            if hashes[i] == hashes[j]:
                shared += min(weights[i], weights[j])
            # Without a branch: which of the two is less cannot be foretold.
            goes_on_a = hashes[i] <= hashes[j]
            j += hashes[j] <= hashes[i]
            i += goes_on_a
        out[pair] = shared / (total - shared) if total > 0 else 0.0
