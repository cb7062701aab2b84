"""The steps as functions over a few texts, for people who build their own.

`shingles` and `signatures` return what passes between the steps; `similarity` compares two texts.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from neardup.background import background
from neardup.errors import UsageError
from neardup.kernel import Threads
from neardup.pipeline import compare, counted_shingles, evidence, signatures_of
from neardup.recipe import Recipe
from neardup.records.frequencies import load_frequencies
from neardup.schema import Background, Candidates, Shingles, Texts, Values, texts_of
from neardup.steps.shingle import distinct


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

    The hashes of text i are hashes[offsets[i]:offsets[i + 1]]; none where a text has no shingle that counts.
    """
    return distinct(counted_shingles(_texts(texts), recipe, _known(recipe)))


def signatures(texts: Iterable[str], recipe: Recipe = Recipe()) -> Values:
    """Return the signatures of texts; meaningless where a text has no shingle.

    uint32[n_docs, num_perm]; of simhash uint64[n_docs, num_perm / 64], its bits.
    """
    known = _known(recipe)
    return signatures_of(counted_shingles(_texts(texts), recipe, known), recipe, known)


def similarity(a: str, b: str, recipe: Recipe = Recipe()) -> Similarity:
    """Return the exact similarity of two texts, beside the estimate of their signatures (`.estimate`).

    Jaccard, or the generalized Jaccard where the recipe has weights. A text without shingles is similar to nothing:
    0.0, both ways.
    """
    known = _known(recipe)
    column = _column([a, b])
    pair = Candidates(np.array([0]), np.array([1]))
    with Threads(1) as threads:
        counts = np.diff(counted_shingles(texts_of(column), recipe, known).offsets)
        if not counts.all():
            return Similarity(0.0, 0.0)
        exact, estimate = (
            compare(
                pair,
                evidence(np.arange(2), [column], int(counts.sum()), way, threads, known),
                way,
                threads,
                threshold=0.0,
            )
            for way in (recipe.replace(verify="exact"), recipe.replace(verify="estimate", verify_threshold=None))
        )
    return Similarity(float(exact.similarity[0]), float(estimate.similarity[0]))


def _known(recipe: Recipe) -> Background | None:
    """Return what is known of all texts: from the file that the recipe names, for there are no others to count."""
    if recipe.sketch == "hyperplane":
        raise UsageError("sketch = 'hyperplane' compares vectors, not shingles; neardup.dedup does.")
    if not recipe.wants_frequencies:
        return None
    if recipe.frequencies is None:
        raise UsageError(
            "a few texts do not tell how common a shingle is: give the recipe frequencies = 'FILE', as "
            "--save-frequencies writes it."
        )
    return background(load_frequencies(recipe.frequencies, recipe), recipe)


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
