"""Bands from a threshold and a promised recall, and the S-curve. Plain mathematics, no arrays of documents.

Symbols as in Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3rd ed., 3.4.2: a signature is cut into b bands
of r rows; two documents of similarity s share the values of one row with probability s, a whole band with s^r, and at
least one band with 1 - (1 - s^r)^b. That probability, plotted against s, is the S-curve.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from neardup.errors import RecipeError


class Bands(NamedTuple):
    """How a signature is cut: `bands` bands of `rows` rows each; the rest of the signature is unused."""

    bands: int
    rows: int


def s_curve(similarity: float, bands: int, rows: int) -> float:
    """Return the chance that two documents of this similarity share at least one band."""
    return float(1.0 - (1.0 - similarity**rows) ** bands)


def approximate_threshold(bands: int, rows: int) -> float:
    """Return (1/b)^(1/r), the similarity near which the S-curve is steepest (3.4.2 of the source above)."""
    return float((1.0 / bands) ** (1.0 / rows))


@functools.lru_cache(maxsize=1024)
def choose_bands(threshold: float, recall: float, num_perm: int) -> Bands:
    """Return the bands that keep the promised recall at the threshold with the least expected candidate work.

    The work is the area under the S-curve below the threshold: pairs that meet and turn out not to be similar.

    Raises:
        RecipeError: no bands of `num_perm` values keep the promise; the text says how many values would.
    """
    feasible = [
        Bands(bands, rows)
        for rows in range(1, num_perm + 1)
        if (bands := _least_bands(threshold, recall, rows)) * rows <= num_perm
    ]
    if not feasible:
        needed = _least_bands(threshold, recall, 1)
        raise RecipeError(
            f"{num_perm} values per signature cannot promise recall {recall:g} at threshold {threshold:g}: "
            f"that takes num_perm of {needed:,}. Raise num_perm (at most 1,024) or the threshold, or promise less."
        )
    return min(feasible, key=lambda cut: (_area_below(threshold, *cut), cut.bands))


def _least_bands(threshold: float, recall: float, rows: int) -> int:
    """Return the fewest bands of this many rows that keep the promise: the least b with 1 - (1 - t^r)^b >= recall."""
    share = threshold**rows
    if share >= 1.0:
        return 1
    if share < 1e-18:
        return 1 << 62
    return max(1, math.ceil(math.log1p(-recall) / math.log1p(-share)))


def _area_below(threshold: float, bands: int, rows: int) -> float:
    similarities = np.linspace(0.0, threshold, 101)
    return float(np.mean(1.0 - (1.0 - similarities**rows) ** bands) * threshold)
