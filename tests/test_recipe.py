"""The recipe: what it refuses, how it is saved, and that no field is without effect."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from neardup.errors import RecipeError, UsageError
from neardup.recipe import PRESETS, Recipe, choices


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"threshold": 0.0}, "threshold is a share above 0 and at most 1 (0.8, not 80), not 0."),
        ({"threshold": 80}, "not 80."),
        ({"threshold": float("nan")}, "not nan."),
        ({"threshold": 1.0000001}, "threshold is a share"),
        ({"threshold": -0.1}, "not -0.1."),
        ({"threshold": "0,8"}, "threshold is a share such as 0.8, not '0,8'."),
        ({"threshold": 1e-9}, "cannot promise recall 0.99 at threshold 1e-09"),
        ({"recall": 1.0}, "recall is a share above 0 and below 1 (0.99), not 1."),
        ({"ngram": 0}, "ngram is a whole number from 1 to 32, not 0."),
        ({"ngram": 33}, "not 33."),
        ({"ngram": 10**18}, "not 1,000,000,000,000,000,000."),
        ({"ngram": "5.5"}, "ngram is a whole number, not '5.5'."),
        ({"ngram": True}, "ngram is a whole number, not True."),
        ({"num_perm": 63}, "num_perm is a whole number from 64 to 1,024, not 63."),
        ({"num_perm": 10**9}, "num_perm is a whole number from 64 to 1,024"),
        ({"bands": 7}, "bands and rows are given together"),
        ({"bands": 0, "rows": 4}, "bands and rows are at least 1 each"),
        ({"bands": 13, "rows": 60}, "13 bands of 60 rows take 13 x 60 = 780 values, but a signature has 128."),
        ({"verify_threshold": 0.7}, "verify_threshold is a share from threshold, 0.8, to 1, not 0.7."),
        ({"max_df": 1.0}, "max_df is a share of the texts above 0 and below 1 (0.1), not 1.0."),
        ({"weights": "tfidf"}, "weights = 'tfidf' goes with sketch = 'weighted' or 'simhash', not 'minhash'."),
        ({"sketch": "weighted", "weights": "none"}, "goes with weights = 'count' or 'tfidf'; 'minhash' is its like"),
        ({"frequencies": "f.parquet"}, "frequencies goes with weights = 'tfidf' or with max_df"),
        ({"frequencies": 5}, "frequencies is a text, not 5."),
        ({"distance": 3}, "distance goes with sketch = 'simhash', not 'minhash'; threshold does for others."),
        ({"sketch": "simhash", "distance": 15}, "distance is a whole number from 0 to 14, not 15."),
        ({"sketch": "simhash", "num_perm": 64, "distance": 8}, "distance is a whole number from 0 to 7, not 8."),
        ({"sketch": "simhash", "num_perm": 256}, "num_perm of simhash is 64 or 128 bits, not 256."),
        ({"sketch": "simhash", "recall": 0.9}, "bands, rows and recall do not go with sketch = 'simhash'"),
        ({"sketch": "simhash", "bands": 4, "rows": 4}, "bands, rows and recall do not go with sketch = 'simhash'"),
        ({"sketch": "simhash", "verify": "estimate", "verify_threshold": 0.9}, "verify_threshold goes with"),
        ({"unit": "letter"}, "unit is one of char, word, token, vector; not 'letter'."),
        ({"keep": "best"}, "keep is one of first, last, longest, shortest, min:FIELD, max:FIELD; not 'best'."),
        ({"keep": "max:"}, "keep is one of"),
        ({"space": "drop", "unit": "word"}, "it goes with unit = 'char', not 'word'."),
        ({"stopwords": "default"}, "stopwords goes with unit = 'word' or 'token', not 'char', which knows no words"),
        ({"user_dict": "d.txt"}, "user_dict goes with unit = 'word', not 'char', which asks no dictionary."),
        ({"user_dict": "d.txt", "unit": "token"}, "user_dict goes with unit = 'word', not 'token'"),
        ({"stopwords": "", "unit": "word"}, "stopwords names a file; this name is empty."),
        ({"han": "traditional"}, "han is one of keep, simplified; not 'traditional'."),
        ({"strip_html": "yes"}, "strip_html is true or false, not 'yes'."),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(fields: dict[str, Any], message: str) -> None:
    """One sentence names the field, the value and the range."""
    with pytest.raises(RecipeError, match=re.escape(message)):
        Recipe(**fields)


@pytest.mark.parametrize("threshold", [1, 1.0, 0.999999, 0.1])
def test_thresholds_at_the_ends_work(threshold: float) -> None:
    """1 asks for equal shingle sets; low ones take more bands."""
    assert Recipe(threshold=threshold).cut.bands >= 1


def test_leftover_values_are_allowed() -> None:
    """7 bands of 9 rows leave one of 64 values unused."""
    assert (7, 9) == Recipe(num_perm=64, bands=7, rows=9).cut


def test_an_unknown_field_is_refused_with_the_nearest_right_one() -> None:
    """A misspelt name does not pass unnoticed."""
    with pytest.raises(RecipeError, match="a recipe has no field 'treshold'; did you mean 'threshold'"):
        Recipe.of({"treshold": 0.5})


def test_a_recipe_survives_its_file(tmp_path: Path) -> None:
    """What to_toml writes, load reads back; the order of keys is of no account."""
    recipe = Recipe(unit="word", ngram=3, threshold=0.65, bands=20, rows=4, keep='max:the "score"', strip_html=True)
    path = tmp_path / "recipe.toml"
    path.write_text("".join(sorted(recipe.to_toml().splitlines(keepends=True), reverse=True)), encoding="utf-8")

    loaded = Recipe.load(path)

    assert recipe == loaded
    assert recipe.fingerprint == loaded.fingerprint


def test_a_recipe_file_with_a_fault_is_named(tmp_path: Path) -> None:
    """The error begins with the path of the file."""
    path = tmp_path / "recipe.toml"
    path.write_text("ngram = 99\n", encoding="utf-8")

    with pytest.raises(RecipeError, match=r"recipe\.toml: ngram is a whole number from 1 to 32"):
        Recipe.load(path)
    with pytest.raises(UsageError, match=r"none\.toml: cannot read the recipe: No such file"):
        Recipe.load(tmp_path / "none.toml")


def test_every_field_changes_the_fingerprint(tmp_path: Path) -> None:
    """Two recipes that differ in any field have different fingerprints."""
    file = tmp_path / "file"
    file.write_bytes(b"content")
    other: dict[str, Any] = {
        "ngram": 6, "threshold": 0.7, "num_perm": 256, "recall": 0.95, "keep": "last", "strip_html": True,
        "verify_threshold": 0.9, "max_df": 0.1,
    }  # fmt: skip
    with_others: dict[str, Any] = {
        "bands": {"bands": 8, "rows": 8}, "rows": {"bands": 8, "rows": 8},
        "distance": {"sketch": "simhash", "distance": 5}, "weights": {"sketch": "weighted", "weights": "tfidf"},
        "frequencies": {"max_df": 0.1, "frequencies": str(file)},
        "unit": {"unit": "token"}, "sketch": {"sketch": "oph"},
        "vectors": {"unit": "word", "ngram": 1, "sketch": "hyperplane", "vectors": str(file)},
        "stopwords": {"unit": "word", "stopwords": "default"}, "user_dict": {"unit": "word", "user_dict": str(file)},
    }  # fmt: skip
    for field in dataclasses.fields(Recipe):
        value = other.get(field.name) or (choices(field.name) or (None, None))[-1]
        changes = with_others.get(field.name, {field.name: value})

        changed = Recipe(**changes)

        assert Recipe().fingerprint != changed.fingerprint, field.name


def test_the_content_of_a_named_file_counts_not_its_name(tmp_path: Path) -> None:
    """A list that was moved is the same list; one that was edited is another, and so is a folder with a file more."""
    one, two, folder = tmp_path / "one", tmp_path / "two", tmp_path / "folder"
    one.write_bytes(b"content")
    two.write_bytes(b"content")
    folder.mkdir()

    moved = [Recipe(max_df=0.1, frequencies=str(path)).fingerprint for path in (one, two)]
    two.write_bytes(b"another")
    edited = Recipe(max_df=0.1, frequencies=str(two)).fingerprint
    folders = []
    for name in ("a", "b"):
        (folder / name).write_bytes(b"")
        folders.append(Recipe(max_df=0.1, frequencies=str(folder)).fingerprint)

    assert moved[0] == moved[1] != edited
    assert folders[0] != folders[1]
    with pytest.raises(UsageError, match="none: cannot read the file that frequencies names: No such file"):
        _ = Recipe(max_df=0.1, frequencies=str(tmp_path / "none")).fingerprint


def test_presets_are_recipes() -> None:
    """Each differs from the defaults, and can be changed as any other; another name is refused with those there are."""
    for name in PRESETS:
        assert Recipe() != Recipe.preset(name)
        assert "last" == Recipe.preset(name).replace(keep="last").keep
    with pytest.raises(RecipeError, match="preset is one of title, article, document, code, vector; not 'novel'."):
        Recipe.preset("novel")
