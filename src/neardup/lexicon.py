"""The words that a recipe knows of besides the texts: those it adds to the dictionary, and those that do not count.

Such words are cleaned as texts are, so that 'Ｔ恤' in a list and 't恤' in a text are one word.
"""

import functools
import re
import threading
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.recipe import Recipe, stopwords_path
from neardup.records.wordlists import load_stopwords, load_user_words
from neardup.schema import JIEBA_HAN, U64, Bools, CleanTexts, Units, texts_of
from neardup.steps.clean import LONELY, clean
from neardup.steps.segment import Segmenter, segmenter, word_starts
from neardup.steps.words import hash_table, pass_over, units, whole_units

_CHINESE: Final = re.compile(r"\S*[{}-{}]\S*".format(*map(chr, JIEBA_HAN)))  # what may be a word in a clean text
_LOADING: Final = threading.Lock()


def starts_of(cleaned: CleanTexts, recipe: Recipe) -> Bools:
    """Return bool[n_points]: where Chinese words may begin; empty for units that take no notice of it.

    Raises:
        InputError: the dictionary that the recipe names cannot be read, or has no word.
        MissingExtraError: a text has Chinese words, and what cuts them is not installed.
    """
    if recipe.unit != "word":
        return np.empty(0, np.bool_)
    return word_starts(cleaned, functools.partial(_segmenter_of, recipe))


def units_of(cleaned: CleanTexts, starts: Bools, recipe: Recipe) -> Units:
    """Return the units of clean texts, those that are stop words marked as lonely. starts: as `starts_of` has them.

    Raises:
        InputError: the list of stop words that the recipe names cannot be read.
    """
    found = units(cleaned, recipe, starts)
    return found if recipe.stopwords is None else pass_over(found, _stop_words_of(recipe, recipe.stopwords))


def _segmenter_of(recipe: Recipe) -> Segmenter:
    with _LOADING:
        if recipe.user_dict is None:
            return _segmenter()
        path = Path(recipe.user_dict)
        return _segmenter_with(recipe, path, state_of(path))


@functools.lru_cache(maxsize=1)
def _segmenter() -> Segmenter:
    return segmenter(())


@functools.lru_cache(maxsize=2)
def _segmenter_with(recipe: Recipe, path: Path, _state: object) -> Segmenter:
    given = load_user_words(path)
    points, offsets = clean_words([one.word for one in given], recipe)
    words = ["".join(map(chr, (points[a:b] & ~LONELY).tolist())) for a, b in pairwise(offsets)]
    usable = [one._replace(word=word) for one, word in zip(given, words, strict=True) if _CHINESE.fullmatch(word)]
    if given and not usable:
        raise InputError(
            f"{path}: none of its {len(given):,} lines has a Chinese word; the form is `word [frequency] [tag]`, "
            "parted by single spaces."
        )
    return segmenter(usable)


def _stop_words_of(recipe: Recipe, name: str) -> U64:
    path = stopwords_path(name)
    with _LOADING:
        return _stop_words_in(recipe, path, state_of(path))


@functools.lru_cache(maxsize=4)
def _stop_words_in(recipe: Recipe, path: Path, _state: object) -> U64:
    return hash_table(whole_units(clean_words(load_stopwords(path), recipe), recipe))


def clean_words(words: list[str], recipe: Recipe) -> CleanTexts:
    """Return words of a list, cleaned as texts are."""
    return clean(texts_of(pa.array([word.encode() for word in words], pa.large_binary())), recipe)


def state_of(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file does, so that an edited list is read anew; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
