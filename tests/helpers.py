"""What several tests need: texts as arrays, pairs as dictionaries."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from neardup.schema import CleanTexts, Pairs, Shingles, Texts, texts_of
from neardup.steps.clean import LONELY


def as_texts(texts: list[str]) -> Texts:
    """Return texts as the steps take them."""
    return texts_of(pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary()))


def as_strings(cleaned: CleanTexts) -> list[str]:
    """Return clean texts as strings."""
    points = cleaned.points & ~LONELY
    ends = cleaned.offsets
    return ["".join(map(chr, points[a:b])) for a, b in pairwise(ends)]


def as_shingles(sets: list[set[int]]) -> Shingles:
    """Return sets of hashes as the shingles of documents, distinct and ascending."""
    hashes = np.array([value for one in sets for value in sorted(one)], np.uint64)
    return Shingles(hashes, np.cumsum([0, *map(len, sets)]))


def as_sets(shingles: Shingles) -> list[set[int]]:
    """Return the shingles of documents as sets."""
    ends = shingles.offsets
    return [set(shingles.hashes[a:b].tolist()) for a, b in pairwise(ends)]


def as_pairs(found: dict[tuple[int, int], float]) -> Pairs:
    """Return a dictionary of pairs as arrays, ascending."""
    keys = sorted(found)
    a, b = np.array(keys, np.int64).reshape(-1, 2).T
    return Pairs(a.copy(), b.copy(), np.array([found[key] for key in keys]))


def as_dict(pairs: Pairs) -> dict[tuple[int, int], float]:
    """Return pairs as a dictionary."""
    return dict(zip(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True), pairs.similarity.tolist(), strict=True))
