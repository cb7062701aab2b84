"""What is known of all texts before the first is signed: in how many of them each shingle is found.

For recipes that weigh shingles by how rare they are, or leave out those that too many texts have.
"""

import bisect
import functools
from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.kernel import Threads
from neardup.lexicon import starts_of
from neardup.pipeline import in_slices, plain, shingles_between, shingles_in_order, shingles_of
from neardup.recipe import Recipe
from neardup.schema import U64, Background, CleanTexts, Frequencies, Shingles, Texts, texts_of
from neardup.steps.clean import LONELY, clean, content_hashes
from neardup.steps.frequency import Seen, count, directory_of, frequent, merge, merge_runs, repeated
from neardup.steps.shingle import distinct

_COUNT_AT: Final = 1 << 23  # shingles held before they are counted
_EXAMPLES: Final = 20  # shingles whose text is shown


def count_frequencies(columns: Iterable[pa.LargeBinaryArray], recipe: Recipe, threads: Threads) -> Frequencies:
    """Return in how many texts each shingle is found, those found once left out; equal clean texts count once."""
    seen = Seen()
    runs: list[Frequencies] = []
    held: list[U64] = []
    n_docs = 0
    for content, shingles in in_slices(lambda texts: _shingles_once(texts, recipe), columns, threads):
        is_new = seen.add(content[0]) & (np.diff(shingles.offsets) > 0)
        n_docs += int(is_new.sum())
        held.append(shingles.hashes[np.repeat(is_new, np.diff(shingles.offsets))])
        if sum(part.size for part in held) > _COUNT_AT:
            runs = merge_runs([*runs, count(np.concatenate(held), 0)])
            held = []
    runs.append(count(np.concatenate([np.empty(0, np.uint64), *held]), n_docs))
    return repeated(functools.reduce(merge, reversed(runs)))


def background(frequencies: Frequencies, recipe: Recipe) -> Background:
    """Return what signing wants to know of the frequencies."""
    nothing = np.empty(0, np.uint64)
    dropped = nothing if recipe.max_df is None else frequent(frequencies, recipe.max_df)
    return Background(frequencies, directory_of(frequencies), dropped)


def _shingles_once(texts: Texts, recipe: Recipe) -> tuple[U64, Shingles]:
    """Return the content hashes of texts, and their distinct shingles."""
    cleaned = clean(plain(texts, recipe), recipe)
    shingles = shingles_of(cleaned, recipe)
    return content_hashes(cleaned), distinct(shingles)


def examples_of_frequent(columns: Iterable[pa.LargeBinaryArray], known: Background, recipe: Recipe) -> dict[str, int]:
    """Return the texts of the most frequent shingles that do not count, with in how many texts each was found."""
    places = np.searchsorted(known.frequencies.hashes, known.frequent)
    counts = known.frequencies.counts[places]
    wanted = known.frequent[np.argsort(-counts, kind="stable")[:_EXAMPLES]]
    found: dict[int, str] = {}
    for column in columns if wanted.size else ():
        missing = [value for value in wanted.tolist() if value not in found]
        if not missing:
            break
        texts = texts_of(column)
        shingles = shingles_in_order(texts, recipe)
        for place in np.flatnonzero(np.isin(shingles.hashes, np.array(missing, np.uint64))):
            value = int(shingles.hashes[place])
            if value not in found:
                doc = int(np.searchsorted(shingles.offsets, place, side="right")) - 1
                text = Texts(texts.data, texts.offsets[doc : doc + 2])
                found[value] = _text_of(value, clean(plain(text, recipe), recipe), recipe)
    shown = dict(zip(known.frequent.tolist(), counts.tolist(), strict=True))
    return {found[value]: shown[value] for value in wanted.tolist() if value in found}


def _text_of(value: int, cleaned: CleanTexts, recipe: Recipe) -> str:
    """Return the part of a clean text that is the shingle of this hash: the shortest that has it."""
    starts = starts_of(cleaned, recipe)

    def has(start: int, end: int) -> bool:
        part = CleanTexts(cleaned.points[start:end], np.array([0, end - start]))
        return value in shingles_between(part, starts[start:end], recipe).hashes

    n_points = cleaned.points.size
    end = bisect.bisect_left(range(n_points), True, key=lambda end: has(0, end))  # noqa: FBT003  # what is looked for
    start = bisect.bisect_left(range(end), True, key=lambda left: not has(left, end)) - 1  # noqa: FBT003  # as above
    return "".join(map(chr, (cleaned.points[start:end] & ~LONELY).tolist()))
