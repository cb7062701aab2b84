"""What every measure does alike: pairs in slices for threads, and the choice of those at or above the threshold."""

from collections.abc import Callable
from typing import Final

import numpy as np

from neardup.kernel import Threads
from neardup.schema import F64, I64, Candidates, Pairs

SLICE: Final = 4096  # candidate pairs a thread takes at a time


def by_slices(candidates: Candidates, compare: Callable[[I64, I64, F64], None], threads: Threads) -> F64:
    """Return the similarities that `compare` writes for slices of the pairs."""
    out = np.empty(candidates.a.size, np.float64)
    slices = (slice(start, start + SLICE) for start in range(0, out.size, SLICE))
    threads.map(lambda piece: compare(candidates.a[piece], candidates.b[piece], out[piece]), slices)
    return out


def select(candidates: Candidates, similarity: F64, threshold: float) -> Pairs:
    """Return the pairs whose similarity is at least the threshold."""
    passed = similarity >= threshold
    return Pairs(candidates.a[passed], candidates.b[passed], similarity[passed])
