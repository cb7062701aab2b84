"""What every engine does alike, so that equal results are true by construction.

`sign` takes texts to band keys (steps 1 to 4), `evidence` and `compare` candidate pairs to similarities (step 5),
`settle` verified pairs to clusters (step 6). An engine is a way to bring equal band keys together in between.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.kernel import Threads
from neardup.lexicon import starts_of, units_of
from neardup.recipe import Recipe
from neardup.schema import (
    I64,
    U32,
    U64,
    Background,
    Bools,
    Candidates,
    CleanTexts,
    Clusters,
    Pairs,
    Shingles,
    Signed,
    Texts,
    Values,
    Weighted,
    texts_of,
)
from neardup.steps.blocks import choose_blocks, table_keys, table_masks
from neardup.steps.candidates import Near, Tables, band_keys
from neardup.steps.clean import clean, code_point_counts, content_hashes
from neardup.steps.cluster import WAYS
from neardup.steps.frequency import drop, inverse
from neardup.steps.markup import strip_markup
from neardup.steps.shingle import distinct, shingle
from neardup.steps.sketch import FAMILIES, VECTOR_FAMILIES, WEIGHTED_FAMILIES
from neardup.steps.verify import estimate, verify, verify_vectors, verify_weighted
from neardup.steps.weigh import weigh
from neardup.steps.words import lonely_bit
from neardup.vectors import vectors_from

R = TypeVar("R")

# What passes from kernel to kernel of a slice, some 12 bytes a byte of text, should stay in a core's own cache.
_SLICE_BYTES = 256 << 10


class Evidence(NamedTuple):
    """What candidate pairs are compared by, ragged: distinct shingles, with weights or without, or signatures.

    docs: int64[n]; the documents it holds, ascending.
    values: arrays of one length each; those of document i are array[offsets[i]:offsets[i + 1]].
    offsets: int64[n + 1], starting at 0.
    """

    docs: I64
    values: tuple[Values, ...]
    offsets: I64


def sign(
    columns: Iterable[pa.LargeBinaryArray], recipe: Recipe, threads: Threads, known: Background | None = None
) -> Iterator[Signed]:
    """Yield the signed documents of columns of texts, some at a time. known: for recipes that want frequencies."""
    return in_slices(lambda texts: _sign_slice(texts, recipe, known), columns, threads)


def evidence(  # what is compared, how, and by whom
    docs: I64,
    columns: Iterable[pa.LargeBinaryArray],
    n_shingles: int,
    recipe: Recipe,
    threads: Threads,
    known: Background | None = None,
) -> Evidence:
    """Return what these documents are compared by.

    columns: their texts, in the order of docs. n_shingles: at most how many shingles they have, with repeats.
    """
    values: tuple[Values, ...] = ()
    offsets = np.zeros(docs.size + 1, np.int64)
    at = 0
    doc = 0
    for part in in_slices(lambda texts: _evidence_slice(texts, recipe, known), columns, threads):
        if not values:
            # Only what is written to is really there; joining arrays at the end would take it twice.
            n_values = n_shingles if recipe.verify == "exact" else docs.size * int(part.offsets[1])
            values = tuple(np.empty(n_values, array.dtype) for array in part.values)
        n_docs = part.docs.size
        for array, its in zip(values, part.values, strict=True):
            array[at : at + its.size] = its
        offsets[doc + 1 : doc + 1 + n_docs] = at + part.offsets[1:]
        at += int(part.offsets[-1])
        doc += n_docs
    return Evidence(docs, tuple(array[:at] for array in values), offsets)


def compare(candidates: Candidates, held: Evidence, recipe: Recipe, threads: Threads, *, threshold: float) -> Pairs:
    """Return the candidate pairs at or above the threshold with their similarity; with threshold 0.0 all of them."""
    if not candidates.a.size:
        return Pairs(*candidates, np.empty(0, np.float64))
    place_of = np.zeros(
        int(held.docs.max(initial=-1)) + 1, np.int64
    )  # a look-up; a search would take ten times as long
    place_of[held.docs] = np.arange(held.docs.size)
    places = Candidates(place_of[candidates.a], place_of[candidates.b])
    if recipe.verify == "estimate":
        signatures = held.values[0].reshape(held.docs.size, -1)
        pairs = estimate(places, signatures, threshold=threshold, threads=threads)
    elif recipe.sketch in VECTOR_FAMILIES:
        vectors = held.values[0].reshape(held.docs.size, -1)
        pairs = verify_vectors(places, vectors, threshold=threshold, threads=threads)
    elif recipe.weighting != "none":
        pairs = verify_weighted(
            places, Weighted(held.values[0], held.values[1], held.offsets), threshold=threshold, threads=threads
        )
    else:
        pairs = verify(places, Shingles(held.values[0], held.offsets), threshold=threshold, threads=threads)
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


def tables(keys: Callable[[int], Iterator[U64]], docs: I64, recipe: Recipe, n_parts: int) -> Tables:
    """Return by which keys documents meet, each known by its place in docs.

    keys: gives a row of the keys of all documents, in pieces one after the other. n_parts: in how many parts a table
    is to come.
    """
    if recipe.sketch == "simhash":
        words = words_of(keys, docs, recipe)
        bits, distance = recipe.num_perm, recipe.most_distance
        agreeing = choose_blocks(docs.size, bits=bits, distance=distance)
        masks = table_masks(bits=bits, distance=distance, agreeing=agreeing)

        def keys_of(table: int, part: int) -> tuple[U64, I64]:
            return _part_of(table_keys(words, masks[table]), 0, part, n_parts)

        return Tables(masks.shape[0], n_parts, keys_of, docs.size, Near(words, distance))

    def band_keys_of(band: int, part: int) -> tuple[U64, I64]:
        pieces = [_part_of(chosen, place, part, n_parts) for place, chosen in _chosen(keys(band), docs)]
        return np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])

    return Tables(recipe.cut.bands, n_parts, band_keys_of, docs.size, None)


def parted(tables: Tables, groups: U64) -> Tables:
    """Return the tables in which documents of different groups do not meet, but by chance. groups: by place."""

    def keys_of(table: int, part: int) -> tuple[U64, I64]:
        keys, places = tables.keys_of(table, part)
        return keys ^ groups[places], places

    return tables._replace(keys_of=keys_of)


def words_of(keys: Callable[[int], Iterator[U64]], docs: I64, recipe: Recipe) -> U64:
    """Return uint64[num_perm / 64, n]: the signatures of bits of some documents."""
    rows = [np.concatenate([chosen for _, chosen in _chosen(keys(row), docs)]) for row in range(n_keys(recipe))]
    return np.stack(rows)


def _chosen(pieces: Iterable[U64], docs: I64) -> Iterator[tuple[int, U64]]:
    """Yield the values of some documents (ascending) from those of all, each time with the place of the first."""
    first = 0
    for piece in pieces:
        low, high = np.searchsorted(docs, (first, first + piece.size))
        yield int(low), piece[docs[low:high] - first]
        first += piece.size


def _part_of(keys: U64, place: int, part: int, n_parts: int) -> tuple[U64, I64]:
    """Return those of the keys that are in a part of their table, with their places; `place` is the first one's."""
    if n_parts == 1:
        return keys, np.arange(place, place + keys.size)
    chosen = np.flatnonzero((keys >> np.uint64(32)) % np.uint64(n_parts) == part)
    return keys[chosen], place + chosen


def evidence_of_words(docs: I64, words: U64) -> Evidence:
    """Return signatures of bits as evidence. words: uint64[n_words, n_docs], of these documents."""
    return Evidence(docs, (np.ascontiguousarray(words.T).ravel(),), np.arange(docs.size + 1) * words.shape[0])


def shingles_in_order(texts: Texts, recipe: Recipe) -> Shingles:
    """Return the shingle hashes of texts in text order, with repeats."""
    return shingles_of(clean(plain(texts, recipe), recipe), recipe)


def shingles_of(cleaned: CleanTexts, recipe: Recipe) -> Shingles:
    """Return the shingle hashes of clean texts in text order, with repeats."""
    return shingles_between(cleaned, starts_of(cleaned, recipe), recipe)


def shingles_between(cleaned: CleanTexts, starts: Bools, recipe: Recipe) -> Shingles:
    """Return the same where it is known already where Chinese words begin: a part of a text is cut as the whole is."""
    return shingle(units_of(cleaned, starts, recipe), ngram=recipe.ngram, lonely_bit=lonely_bit(recipe))


def in_slices(work: Callable[[Texts], R], columns: Iterable[pa.LargeBinaryArray], threads: Threads) -> Iterator[R]:
    """Yield what work makes of slices of columns, in order; the next column is read while threads work on the last."""
    return _ahead(threads.start(work, _slices(texts_of(column))) for column in columns)


def _ahead(started: Iterable[Iterator[R]]) -> Iterator[R]:
    """Yield the results of work in the order it was started, having started the next before waiting for any."""
    waiting: Iterator[R] = iter(())
    for results in started:
        yield from waiting
        waiting = results
    yield from waiting


def plain(texts: Texts, recipe: Recipe) -> Texts:
    """Return the texts without markup, where the recipe says so."""
    return strip_markup(texts) if recipe.strip_html else texts


def signatures_of(shingles: Shingles, recipe: Recipe, known: Background | None) -> Values:
    """Return the signatures of texts from their shingles in text order: values, or words of bits."""
    if recipe.sketch in WEIGHTED_FAMILIES:
        return WEIGHTED_FAMILIES[recipe.sketch](weights_of(shingles, recipe, known), recipe.num_perm)
    return FAMILIES[recipe.sketch](shingles, recipe.num_perm)


def weights_of(shingles: Shingles, recipe: Recipe, known: Background | None) -> Weighted:
    """Return the distinct shingles of texts with the weights of the recipe."""
    rarity = None
    if recipe.weighting == "tfidf":
        assert known is not None
        rarity = functools.partial(inverse, frequencies=known.frequencies, directory=known.directory)
    return weigh(shingles, counts=recipe.weighting != "none", rarity=rarity)


def n_keys(recipe: Recipe) -> int:
    """Return how many 64-bit keys a signed document has: one a band, or the words of its bits."""
    return recipe.num_perm // 64 if recipe.sketch == "simhash" else recipe.cut.bands


def counted_shingles(texts: Texts, recipe: Recipe, known: Background | None) -> Shingles:
    """Return the shingle hashes of texts in text order, with repeats, but those that too many texts have."""
    return _counted(shingles_in_order(texts, recipe), known)


def _counted(shingles: Shingles, known: Background | None) -> Shingles:
    return shingles if known is None else drop(shingles, known.frequent)


def _sign_slice(texts: Texts, recipe: Recipe, known: Background | None) -> Signed:
    if recipe.sketch in VECTOR_FAMILIES:
        return _sign_vectors(texts, recipe)
    cleaned = clean(plain(texts, recipe), recipe)
    shingles = shingles_of(cleaned, recipe)
    n_shingles = np.diff(shingles.offsets).astype(np.uint32)
    shingles = _counted(shingles, known)
    signatures = signatures_of(shingles, recipe, known)
    if recipe.sketch == "simhash":
        keys: U64 = np.ascontiguousarray(signatures.T)
    else:
        keys = band_keys(signatures, bands=recipe.cut.bands, rows=recipe.cut.rows)
    n_counted = np.diff(shingles.offsets).astype(np.uint32)
    return Signed(keys, content_hashes(cleaned), n_shingles, n_counted, _lengths(texts, recipe))


def _sign_vectors(texts: Texts, recipe: Recipe) -> Signed:
    vectors, cleaned = vectors_from(plain(texts, recipe), recipe)
    signatures = VECTOR_FAMILIES[recipe.sketch](vectors, recipe.num_perm)
    keys = band_keys(signatures, bands=recipe.cut.bands, rows=recipe.cut.rows)
    sizes = np.where(vectors.any(axis=1), vectors.shape[1], 0).astype(np.uint32)  # a zero vector points nowhere
    return Signed(keys, content_hashes(cleaned), sizes, sizes, _lengths(texts, recipe))


def _lengths(texts: Texts, recipe: Recipe) -> U32:
    """Return uint32[n_docs]: the code points of texts; zeros unless the keep policy looks at them."""
    by_length = recipe.keep in ("longest", "shortest")
    return code_point_counts(texts).astype(np.uint32) if by_length else np.zeros(texts.offsets.size - 1, np.uint32)


def _evidence_slice(texts: Texts, recipe: Recipe, known: Background | None) -> Evidence:
    docs = np.arange(texts.offsets.size - 1)
    if recipe.sketch in VECTOR_FAMILIES:
        vectors, _ = vectors_from(plain(texts, recipe), recipe)
        return Evidence(docs, (vectors.ravel(),), np.arange(docs.size + 1) * vectors.shape[1])
    shingles = counted_shingles(texts, recipe, known)
    if recipe.verify == "estimate":
        signatures = signatures_of(shingles, recipe, known)
        return Evidence(docs, (signatures.ravel(),), np.arange(docs.size + 1) * signatures.shape[1])
    if recipe.weighting != "none":
        hashes, weights, offsets = weights_of(shingles, recipe, known)
        return Evidence(docs, (hashes, weights), offsets)
    hashes, offsets = distinct(shingles)
    return Evidence(docs, (hashes,), offsets)


def _slices(texts: Texts) -> list[Texts]:
    """Return the texts in runs of about _SLICE_BYTES, at least one text each."""
    ends = texts.offsets
    marks = np.searchsorted(ends, np.arange(ends[0] + _SLICE_BYTES, ends[-1], _SLICE_BYTES))
    cuts = np.unique(np.concatenate(([0], marks, [ends.size - 1])))
    return [Texts(texts.data, ends[start : end + 1]) for start, end in pairwise(cuts)]
