"""What every measure does alike: pairs in slices for threads, and the choice of those at or above the threshold."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import numpy as np

from neardup.kernel import Threads, kernel
from neardup.schema import F64, I64, Candidates, Pairs

SLICE: Final = 4096  # candidate pairs a thread takes at a time


def passing(
    candidates: Candidates, compare: Callable[[I64, I64, F64], None], *, threshold: float, threads: Threads
) -> Pairs:
    """Return the pairs at or above the threshold by the similarities that `compare` writes for slices of them."""
    out = np.empty(candidates.a.size, np.float64)
    slices = (slice(start, start + SLICE) for start in range(0, out.size, SLICE))
    threads.map(lambda piece: compare(candidates.a[piece], candidates.b[piece], out[piece]), slices)
    return select(candidates, out, threshold)


def select(candidates: Candidates, similarity: F64, threshold: float) -> Pairs:
    """Return the pairs whose similarity is at least the threshold."""
    passed = similarity >= threshold
    return Pairs(candidates.a[passed], candidates.b[passed], similarity[passed])


def cut_by_size(candidates: Candidates, sizes: I64, room: int) -> list[Candidates]:
    """Return the pairs in runs whose documents together have at most so large a size, or of one pair.

    sizes: int64[n_docs]; of each document, by its number.
    """
    ends = np.empty(candidates.a.size, np.int64)
    n_runs = _cut_by_size(*candidates, sizes, room, np.full(sizes.size, -1, np.int64), ends)
    cuts = [0, *ends[:n_runs].tolist()]
    return [Candidates(*(one[start:end] for one in candidates)) for start, end in pairwise(cuts)]


@kernel
def _cut_by_size(a: I64, b: I64, sizes: I64, room: int, run_of: I64, ends: I64) -> int:
    """ends[run] = where the pairs of a run end; return how many runs there are. run_of[doc] = the last run it is in."""
    run = 0
    held = np.int64(0)
    start = 0
    for pair in range(a.size):
        more = (sizes[a[pair]] if run_of[a[pair]] != run else 0) + (sizes[b[pair]] if run_of[b[pair]] != run else 0)
        if held + more > room and pair > start:
            ends[run] = pair
            run += 1
            start = pair
            held = np.int64(0)
            more = sizes[a[pair]] + sizes[b[pair]]
        held += more
        run_of[a[pair]] = run
        run_of[b[pair]] = run
    ends[run] = a.size
    return run + (a.size > 0)
