"""Clusters, against the reference's two ways."""

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import as_pairs
from neardup.steps.cluster import anchored, components
from strategies import pair_lists


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, int], float], list[int]]:
    """Return first copies, pairs among them, and an order of all documents."""
    n_docs, pairs = draw(pair_lists())
    firsts = list(range(n_docs))
    for doc in range(n_docs):
        if draw(st.integers(0, 4)) == 0:
            firsts[doc] = firsts[draw(st.integers(0, doc))]
    found = {(a, b): s for a, b, s in pairs if firsts[a] == a and firsts[b] == b}
    return firsts, found, draw(st.permutations(range(n_docs)))


def similarity(a: int, b: int, firsts: list[int], found: dict[tuple[int, int], float]) -> float:
    """Return the similarity of any two documents, 0.0 where no pair was verified."""
    i, j = sorted((firsts[a], firsts[b]))
    return 1.0 if i == j else found.get((i, j), 0.0)


@given(graphs())
def test_anchored_equals_the_plain_walk(graph: Any) -> None:
    """A document goes only if one kept before it was verified to it, and names the most similar of those."""
    firsts, found, order = graph
    expected = [(doc, 1.0) for doc in range(len(firsts))]
    kept: list[int] = []
    for doc in order:
        best = max(
            ((similarity(doc, other, firsts, found), -place, other) for place, other in enumerate(kept)),
            default=(0.0, 0, 0),
        )
        if best[0] > 0.0:
            expected[doc] = (best[2], best[0])
        else:
            kept.append(doc)

    actual = anchored(as_pairs(found), np.array(firsts, np.int64), np.array(order, np.int64))

    assert expected == list(zip(actual.kept_doc.tolist(), actual.similarity.tolist(), strict=True))


@given(graphs())
def test_components_have_one_representative(graph: Any) -> None:
    """Documents that pairs or copies connect name the first of them in keep order."""
    firsts, found, order = graph
    label = list(firsts)
    for a, b in found:
        old, new = max(label[a], label[b]), min(label[a], label[b])
        label = [new if one == old else one for one in label]
    representative: dict[int, int] = {}
    for doc in order:
        representative.setdefault(label[doc], doc)

    actual = components(as_pairs(found), np.array(firsts, np.int64), np.array(order, np.int64))

    assert [representative[one] for one in label] == actual.kept_doc.tolist()
    for doc, (kept, how_similar) in enumerate(zip(*(one.tolist() for one in actual), strict=True)):
        assert (how_similar == 1.0) if firsts[doc] == firsts[kept] else math.isnan(how_similar)
