"""The vectors that texts are compared by: those of a column, or the vectors of their words added up.

Words are cleaned as texts are, and parted as texts are; a word of a file that is then several is left out.
"""

import functools
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.errors import InputError, MissingExtraError
from neardup.lexicon import clean_words, starts_of, state_of, units_of
from neardup.recipe import Recipe
from neardup.records.wordlists import load_word_vectors
from neardup.schema import F32, CleanTexts, Texts, vectors_of
from neardup.steps.clean import clean
from neardup.steps.embed import WordVectors, embed

_LOADING: Final = threading.Lock()


def vectors_from(texts: Texts, recipe: Recipe) -> tuple[F32, CleanTexts]:
    """Return float32[n_docs, dimension], the vectors of texts without markup, and what is equal for exact copies.

    Raises:
        InputError: the vectors that the recipe names cannot be read.
        MissingExtraError: they are a folder of Model2Vec, and that is not installed.
    """
    if recipe.vectors is None:
        vectors = vectors_of(texts)
        ends = np.arange(vectors.shape[0] + 1) * vectors.shape[1]
        return vectors, CleanTexts(np.ascontiguousarray(vectors).view(np.uint32).ravel(), ends)
    cleaned = clean(texts, recipe)
    path = Path(recipe.vectors)
    state = state_of(path)
    with _LOADING:
        model = _model(path, state) if path.is_dir() else _word_vectors(path, recipe, state)
    if isinstance(model, WordVectors):
        return embed(units_of(cleaned, starts_of(cleaned, recipe), recipe), model), cleaned
    strings = [
        texts.data[start:end].tobytes().decode("utf-8", "replace") for start, end in pairwise(texts.offsets.tolist())
    ]
    found = model.encode(strings, max_length=None, use_multiprocessing=False)
    return np.ascontiguousarray(found, np.float32), cleaned


@functools.lru_cache(maxsize=2)
def _word_vectors(path: Path, recipe: Recipe, _state: object) -> WordVectors:
    words, rows = load_word_vectors(path)
    cleaned = clean_words(words, recipe)
    units = units_of(cleaned, starts_of(cleaned, recipe), recipe)
    alone = np.flatnonzero(np.diff(units.offsets) == 1)
    hashes, first = np.unique(units.values[units.offsets[alone]].astype(np.uint64), return_index=True)
    if not hashes.size:
        raise InputError(f"{path}: none of its {len(words):,} words is one word of unit = {recipe.unit!r}.")
    return WordVectors(hashes, np.ascontiguousarray(rows[alone[first]]))


@functools.lru_cache(maxsize=1)
def _model(path: Path, _state: object) -> Any:  # noqa: ANN401  # model2vec is not imported
    try:
        from model2vec import StaticModel  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: a folder of Model2Vec is read by model2vec, which is not installed: pip install "
            "'neardup[vectors]', or give a text file in the form of word2vec, which needs nothing."
        ) from error
    try:
        return StaticModel.from_pretrained(str(path), force_download=False)
    except Exception as error:  # whatever its parsers raise
        raise InputError(f"{path}: not a folder that Model2Vec saved: {error}") from error
