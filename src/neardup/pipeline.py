"""What every engine does alike, so that equal results are true by construction.

`sign` takes texts to band keys (steps 1 to 4), `evidence` and `compare` candidate pairs to similarities (step 5),
`settle` verified pairs to clusters (step 6). An engine is a way to bring equal band keys together in between.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.kernel import Threads
from neardup.recipe import Recipe
from neardup.schema import I64, U32, Candidates, Clusters, Pairs, Shingles, Signed, Texts
from neardup.steps.candidates import band_keys
from neardup.steps.clean import clean, code_point_counts, content_hashes
from neardup.steps.cluster import WAYS
from neardup.steps.markup import strip_markup
from neardup.steps.shingle import distinct, shingle
from neardup.steps.sketch import FAMILIES
from neardup.steps.verify import estimate, verify
from neardup.steps.words import lonely_bit, units

R = TypeVar("R")

# What passes from kernel to kernel of a slice, some 12 bytes a byte of text, should stay in a core's own cache.
_SLICE_BYTES = 256 << 10


class Evidence(NamedTuple):
    """What candidate pairs are compared by.

    docs: int64[n]; the documents it holds, ascending.
    shingles: their distinct shingle hashes, ascending; empty where the recipe trusts the estimate.
    signatures: uint32[n, num_perm]; their signatures, or uint32[0, num_perm].
    """

    docs: I64
    shingles: Shingles
    signatures: U32


def texts_of(column: pa.LargeBinaryArray) -> Texts:
    """Return a column of texts as arrays over its buffers, nothing copied."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return Texts(np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), ends)


def sign(columns: Iterable[pa.LargeBinaryArray], recipe: Recipe, threads: Threads) -> Signed:
    """Return the signed documents of columns of texts; the next column is read while threads work on the last."""
    parts = _ahead(threads.start(lambda piece: _sign_slice(piece, recipe), _slices(texts_of(c))) for c in columns)
    return _join(parts, recipe)


def _join(parts: Iterable[Signed], recipe: Recipe) -> Signed:
    """Return the documents of the parts one after the other."""
    nothing = Signed(
        np.empty((recipe.cut.bands, 0), np.uint64),
        np.empty((2, 0), np.uint64),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
    )
    return Signed(*(np.concatenate(arrays, axis=-1) for arrays in zip(nothing, *parts, strict=True)))


def evidence(
    docs: I64, columns: Iterable[pa.LargeBinaryArray], n_shingles: int, recipe: Recipe, threads: Threads
) -> Evidence:
    """Return what these documents are compared by.

    columns: their texts, in the order of docs. n_shingles: at most how many shingles they have, with repeats.
    """
    # Only what is written to is really there; joining arrays at the end would take it twice.
    hashes = np.empty(n_shingles if recipe.verify == "exact" else 0, np.uint64)
    offsets = np.zeros(docs.size + 1, np.int64)
    signatures = np.empty((docs.size if recipe.verify == "estimate" else 0, recipe.num_perm), np.uint32)
    at = 0
    doc = 0
    for part in _ahead(
        threads.start(lambda piece: _evidence_slice(piece, recipe), _slices(texts_of(c))) for c in columns
    ):
        n_docs = part.docs.size
        hashes[at : at + part.shingles.hashes.size] = part.shingles.hashes
        offsets[doc + 1 : doc + 1 + n_docs] = at + part.shingles.offsets[1:]
        signatures[doc : doc + n_docs] = part.signatures
        at += part.shingles.hashes.size
        doc += n_docs
    return Evidence(docs, Shingles(hashes[:at], offsets), signatures)


def compare(candidates: Candidates, held: Evidence, recipe: Recipe, threads: Threads, *, threshold: float) -> Pairs:
    """Return the candidate pairs at or above the threshold with their similarity; with threshold 0.0 all of them."""
    place_of = np.zeros(
        int(held.docs.max(initial=-1)) + 1, np.int64
    )  # a look-up; a search would take ten times as long
    place_of[held.docs] = np.arange(held.docs.size)
    places = Candidates(place_of[candidates.a], place_of[candidates.b])
    if recipe.verify == "estimate":
        pairs = estimate(places, held.signatures, threshold=threshold, threads=threads)
    else:
        pairs = verify(places, held.shingles, threshold=threshold, threads=threads)
    return Pairs(held.docs[pairs.a], held.docs[pairs.b], pairs.similarity)


def settle(
    pairs: Pairs, firsts: I64, order: I64, recipe: Recipe, compare_all: Callable[[Candidates], Pairs]
) -> Clusters:
    """Return which document is kept in whose stead.

    firsts: int64[n_docs], the first exact copy of each document. order: int64[n_docs], the most preferred first.
    compare_all: the similarities of pairs of first copies, whatever they are; asked only about members of a component
        that were never verified against its representative.
    """
    clusters = WAYS[recipe.cluster](pairs, firsts, order)
    open_docs = np.flatnonzero(np.isnan(clusters.similarity))
    if open_docs.size:
        ends = np.sort(np.stack((firsts[open_docs], firsts[clusters.kept_doc[open_docs]])), axis=0)
        clusters.similarity[open_docs] = compare_all(Candidates(ends[0], ends[1])).similarity
    return clusters


def shingles_in_order(texts: Texts, recipe: Recipe) -> Shingles:
    """Return the shingle hashes of texts in text order, with repeats."""
    return shingle(
        units(clean(_plain(texts, recipe), recipe), recipe), ngram=recipe.ngram, lonely_bit=lonely_bit(recipe)
    )


def _ahead(started: Iterable[Iterator[R]]) -> Iterator[R]:
    """Yield the results of work in the order it was started, having started the next before waiting for any."""
    waiting: Iterator[R] = iter(())
    for results in started:
        yield from waiting
        waiting = results
    yield from waiting


def _plain(texts: Texts, recipe: Recipe) -> Texts:
    return strip_markup(texts) if recipe.strip_html else texts


def _sign_slice(texts: Texts, recipe: Recipe) -> Signed:
    cleaned = clean(_plain(texts, recipe), recipe)
    shingles = shingle(units(cleaned, recipe), ngram=recipe.ngram, lonely_bit=lonely_bit(recipe))
    keys = band_keys(FAMILIES[recipe.sketch](shingles, recipe.num_perm), bands=recipe.cut.bands, rows=recipe.cut.rows)
    by_length = recipe.keep in ("longest", "shortest")
    lengths = code_point_counts(texts) if by_length else np.zeros(texts.offsets.size - 1, np.int64)
    return Signed(keys, content_hashes(cleaned), np.diff(shingles.offsets), lengths)


def _evidence_slice(texts: Texts, recipe: Recipe) -> Evidence:
    docs = np.arange(texts.offsets.size - 1)
    shingles = shingles_in_order(texts, recipe)
    if recipe.verify == "estimate":
        nothing = Shingles(np.empty(0, np.uint64), np.zeros_like(shingles.offsets))
        return Evidence(docs, nothing, FAMILIES[recipe.sketch](shingles, recipe.num_perm))
    return Evidence(docs, distinct(shingles), np.empty((0, recipe.num_perm), np.uint32))


def _slices(texts: Texts) -> list[Texts]:
    """Return the texts in runs of about _SLICE_BYTES, at least one text each."""
    ends = texts.offsets
    marks = np.searchsorted(ends, np.arange(ends[0] + _SLICE_BYTES, ends[-1], _SLICE_BYTES))
    cuts = np.unique(np.concatenate(([0], marks, [ends.size - 1])))
    return [Texts(texts.data, ends[start : end + 1]) for start, end in pairwise(cuts)]
