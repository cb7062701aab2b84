"""How well an outcome fits the truth: pair precision and recall, and removals that their own evidence does not bear.

Pairs are kept folded, so that a million copies of one text are a group and not half a billion of pairs.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

I64: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


class PairSets(NamedTuple):
    """Pairs of documents, folded: every pair inside a group, and every pair across two groups that are paired.

    group: int64[n_docs]; the first document of the group of each.
    a, b: int64[n]; paired groups, by their first documents, a < b, each pair once.
    """

    group: I64
    a: I64
    b: I64


class Outcome(NamedTuple):
    """What a system did. kept_doc: int64[n_docs], the document kept in the stead of each, itself where it is kept."""

    kept_doc: I64
    pairs: PairSets


class Score(NamedTuple):
    """The figures of a row of the table; pairs and precision are of the pairs reported, recall of the true ones."""

    true_pairs: int
    pairs: int
    precision: float
    recall: float
    removed: int
    removed_below_threshold: int


def score(outcome: Outcome, truth: PairSets) -> Score:
    """Return how an outcome fits the truth."""
    n_true, n_found = count(truth), count(outcome.pairs)
    n_common = count_common(outcome.pairs, truth)
    removed = np.flatnonzero(outcome.kept_doc != np.arange(outcome.kept_doc.size))
    borne_out = are_pairs(truth, truth.group[removed], truth.group[outcome.kept_doc[removed]])
    return Score(
        true_pairs=n_true,
        pairs=n_found,
        precision=n_common / n_found if n_found else 1.0,
        recall=n_common / n_true if n_true else 1.0,
        removed=int(removed.size),
        removed_below_threshold=int(np.count_nonzero(~borne_out)),
    )


def fold(group: I64, a: I64, b: I64) -> PairSets:
    """Return pairs of documents as pairs of their groups, each once, those inside a group left to it."""
    n_docs = max(1, group.size)
    low, high = np.minimum(group[a], group[b]), np.maximum(group[a], group[b])
    keys = np.unique((low * n_docs + high)[low != high])
    return PairSets(group, keys // n_docs, keys % n_docs)


def count(pairs: PairSets) -> int:
    """Return the number of pairs of documents."""
    sizes = np.bincount(pairs.group, minlength=pairs.group.size)
    return int(np.sum(sizes * (sizes - 1) // 2) + np.sum(sizes[pairs.a] * sizes[pairs.b]))


def are_pairs(pairs: PairSets, a: I64, b: I64) -> Bools:
    """Say which of these groups, by their first documents, are the same or paired."""
    n_docs = max(1, pairs.group.size)
    keys = pairs.a * n_docs + pairs.b
    are: Bools = np.isin(np.minimum(a, b) * n_docs + np.maximum(a, b), keys)
    are |= a == b
    return are


def count_common(found: PairSets, truth: PairSets) -> int:
    """Return the number of pairs of documents that are in both.

    Documents alike in both groupings make a cell; cells of a found group lie side by side. Every pair of cells that
    is found is looked up in the truth, once for all its documents.
    """
    n_docs = max(1, truth.group.size)
    cells, sizes = np.unique(found.group * n_docs + truth.group, return_counts=True)
    cell_truth = cells % n_docs
    groups = np.unique(found.group)
    c, d = _cross(cells // n_docs, np.concatenate((groups, found.a)), np.concatenate((groups, found.b)))
    c, d = c[c != d], d[c != d]
    # A pair of cells inside one found group comes both ways round; across two groups it comes once.
    inside = cells[c] // n_docs == cells[d] // n_docs
    once = ~inside | (c < d)
    c, d = c[once], d[once]
    both = are_pairs(truth, cell_truth[c], cell_truth[d])
    return int(np.sum(sizes * (sizes - 1) // 2) + np.sum((sizes[c] * sizes[d])[both]))


def _cross(cell_groups: I64, a: I64, b: I64) -> tuple[I64, I64]:
    """Return every cell of group a[i] with every cell of group b[i], for all i; cell_groups is ascending."""
    first_a, first_b = np.searchsorted(cell_groups, a), np.searchsorted(cell_groups, b)
    n_a = np.searchsorted(cell_groups, a, side="right") - first_a
    n_b = np.searchsorted(cell_groups, b, side="right") - first_b
    n = n_a * n_b
    which = np.repeat(np.arange(a.size), n)
    place = np.arange(which.size) - np.repeat(np.cumsum(n) - n, n)
    return first_a[which] + place // n_b[which], first_b[which] + place % n_b[which]


def read_peer(out: Path) -> Outcome:
    """Return the outcome an adapter of a peer wrote: labels, and pairs of documents."""
    written = json.loads(out.read_bytes())
    kept_doc = np.array(written["labels"], np.int64)
    pairs = np.array(written["pairs"], np.int64).reshape(-1, 2)
    return Outcome(kept_doc, fold(np.arange(kept_doc.size), pairs[:, 0], pairs[:, 1]))


def read_neardup(folder: Path, ids: list[str] | None, n_docs: int) -> Outcome:
    """Return the outcome neardup wrote, its exact copies taken as what they stand for.

    Pairs hold exact copies as a star from the first, and near pairs between the firsts alone. Raises ValueError when
    the files contradict one another.
    """
    doc_of = {id: doc for doc, id in enumerate(range(n_docs) if ids is None else ids)}
    kept_doc = np.arange(n_docs)
    for row in _rows(folder / "clusters.jsonl"):
        kept_doc[doc_of[row["id"]]] = doc_of[row["cluster_id"]]
    n_kept, n_removed = _count_lines(folder / "kept.jsonl"), _count_lines(folder / "removed.jsonl")
    if n_kept + n_removed != n_docs or n_removed != np.count_nonzero(kept_doc != np.arange(n_docs)):
        raise ValueError(
            f"{folder}: {n_docs} documents, but {n_kept} kept, {n_removed} removed and"
            f" {np.count_nonzero(kept_doc != np.arange(n_docs))} removed by the clusters"
        )
    found = [(doc_of[row["id_a"]], doc_of[row["id_b"]], row["similarity"]) for row in _rows(folder / "pairs.jsonl")]
    a, b = (np.array([pair[side] for pair in found], np.int64) for side in (0, 1))
    same = np.array([similarity == 1.0 for _, _, similarity in found], bool)
    return Outcome(kept_doc, fold(_components(n_docs, a[same], b[same]), a, b))


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as lines:
        return [orjson.loads(line) for line in lines]


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _components(n_docs: int, a: I64, b: I64) -> I64:
    """Return the first document of the connected component of each."""
    group = np.arange(n_docs)
    while True:
        low = np.minimum(group[a], group[b])
        lower = group.copy()
        np.minimum.at(lower, a, low)
        np.minimum.at(lower, b, low)
        lower = lower[lower]
        if np.array_equal(lower, group):
            return group
        group = lower
