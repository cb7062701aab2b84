"""The steps as functions over a few texts, for people who build their own.

`shingles` and `signatures` return what passes between the steps; `similarity` compares two texts.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from neardup.pipeline import shingles_in_order, texts_of
from neardup.recipe import Recipe
from neardup.schema import U32, Shingles, Texts
from neardup.steps.shingle import distinct
from neardup.steps.sketch import FAMILIES


class Similarity(float):
    """The exact similarity of two texts, a number; `estimate` is what their signatures say."""

    estimate: float

    def __new__(cls, exact: float, estimate: float) -> "Similarity":  # noqa: PYI034  # not meant to be subclassed
        """Return the exact similarity, with the estimate beside it."""
        number = super().__new__(cls, exact)
        number.estimate = estimate
        return number

    def __repr__(self) -> str:
        return f"Similarity({float(self)!r}, estimate={self.estimate!r})"


def shingles(texts: Iterable[str], recipe: Recipe = Recipe()) -> Shingles:
    """Return the shingle hashes of texts: `hashes` uint64, distinct and ascending within a text, and `offsets` int64.

    The hashes of text i are hashes[offsets[i]:offsets[i + 1]]; none where a text has no shingle.
    """
    return distinct(shingles_in_order(_texts(texts), recipe))


def signatures(texts: Iterable[str], recipe: Recipe = Recipe()) -> U32:
    """Return uint32[n_docs, num_perm]: the signatures of texts; meaningless where a text has no shingle."""
    return FAMILIES[recipe.sketch](shingles_in_order(_texts(texts), recipe), recipe.num_perm)


def similarity(a: str, b: str, recipe: Recipe = Recipe()) -> Similarity:
    """Return the exact Jaccard similarity of two texts, beside the estimate of their signatures (`.estimate`).

    A text without shingles is similar to nothing: 0.0, both ways.
    """
    hashes, (start, middle, end) = shingles([a, b], recipe)
    if middle in (start, end):
        return Similarity(0.0, 0.0)
    shared = np.intersect1d(hashes[:middle], hashes[middle:], assume_unique=True).size
    one, other = signatures([a, b], recipe)
    return Similarity(shared / (hashes.size - shared), float(np.mean(one == other)))


def _texts(texts: Iterable[str]) -> Texts:
    return texts_of(_column(texts))


def _column(texts: Iterable[str]) -> pa.LargeBinaryArray:
    if isinstance(texts, str):
        raise TypeError("texts is a list of str, not one str; put it in a list.")
    return pa.array([_encoded(text) for text in texts], pa.large_binary())


def _encoded(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}.")
    return text.encode("utf-8", "surrogatepass")
