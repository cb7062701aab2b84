"""What the documents of candidate pairs are compared by: all at once where the budget has room, else some at a time.

Without room, the texts of these documents go to a file, pairs are cut into runs of which the documents fit, and what a
run is compared by is made anew from the texts: a fifth of the bytes of shingles, and no slower to make than to read.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from neardup.kernel import Threads
from neardup.pipeline import Evidence, compare, evidence
from neardup.recipe import Recipe
from neardup.schema import I64, Background, Candidates, Pairs
from neardup.scratch import Scratch, TextFile
from neardup.steps.verify import cut_by_size


class Holding:
    """What candidate pairs are compared by.

    docs: int64[n]; the documents it holds, ascending. n_bytes: what it holds in memory at most.
    """

    def __init__(  # what is compared, how, by whom, and where
        self,
        docs: I64,
        columns: Iterable[pa.LargeBinaryArray],
        n_counted: I64,
        recipe: Recipe,
        threads: Threads,
        known: Background | None,
        scratch: Scratch,
        n_text_bytes: int,
    ) -> None:
        """Take the documents in.

        columns: their texts, in order, of n_text_bytes about. n_counted: int64[n]; how many shingles each has.
        """
        self.docs = docs
        self._recipe, self._threads, self._known, self._scratch = recipe, threads, known, scratch
        self._n_counted = n_counted
        self._sizes = sizes_of(n_counted, recipe)
        self._room = scratch.memory // 4
        self._whole: Evidence | None = None
        self._texts: TextFile | None = None
        if self._sizes.sum() <= self._room:
            self._whole = evidence(docs, columns, int(n_counted.sum()), recipe, threads, known)
        else:
            scratch.check_room(n_text_bytes, 0)
            self._texts = TextFile(columns, scratch)
        self.n_bytes = int(min(self._sizes.sum(), self._room))

    @classmethod
    def of(cls, held: Evidence, recipe: Recipe, threads: Threads, scratch: Scratch) -> "Holding":
        """Return a holding of evidence that is there already."""
        holding = cls(np.empty(0, np.int64), (), np.empty(0, np.int64), recipe, threads, None, scratch, 0)
        holding.docs, holding._whole = held.docs, held
        holding.n_bytes = sum(array.nbytes for array in held.values)
        return holding

    def compare(self, candidates: Candidates, *, threshold: float) -> Pairs:
        """Return the candidate pairs at or above the threshold; with threshold 0.0 all of them."""
        if self._whole is not None or not candidates.a.size:
            held = self._whole or Evidence(self.docs, (), np.zeros(1, np.int64))
            return compare(candidates, held, self._recipe, self._threads, threshold=threshold)
        places = Candidates(*(np.searchsorted(self.docs, ends) for ends in candidates))
        runs = [self._compare_run(run, threshold) for run in cut_by_size(places, self._sizes, self._room)]
        return Pairs(*map(np.concatenate, zip(*runs, strict=True)))

    def _compare_run(self, places: Candidates, threshold: float) -> Pairs:
        assert self._texts is not None
        some = present(places)
        total = int(self._n_counted[some].sum())
        held = evidence(some, self._texts.take(some), total, self._recipe, self._threads, self._known)
        pairs = compare(places, held, self._recipe, self._threads, threshold=threshold)
        return Pairs(self.docs[pairs.a], self.docs[pairs.b], pairs.similarity)


def sizes_of(n_counted: I64, recipe: Recipe) -> I64:
    """Return int64[n]: the bytes of what documents are compared by. n_counted: shingles, or numbers of a vector."""
    if recipe.verify == "estimate":
        return np.full(n_counted.size, recipe.num_perm * (4 if recipe.sketch != "simhash" else 1), np.int64)
    if recipe.sketch == "hyperplane":
        return n_counted * 4
    return n_counted * (8 if recipe.weighting == "none" else 16)


def present(candidates: Candidates) -> I64:
    """Return the documents of these pairs, ascending, each once."""
    is_present = np.zeros(max(int(ends.max(initial=-1)) for ends in candidates) + 1, np.bool_)
    for ends in candidates:
        is_present[ends] = True
    return np.flatnonzero(is_present)
