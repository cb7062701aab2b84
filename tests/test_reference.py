"""The reference, held against worked examples by hand and against what must hold of any corpus.

Figures are fractions of shingles counted by hand where the count is small, rounded to three digits where it is not.
"""

import dataclasses
import random
import unicodedata
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given

import reference
import strategies
from neardup.recipe import Recipe


@dataclass(frozen=True)
class Choices:
    """The choices that the reference looks at, with values that suit most examples."""

    unit: str = "char"
    ngram: int = 5
    threshold: float = 0.8
    normalize: str = "nfkc"
    case: str = "fold"
    punct: str = "space"
    digits: str = "keep"
    cluster: str = "anchored"
    keep: str = "first"


NAMES = [field.name for field in dataclasses.fields(Choices)]

HARBOR = "春天的港口很安静，渔船在薄雾里慢慢靠岸，岸上的人点着灯等他们回来，孩子们在石阶上数着贝壳。"
HARBOR_EDITED = "春天的海港很安静，渔船在薄雾里慢慢靠岸，岸上的人点着灯等他们回家，孩子们在石阶上数贝壳。"
BUS = "Bus route {0} (service {0}) calls at Mill Lane, Stone Bridge and the Old Town Hall on weekdays."
STOP_ABOVE = "if (speed > limit) stop(); else go();"
STOP_BELOW = "if (speed < limit) stop(); else go();"
TEN_WORDS = "one two three four five six seven eight nine ten"
FERRY = "the ferry leaves at nine and returns before dark"


def window_text(k: int) -> str:
    """Return twenty made-up words, shifted by two words for each k."""
    return " ".join(f"w{number:03}" for number in range(2 * k, 2 * k + 20))


CHAIN = [window_text(k) for k in range(4)]  # neighbors 18/22, two apart 16/24, three apart 14/26


def similarity(a: str, b: str, **choices: Any) -> float:
    """Return the similarity of two raw texts under these choices."""
    recipe = Choices(**choices)
    return reference.jaccard(reference.shingles(a, recipe), reference.shingles(b, recipe))


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("", {}, ""),
        (" \t\n\u3000\x1c\x85\u2028 ", {}, ""),
        ("  Low \r\n tide\u3000! ", {}, "low tide"),
        ("Ｌｏｗ　ｔｉｄｅ", {}, "low tide"),
        ("Ｌｏｗ　ｔｉｄｅ", {"normalize": "nfc", "case": "keep"}, "Ｌｏｗ ｔｉｄｅ"),
        ("豈ｶﾞ5²", {"normalize": "nfc"}, "豈ｶﾞ5²"),
        ("豈ｶﾞ5²", {"normalize": "nfkc"}, "豈ガ52"),
        ("e\u0301", {"normalize": "none"}, "e\u0301"),
        ("e\u0301", {"normalize": "nfc"}, "é"),
        ("DIE STRASSE", {}, "die strasse"),
        ("Die Straße", {}, "die strasse"),
        ("Die Straße", {"case": "keep"}, "Die Straße"),
        ("İ", {}, "i\u0307"),
        ("fer\u00adry\u200b at\u2060 \ufeffnine\x00", {}, "ferry at nine"),
        ("a\u034fb\u115fc\u17b4d\u180be\u3164f\uffa0g\ufe0fh\U000e0100i", {}, "abcdefghi"),
        ("C++ (or C#)!", {}, "c or c"),
        ("C++ (or C#)!", {"punct": "drop"}, "c or c"),
        ("C++ (or C#)!", {"punct": "keep"}, "c++ (or c#)!"),
        ("a-b", {"punct": "space"}, "a b"),
        ("a-b", {"punct": "drop"}, "ab"),
        ("a - b", {"punct": "drop"}, "a b"),
        ("Route 47, 3٣５", {"digits": "zero"}, "route 00 000"),
        ("x\u00b2 \u2167", {"digits": "zero", "normalize": "none", "case": "keep"}, "x\u00b2 \u2167"),
        ("flag \ud83c end", {}, "flag \ud83c end"),
        ("\u0378\ue000", {}, "\u0378\ue000"),
    ],
)
def test_clean_example(text: str, choices: dict[str, Any], expected: str) -> None:
    """Cleaning takes each step in the order of the specification."""
    assert expected == reference.clean(text, Choices(**choices))


@pytest.mark.parametrize(
    ("clean_text", "unit", "expected"),
    [
        ("", "char", []),
        ("", "word", []),
        ("ab c", "char", ["a", "b", " ", "c"]),
        ("low tide 47", "word", ["low", "tide", "47"]),
        ("ai在線b2", "word", ["ai", "在", "線", "b2"]),
        ("港口恢复通航", "word", ["港口", "恢复", "通航"]),
        ("港口恢复通航", "token", ["港", "口", "恢", "复", "通", "航"]),
        ("c++ (c)", "word", ["c", "+", "+", "(", "c", ")"]),
        ("한국어 abc", "word", ["한국어", "abc"]),
        ("한국어 abc", "token", ["한", "국", "어", "abc"]),
        ("カーひら", "token", ["カ", "ー", "ひ", "ら"]),
        ("กำลัง", "word", ["ก", "ำ", "ลั", "ง"]),
        ("ខ្មែរ", "token", ["ខ្", "មែ", "រ"]),
        ("cafe\u0301s", "word", ["cafe\u0301s"]),
        ("か\u3099a", "word", ["か\u3099", "a"]),
        ("\u0301\u0302ab", "word", ["\u0301\u0302ab"]),
        ("a \u0301b", "word", ["a", "\u0301b"]),
        ("!\u0301b", "word", ["!\u0301", "b"]),
        ("𠮷〇々", "word", ["𠮷", "〇", "々"]),
    ],
)
def test_units_example(clean_text: str, unit: str, expected: list[str]) -> None:
    """Words run on to a space, a symbol or a letter that stands alone; marks stay with what they follow."""
    assert expected == reference.units(clean_text, Choices(unit=unit))


@pytest.mark.parametrize("unit", ["word", "token"])
def test_alone_holds_no_mark_and_no_punctuation(unit: str) -> None:
    """The letters that stand alone are letters, numbers or not assigned: nothing that another rule is about."""
    ranges = reference.ALONE[unit]

    kinds = {unicodedata.category(chr(point))[0] for first, last in ranges for point in range(first, last + 1)}

    assert kinds <= {"L", "N", "C"}


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        ("", {}, set()),
        (" ! ", {}, set()),
        ("😀", {}, set()),
        ("😀", {"punct": "keep"}, {("😀",)}),
        ("!!!", {"punct": "keep", "ngram": 2}, set()),
        ("a!!!", {"punct": "keep", "ngram": 2}, {("a", "!")}),
        ("a, b", {"punct": "keep", "ngram": 2}, {("a", ","), (" ", "b")}),
        ("cat", {}, {("c", "a", "t")}),
        ("不", {"ngram": 32}, {("不",)}),
        ("abab", {"ngram": 2}, {("a", "b"), ("b", "a")}),
        ("low tide at nine", {"unit": "word", "ngram": 3}, {("low", "tide", "at"), ("tide", "at", "nine")}),
        ("ab c d", {"unit": "word", "ngram": 2}, {("ab", "c"), ("c", "d")}),
        ("a b c", {"ngram": 1}, {("a",), ("b",), ("c",)}),
    ],
)
def test_shingles_example(text: str, choices: dict[str, Any], expected: set[reference.Shingle]) -> None:
    """Shingles are the distinct windows, none of punctuation or white space alone, at least one of a short text."""
    assert expected == reference.shingles(text, Choices(**choices))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("xy", "yz", 1 / 3), ("x", "x", 1.0), ("x", "y", 0.0), ("xyz", "x", 1 / 3), ("", "x", 0.0), ("", "", 0.0)],
)
def test_jaccard_example(a: str, b: str, expected: float) -> None:
    """Similarity is the share of common shingles, and nothing where one side has none."""
    assert expected == reference.jaccard({(point,) for point in a}, {(point,) for point in b})


@pytest.mark.parametrize(
    ("a", "b", "choices", "expected"),
    [
        (HARBOR, HARBOR_EDITED, {"ngram": 2}, 0.735),
        (HARBOR, HARBOR_EDITED, {"ngram": 3}, 0.627),
        ("【转让】九成新儿童自行车", "转让：九成新儿童自行车！！", {"ngram": 2}, 1.0),
        ("红灯停，绿灯行。", "绿灯停，红灯行。", {"ngram": 2}, 5 / 7),
        ("红灯停，绿灯行。", "绿灯停，红灯行。", {"ngram": 3}, 1 / 9),
        ("今天去爬山", "今天去爬山了", {"ngram": 2}, 4 / 5),
        ("今天去爬山", "今天去爬山了", {}, 1 / 2),
        (BUS.format(41), BUS.format(47), {}, 0.806),
        (BUS.format(41), BUS.format(47), {"ngram": 8}, 0.673),
        (BUS.format(41), BUS.format(47), {"unit": "word", "ngram": 2}, 0.619),
        (BUS.format(41), BUS.format(47), {"unit": "word", "ngram": 3}, 0.524),
        (BUS.format(41), BUS.format(905), {}, 0.760),
        (BUS.format(41), BUS.format(47), {"digits": "zero"}, 1.0),
        (STOP_ABOVE, STOP_BELOW, {}, 1.0),
        (STOP_ABOVE, STOP_BELOW, {"punct": "keep"}, 28 / 38),
        ("return 3 * r * r", "# return 3 * r * r", {}, 1.0),
        ("return 3 * r * r", "# return 3 * r * r", {"punct": "keep"}, 12 / 14),
        ("The vote did pass on Monday", "the vote did not pass on monday", {"unit": "word", "ngram": 1}, 6 / 7),
        ("apple " * 40 + "banana " * 2, "apple " * 2 + "banana " * 40, {"unit": "word", "ngram": 1}, 1.0),
        (TEN_WORDS, " ".join([TEN_WORDS] * 3), {"unit": "word", "ngram": 1}, 1.0),
        (TEN_WORDS, " ".join([TEN_WORDS] * 3), {"unit": "word", "ngram": 5}, 6 / 10),
        (TEN_WORDS, " ".join([TEN_WORDS] * 3), {}, 44 / 49),
        (FERRY, FERRY.replace("e", "e\u200b"), {}, 1.0),
        (FERRY, FERRY.replace(" ", "\u3000"), {"normalize": "none"}, 1.0),
        ("DIE STRASSE IST GESPERRT", "Die Straße ist gesperrt", {}, 1.0),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ", {}, 1.0),
        ("Great match today 😀😀", "Great match today 😡😡", {}, 1.0),
        ("👍", "👍", {}, 0.0),
        ("👍", "👍", {"punct": "keep"}, 1.0),
        ("👍", "👎", {"punct": "keep"}, 0.0),
        ("1 23", "12 3", {"unit": "word", "ngram": 2}, 0.0),
        ("的的的的的的", "了了了了了了", {}, 0.0),
        ("flag \ud83c end", "flag \ud83c end", {}, 1.0),
        (window_text(10), window_text(11), {"unit": "word", "ngram": 1}, 18 / 22),
        (window_text(10), window_text(12), {"unit": "word", "ngram": 1}, 16 / 24),
        (window_text(10), window_text(20), {"unit": "word", "ngram": 1}, 0.0),
    ],
)
def test_similarity_example(a: str, b: str, choices: dict[str, Any], expected: float) -> None:
    """Similarity is that of the cleaned texts: the share of windows that no difference touches."""
    assert pytest.approx(expected, abs=0.0006) == similarity(a, b, **choices)


@pytest.mark.parametrize("unit", ["char", "word", "token"])
def test_similarity_of_chinese_is_well_above_zero_in_every_unit(unit: str) -> None:
    """A sentence without spaces is more than one unit."""
    assert similarity(HARBOR, HARBOR_EDITED, unit=unit, ngram=2) > 0.6


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], {}),
        (["cat"], {}),
        (["cat", "dog", "Cat!"], {(0, 2): 1.0}),
        (["", "", "!!!", "!!!"], {}),
        (["a b c d", "a b c d e", "a b c x y z"], {(0, 1): 0.8}),
    ],
)
def test_pairs_example(texts: list[str], expected: dict[tuple[int, int], float]) -> None:
    """Every pair at the threshold or above is there, once; texts without shingles are in none."""
    assert expected == reference.pairs(texts, Choices(unit="word", ngram=1))


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("first", [0, 1, 2, 3]),
        ("last", [3, 2, 1, 0]),
        ("longest", [1, 3, 0, 2]),
        ("shortest", [0, 2, 1, 3]),
        ("min:year", [3, 0, 2, 1]),
        ("max:year", [0, 2, 3, 1]),
    ],
)
def test_keep_order_example(keep: str, expected: list[int]) -> None:
    """Documents that the policy puts level stay in input order, and one without a value comes last."""
    texts, years = ["ab", "a b!", "xy", "four"], [2001, None, 2001, 1999]

    assert expected == reference.keep_order(texts, Choices(keep=keep), years)


@pytest.mark.parametrize(
    ("texts", "keep", "expected"),
    [
        # A document that resembles removed ones only stays.
        (CHAIN, "first", [(0, 1.0), (0, 18 / 22), (2, 1.0), (2, 18 / 22)]),
        (CHAIN, "last", [(1, 18 / 22), (1, 1.0), (3, 18 / 22), (3, 1.0)]),
        # Of several kept ones the nearest is named, not the first met.
        (["a b c", "b c d e", "a b c d e"], "first", [(0, 1.0), (1, 1.0), (1, 4 / 5)]),
        (["b c d e", "a b c", "a b c d e"], "first", [(0, 1.0), (1, 1.0), (0, 4 / 5)]),
        # Of two equally near the one earlier in keep order is named.
        (["a b c d", "a b x y", "a b"], "first", [(0, 1.0), (1, 1.0), (0, 0.5)]),
        (["a b c d", "a b x y", "a b"], "max:year", [(0, 1.0), (1, 1.0), (1, 0.5)]),
    ],
)
def test_anchored_example(texts: list[str], keep: str, expected: reference.Outcome) -> None:
    """A removed document names the most similar of the kept ones at or above the threshold."""
    recipe = Choices(unit="word", ngram=1, threshold=0.5 if texts is not CHAIN else 0.8, keep=keep)

    assert expected == reference.anchored(texts, recipe, [1, 2, 0])


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("first", [(0, 1.0), (0, 18 / 22), (0, 16 / 24), (0, 14 / 26)]),
        ("last", [(3, 14 / 26), (3, 16 / 24), (3, 18 / 22), (3, 1.0)]),
        ("min:year", [(2, 16 / 24), (2, 18 / 22), (2, 1.0), (2, 18 / 22)]),
    ],
)
def test_components_example(keep: str, expected: reference.Outcome) -> None:
    """A chain is one component; similarity is to the representative, also below the threshold."""
    recipe = Choices(unit="word", ngram=1, keep=keep)

    assert expected == reference.components(CHAIN, recipe, [4, 3, 1, 2])


@pytest.mark.parametrize("cluster", sorted(reference.CLUSTER))
def test_texts_without_shingles_are_kept(cluster: str) -> None:
    """A text similar to nothing stays, however often it occurs."""
    texts = ["", "", "!!!", "。。。", "\u200b", "", "cat", "cat"]
    expected = [0, 1, 2, 3, 4, 5, 6, 6]

    outcome = reference.CLUSTER[cluster](texts, Choices())

    assert expected == [kept_doc for kept_doc, _ in outcome]


@pytest.mark.parametrize(
    ("bands", "rows", "expected"),
    [(8, 16, 0.204), (9, 13, 0.399), (20, 6, 0.998)],
)
def test_s_curve_example(bands: int, rows: int, expected: float) -> None:
    """The chance at similarity .8 is the formula's, and drawing rows gives it too."""
    assert pytest.approx(expected, abs=0.0006) == reference.s_curve(0.8, bands, rows)

    simulated = reference.simulate_s_curve(0.8, bands, rows, 2000, random.Random(7))

    assert pytest.approx(expected, abs=0.05) == simulated


@pytest.mark.parametrize(("similarity", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_s_curve_at_its_ends(similarity: float, expected: float) -> None:
    """Strangers never meet, equal texts always do."""
    assert expected == reference.s_curve(similarity, 20, 6)
    assert expected == reference.simulate_s_curve(similarity, 20, 6, 10, random.Random(7))


@given(strategies.corpora(), strategies.recipe_fields())
def test_outcome_is_sound_for_any_corpus(texts: list[str], fields: dict[str, Any]) -> None:
    """Each way keeps whom it names; anchored removes at the threshold only, and keeps no two that resemble."""
    recipe = Choices(**{name: fields[name] for name in NAMES})
    found = reference.pairs(texts, recipe)

    anchored = reference.anchored(texts, recipe)
    components = reference.components(texts, recipe)

    for outcome in (anchored, components):
        assert all(outcome[kept_doc] == (kept_doc, 1.0) for kept_doc, _ in outcome)
    kept = {kept_doc for kept_doc, _ in anchored}
    assert all(found[min(doc, to), max(doc, to)] == near for doc, (to, near) in enumerate(anchored) if doc != to)
    assert not any(a in kept and b in kept for a, b in found)
    assert all(components[a][0] == components[b][0] for a, b in found)
    assert len({kept_doc for kept_doc, _ in components}) <= len(kept)


@given(strategies.texts(), strategies.recipe_fields())
def test_clean_text_has_single_inner_spaces_only(text: str, fields: dict[str, Any]) -> None:
    """White space of any kind is one space between words, and no unit of words holds it."""
    recipe = Choices(**{name: fields[name] for name in NAMES})

    clean_text = reference.clean(text, recipe)

    assert " ".join(clean_text.split()) == clean_text
    assert clean_text.replace(" ", "") == "".join(reference.units(clean_text, recipe)).replace(" ", "")


@given(strategies.recipe_fields())
def test_recipe_fields_make_a_recipe(fields: dict[str, Any]) -> None:
    """The strategy stays within what a recipe allows."""
    recipe = Recipe(**fields)

    assert all(fields[name] == getattr(recipe, name) for name in fields)


@given(strategies.pair_lists())
def test_pair_lists_are_distinct_ascending_pairs(drawn: tuple[int, list[tuple[int, int, float]]]) -> None:
    """The strategy keeps the order that pairs have between the steps."""
    n_docs, listed = drawn

    keys = [(a, b) for a, b, _ in listed]

    assert sorted(set(keys)) == keys
    assert all(0 <= a < b < n_docs for a, b in keys)
