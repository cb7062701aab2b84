"""Units and shingles, against the reference and by hand."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from helpers import as_sets, as_texts
from neardup.pipeline import shingles_in_order
from neardup.recipe import Recipe
from neardup.schema import Shingles
from neardup.steps.shingle import distinct
from strategies import recipe_fields, texts


@given(st.lists(texts(), max_size=4), recipe_fields())
def test_shingles_equal_the_reference(corpus: list[str], fields: dict[str, Any]) -> None:
    """Texts share exactly as many shingles as the reference says, pair by pair, and have as many."""
    recipe = Recipe(**fields)
    expected = [reference.shingles(text, recipe) for text in corpus]

    actual = as_sets(distinct(shingles_in_order(as_texts(corpus), recipe)))

    assert [len(one) for one in expected] == [len(one) for one in actual]
    for i in range(len(corpus)):
        for j in range(i):
            assert len(expected[i] & expected[j]) == len(actual[i] & actual[j])


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=40), max_size=5), st.integers(1, 4))
def test_distinct_is_ascending_and_without_repeats(lists: list[list[int]], repeats: int) -> None:
    """Any hashes come out once each and ascending, but 0, which is 1."""
    rows = [row * repeats for row in lists]
    hashes = np.array([value for row in rows for value in row], np.uint64)

    actual = distinct(Shingles(hashes, np.cumsum([0, *map(len, rows)])))

    expected = [sorted({max(value, 1) for value in row}) for row in rows]
    ends = actual.offsets
    assert expected == [actual.hashes[a:b].tolist() for a, b in pairwise(ends)]


@pytest.mark.parametrize(
    ("a", "b", "fields", "expected"),
    [
        ("cat", "Cat!", {}, 1.0),
        ("cat", "dog", {}, 0.0),
        ("今天去爬山", "今天去爬山了", {}, 0.5),
        ("今天去爬山", "今天去爬山了", {"ngram": 2}, 0.8),
        ("ab c d", "a bc d", {"unit": "word", "ngram": 2}, 0.0),
        ("AI在線", "A I在線", {"unit": "token", "ngram": 1}, 0.4),
        ("if (speed > limit) stop(); else go();", "if (speed < limit) stop(); else go();", {}, 1.0),
        ("C++", "C#", {"punct": "keep", "unit": "word", "ngram": 1}, 0.5),
    ],
)
def test_similarity_of_worked_examples(a: str, b: str, fields: dict[str, Any], expected: float) -> None:
    """The shingles of two texts overlap as counted by hand."""
    one, other = as_sets(distinct(shingles_in_order(as_texts([a, b]), Recipe(**fields))))

    assert expected == pytest.approx(len(one & other) / len(one | other))


def test_hashes_are_what_they_were() -> None:
    """Shingle hashes are part of what is stored: a change of any must raise the format number of the recipe."""
    texts_then = ["the harbor reopened", "港口恢复通航", "a"]

    chars = shingles_in_order(as_texts(texts_then), Recipe(ngram=3))
    words = shingles_in_order(as_texts(texts_then), Recipe(unit="word", ngram=2))

    assert GOLDEN_CHARS == [hex(value) for value in chars.hashes[[0, 1, -2, -1]].tolist()]
    assert GOLDEN_WORDS == [hex(value) for value in words.hashes[[0, 1, -2, -1]].tolist()]


GOLDEN_CHARS = ["0x7996852dd9361fc3", "0xdb2ea0a1ffb4a4cc", "0x906bc98e542acb98", "0xaeff7d4b5b72ec99"]
GOLDEN_WORDS = ["0xe81a2971c6b735f5", "0xcb5df3ce4010e987", "0x6f70e4bb534e4896", "0x8a52dcbb3441f6c7"]
