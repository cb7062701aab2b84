"""Step 6: clusters, which document is kept in whose stead.

In: verified pairs between distinct texts, the first copy of each document, the order in which documents are preferred.
Out: for each document the one kept in its stead, and its similarity to that one.

Two ways. `anchored`: walk in keep order; a document goes only if a document kept before it was verified at or above
the threshold to it, and it names the most similar such (ties: the earlier in keep order). The kept set is the greedy
independent set of the pairs in that order (lexicographically first), the same on any machine. `components`:
union-find, one representative a connected component, the first in keep order; members may lie below the threshold to
it, and their similarity is for the caller to fill in.
"""

from typing import Final, NamedTuple

import numpy as np

from neardup.kernel import kernel, stable_order
from neardup.schema import F64, I64, Clusters, Pairs


class Graph(NamedTuple):
    """Verified pairs from both ends, by document.

    offsets: int64[n_docs + 1]; the neighbors of document i are neighbors[offsets[i]:offsets[i + 1]], ascending.
    neighbors: int64[2 n_pairs].
    similarity: float64[2 n_pairs].
    """

    offsets: I64
    neighbors: I64
    similarity: F64


def anchored(pairs: Pairs, firsts: I64, order: I64) -> Clusters:
    """Return clusters in which every removed document was verified against the kept one.

    firsts: int64[n_docs]; the first exact copy of each document, itself for most. Pairs join such first copies.
    order: int64[n_docs]; all documents, the most preferred first.
    """
    graph = _graph(pairs, firsts.size)
    clusters = Clusters(np.arange(firsts.size, dtype=np.int64), np.ones(firsts.size, np.float64))
    _walk(order, firsts, *graph, np.full(firsts.size, -1, np.int64), *clusters)
    return clusters


def components(pairs: Pairs, firsts: I64, order: I64) -> Clusters:
    """Return clusters of documents that verified pairs connect; similarity is 1.0 for copies, NaN otherwise."""
    parent = firsts.copy()
    _unite(pairs.a, pairs.b, parent)
    best = np.full(firsts.size, -1, np.int64)
    _first_in_order(order, parent, best)
    kept_doc = best[parent]
    similarity = np.where(firsts == firsts[kept_doc], 1.0, np.nan)
    return Clusters(kept_doc, similarity)


WAYS: Final = {"anchored": anchored, "components": components}


def _graph(pairs: Pairs, n_docs: int) -> Graph:
    ends = np.concatenate((pairs.a, pairs.b))
    order = stable_order(ends, n_docs)
    offsets = np.zeros(n_docs + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=n_docs), out=offsets[1:])
    return Graph(
        offsets,
        np.concatenate((pairs.b, pairs.a))[order],
        np.concatenate((pairs.similarity, pairs.similarity))[order],
    )


@kernel
def _walk(
    order: I64,
    firsts: I64,
    offsets: I64,
    neighbors: I64,
    similarities: F64,
    kept_at: I64,
    kept_doc: I64,
    similarity: F64,
) -> None:
    """kept_doc, similarity = the outcome of each document; kept_at[first copy] = the place of the kept copy, or -1."""
    for place in range(order.size):
        doc = order[place]
        first = firsts[doc]
        if kept_at[first] >= 0:
            kept_doc[doc] = order[kept_at[first]]
            continue
        best = np.int64(-1)
        for edge in range(offsets[first], offsets[first + 1]):
            other = kept_at[neighbors[edge]]
            if other < 0:
                continue
            is_nearer = best < 0 or similarities[edge] > similarity[doc]
            if is_nearer or (similarities[edge] == similarity[doc] and other < best):
                best = other
                similarity[doc] = similarities[edge]
        if best < 0:
            kept_at[first] = place
        else:
            kept_doc[doc] = order[best]


@kernel
def _unite(a: I64, b: I64, parent: I64) -> None:
    """parent[doc] = the least document of its component. Rem's algorithm with path halving."""
    for pair in range(a.size):
        i = a[pair]
        j = b[pair]
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        while parent[j] != j:
            parent[j] = parent[parent[j]]
            j = parent[j]
        parent[max(i, j)] = min(i, j)
    for doc in range(parent.size):
        parent[doc] = parent[parent[doc]]


@kernel
def _first_in_order(order: I64, component: I64, best: I64) -> None:
    """best[component] = its first document in keep order."""
    for doc in order:
        if best[component[doc]] < 0:
            best[component[doc]] = doc
