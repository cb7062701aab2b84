"""Hypothesis strategies: texts that break things, corpora with near-copies, recipes, pair lists.

Words come from small alphabets, so that unrelated draws often resemble one another and a threshold has work to do.
"""

import itertools
import unicodedata
from typing import Any, Final

from hypothesis import strategies as st

MAX_DOCS: Final = 25
THRESHOLDS: Final = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SIMILARITIES: Final = (*THRESHOLDS, 1 / 3, 2 / 3, 0.75, 0.999)

# The alphabets of words, by what they try.
ALPHABETS: Final = {
    "latin": "abcAB",
    "accents": "eéßıİſŁǅﬁ",
    "greek and cyrillic": "σςΣжЖ",
    "digits": "0179٣५",
    "full width": "ＡｂＣ１２！，ｶﾞｷﾟ￦",
    "han": "港口春天豈𠮷〇々㐂",
    "kana": "かガパぁー゛ゞ",
    "thai, lao, khmer, myanmar": "กาำิ่ໆກັខ្ញမြို့",
    "hangul": "한글가힣ㄱᄀ\u1161\u11a8",
    "arabic, hebrew, indic": "سَلاءשָׁहि்க",
    "combining": "a\u0301\u0327\u0308\u20dd\u034f",
    "emoji": "😀👍🏽\u200d\ufe0f🇫🇮❤",
    "punctuation": "!?.,-_…。，「」·'\"",
    "symbols": "+<=>$¥^`|©°½²①",
    "white space": " \t\n\r\x0b\x1c\x85\xa0\u2028\u3000",
    "zero width": "a \u200b\u200c\u200d\ufeff\u00ad\u2060\u202e\u3164\U000e0101",
    "control": "a \x00\x01\x1b\x7f\x9f",
    "surrogates": "a\ud800\ud83c\udf78\udfff",
    "unassigned and private": "a\u0378\ue000\uffff\U000e0fff\U0010ffff",
}
COMMON: Final = ("latin", "han", "kana", "hangul", "digits")
SEPARATORS: Final = (" ", " ", " ", "", ", ", "。", "\n", "\u3000", "-", "\u200b")
ADDITIONS: Final = ("a", " b", "!", " 。", "港", "\u0301", "\u200b", "7")


def texts() -> st.SearchStrategy[str]:
    """Return texts of 0 to some 30 short words of many scripts, or of nothing but odd ones, or long repeats."""
    plain = st.lists(_words(COMMON), max_size=12).map(" ".join)
    odd = _words(tuple(ALPHABETS))
    mixed = st.lists(st.tuples(odd, st.sampled_from(SEPARATORS)), max_size=8).map(
        lambda parts: "".join(map("".join, parts))
    )
    punctuation = st.text(ALPHABETS["punctuation"] + ALPHABETS["white space"], max_size=8)
    repeats = st.tuples(odd, st.sampled_from(SEPARATORS), st.integers(2, 120)).map(
        lambda parts: (parts[0] + parts[1]) * parts[2]
    )
    anything = st.text(max_size=12)
    kinds = (plain, plain, plain, mixed, mixed, punctuation, repeats, anything, st.just(""))
    return st.one_of(*kinds).map(_join_surrogates)


@st.composite
def corpora(draw: st.DrawFn) -> list[str]:
    """Return 0 to 25 texts, of which about half are near-copies of an earlier one: chains occur, and exact copies."""
    corpus: list[str] = []
    for _ in range(draw(st.integers(0, MAX_DOCS))):
        near_copy = draw(st.booleans())
        if corpus and near_copy:
            vary = draw(st.sampled_from(VARIANTS))
            corpus.append(_join_surrogates(vary(draw, draw(st.sampled_from(corpus)))))
        else:
            corpus.append(draw(texts()))
    return corpus


def recipe_fields() -> st.SearchStrategy[dict[str, Any]]:
    """Return fields that make a valid recipe, all of them within what the reference knows.

    The reference folds widths by NFKC alone, hence `width` is always "keep".
    """
    few = st.integers(1, 8)
    return st.fixed_dictionaries(
        {
            "unit": st.sampled_from(("char", "word", "token")),
            "ngram": st.one_of(few, few, few, st.integers(9, 32)),
            "threshold": st.sampled_from(THRESHOLDS),
            "normalize": st.sampled_from(("nfkc", "nfc", "none")),
            "width": st.just("keep"),
            "case": st.sampled_from(("fold", "keep")),
            "punct": st.sampled_from(("space", "keep", "drop")),
            "digits": st.sampled_from(("keep", "zero")),
            "cluster": st.sampled_from(("anchored", "components")),
            "keep": st.sampled_from(("first", "last", "longest", "shortest")),
        },
    )


@st.composite
def pair_lists(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, float]]]:
    """Return a number of documents and pairs (a, b, similarity) among them: a < b, distinct, ascending by (a, b)."""
    n_docs = draw(st.integers(0, MAX_DOCS))
    possible = list(itertools.combinations(range(n_docs), 2))
    if not possible:
        return n_docs, []
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=min(len(possible), 2 * n_docs)))
    return n_docs, [(a, b, draw(st.sampled_from(SIMILARITIES))) for a, b in sorted(chosen)]


def _words(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return words of 1 to 4 code points, each word from one of these alphabets."""
    return st.one_of([st.text(ALPHABETS[name], min_size=1, max_size=4) for name in names])


def _join_surrogates(text: str) -> str:
    """Return the text with each high surrogate before a low one as the code point the two spell; others stay lone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _copy(_draw: st.DrawFn, text: str) -> str:
    """Return the text as it is."""
    return text


def _replace_point(draw: st.DrawFn, text: str) -> str:
    """Return the text with one code point replaced, or added where it has none."""
    at = draw(st.integers(0, max(0, len(text) - 1)))
    return text[:at] + draw(st.sampled_from(ADDITIONS)) + text[at + 1 :]


def _insert(draw: st.DrawFn, text: str) -> str:
    """Return the text with a little something put in."""
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(ADDITIONS)) + text[at:]


def _cut(draw: st.DrawFn, text: str) -> str:
    """Return the text with up to three code points cut out."""
    at = draw(st.integers(0, len(text)))
    return text[:at] + text[at + draw(st.integers(1, 3)) :]


def _reorder(draw: st.DrawFn, text: str) -> str:
    """Return the text with its words turned round by some places."""
    words = text.split(" ")
    at = draw(st.integers(0, len(words)))
    return " ".join(words[at:] + words[:at])


def _change_case(draw: st.DrawFn, text: str) -> str:
    """Return the text in another case."""
    return draw(st.sampled_from((text.upper(), text.lower(), text.swapcase(), text.title())))


def _change_punctuation(draw: st.DrawFn, text: str) -> str:
    """Return the text with other marks between its words, or after them."""
    return draw(
        st.sampled_from(
            (text.replace(" ", ", "), text.replace(" ", " - "), text + "!", "「" + text + "」", text + " ...")
        )
    )


def _change_form(draw: st.DrawFn, text: str) -> str:
    """Return the text in another normalization form."""
    return unicodedata.normalize(draw(st.sampled_from(("NFC", "NFD", "NFKC", "NFKD"))), text)


def _change_digits(draw: st.DrawFn, text: str) -> str:
    """Return the text with another figure for each 1."""
    return text.replace("1", draw(st.sampled_from(("2", "12", "１", "٣"))))


def _repeat(draw: st.DrawFn, text: str) -> str:
    """Return the text two or three times over."""
    return " ".join([text] * draw(st.integers(2, 3)))


# The ways a near-copy comes about.
VARIANTS: Final = (
    _copy,
    _replace_point,
    _insert,
    _cut,
    _reorder,
    _change_case,
    _change_punctuation,
    _change_form,
    _change_digits,
    _repeat,
)
