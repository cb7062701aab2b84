"""Cleaning, against the reference and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from helpers import as_strings, as_texts
from neardup.recipe import Recipe
from neardup.schema import Texts
from neardup.steps.clean import clean, code_point_counts, content_hashes
from strategies import recipe_fields, texts


def cleaned(text: str, **fields: Any) -> str:
    """Return one text cleaned by a recipe with these fields."""
    return as_strings(clean(as_texts([text]), Recipe(**fields)))[0]


@given(st.lists(texts(), max_size=5), recipe_fields())
def test_clean_equals_the_reference(corpus: list[str], fields: dict[str, Any]) -> None:
    """Every text is cleaned as the plain Python of the reference does, whatever its neighbors are."""
    recipe = Recipe(**fields)

    actual = as_strings(clean(as_texts(corpus), recipe))

    assert [reference.clean(text, recipe) for text in corpus] == actual


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("  The  Cat!\t", {}, "the cat"),
        ("The Cat!", {"case": "keep", "punct": "keep"}, "The Cat!"),
        ("a-b", {"punct": "drop"}, "ab"),
        ("snake_case ____", {}, "snake_case ____"),
        ("snake_case", {"punct": "drop"}, "snakecase"),
        ("２０２４年，ＡＢＣ", {}, "2024年 abc"),
        ("２０２４年，ＡＢＣ", {"normalize": "nfc"}, "2024年 abc"),
        ("２０２４年", {"normalize": "nfc", "width": "keep"}, "２０２４年"),
        ("ｶﾞｷﾞ", {"normalize": "nfc"}, "ガギ"),
        ("5² tiles", {"normalize": "nfc"}, "5² tiles"),
        ("5² tiles", {}, "52 tiles"),
        ("½ ﬁ", {}, "1 2 fi"),
        ("Straße", {}, "strasse"),
        ("e\u0301", {}, "é"),
        ("route 41", {"digits": "zero"}, "route 00"),
        ("٣ 3", {"digits": "zero"}, "0 0"),
        ("fer\u00adry\u200b \ufeffnow", {}, "ferry now"),
        ("a\u200bb", {"invisible": "keep"}, "a\u200bb"),
        ("red  car", {"space": "drop"}, "redcar"),
        ("flag \ud83c end", {}, "flag \ud83c end"),
        ("😀", {}, ""),
        ("😀", {"punct": "keep"}, "😀"),
        ("\u212b", {"normalize": "none"}, "å"),
        ("ﷺ" * 50, {}, " ".join(["صلى الله عليه وسلم"] * 1) * 50),
    ],
)
def test_clean_of_worked_examples(text: str, fields: dict[str, Any], expected: str) -> None:
    """Each switch does what its name says."""
    assert expected == cleaned(text, **fields)


def test_html_is_stripped_when_asked() -> None:
    """Inline elements join, blocks part, entities resolve, scripts vanish, and arithmetic stays."""
    from neardup.steps.markup import strip_markup

    pages = [
        "<p>Low&nbsp;tide at <b>n</b>ine</p>",
        "a<br>b",
        "x < y and y > z",
        "<script>var a = 1;</script>left<!-- gone -->",
        "an unclosed <div",
    ]

    stripped = as_strings(clean(strip_markup(as_texts(pages)), Recipe()))

    assert ["low tide at nine", "a b", "x y and y z", "left"] == stripped[:4]
    assert stripped[4].startswith("an unclosed")


def test_html_of_a_megabyte_of_open_brackets_ends() -> None:
    """Markup made to be slow is not."""
    from neardup.steps.markup import strip_markup

    stripped = strip_markup(as_texts(["<" * 1_000_000]))

    assert stripped.offsets[-1] <= 1_000_000


def test_bytes_that_are_no_text_never_lead_outside() -> None:
    """A text cut in the middle of a code point ends in U+FFFD, as does a code point out of range."""
    data = np.frombuffer(b"ab\xe6\xb8" + b"\xf7\xbf\xbf\xbf", np.uint8)

    actual = as_strings(clean(Texts(data, np.array([0, 4, 8])), Recipe(normalize="none", punct="keep")))

    assert ["ab\ufffd", "\ufffd"] == actual


@given(st.lists(texts(), max_size=6))
def test_content_hashes_tell_clean_texts_apart(corpus: list[str]) -> None:
    """Two clean texts have equal hashes exactly when they are equal."""
    recipe = Recipe()
    texts_clean = clean(as_texts(corpus), recipe)

    hashes = content_hashes(texts_clean).T.tolist()

    strings = as_strings(texts_clean)
    for i, one in enumerate(strings):
        for j, other in enumerate(strings):
            assert (one == other) == (hashes[i] == hashes[j])


@given(st.lists(texts(), max_size=6))
def test_code_points_are_counted_before_cleaning(corpus: list[str]) -> None:
    """The length of a text is Python's."""
    assert [len(text) for text in corpus] == code_point_counts(as_texts(corpus)).tolist()
