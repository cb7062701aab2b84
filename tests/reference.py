"""Every step of neardup in slow, obvious Python: the second opinion of the property tests.

Chinese words are those of rjieba, which others hold against jieba.

In: a list of texts and a recipe, of which only the attributes named in `RecipeLike` are looked at. Out: plain lists,
sets and dicts. Imports nothing of neardup, so a fault there cannot hide here. A document is known by its position from
0 in input order. The functions stand in the order in which the data flows.
"""

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final, Literal, Protocol

import rjieba

JIEBA: Final = rjieba.Jieba()


class RecipeLike(Protocol):
    """The choices that the reference knows of; a Recipe has them, and so has any namespace with these names."""

    @property
    def unit(self) -> str:
        """What a shingle is made of: char, word or token."""

    @property
    def ngram(self) -> int:
        """Consecutive units in a shingle."""

    @property
    def threshold(self) -> float:
        """Least similarity that counts."""

    @property
    def normalize(self) -> str:
        """Normalization form: nfkc, nfc or none."""

    @property
    def case(self) -> str:
        """Letters: fold or keep."""

    @property
    def punct(self) -> str:
        """Punctuation and symbols: space, keep or drop."""

    @property
    def digits(self) -> str:
        """Digits: keep or zero."""

    @property
    def cluster(self) -> str:
        """What settles the outcome: a name in `CLUSTER`."""

    @property
    def keep(self) -> str:
        """Which document stays: first, last, longest, shortest, min:FIELD or max:FIELD."""


Shingle = tuple[str, ...]
Outcome = list[tuple[int, float]]  # of each document: the document kept in its stead, and the similarity to it

# Unicode's names of the normalization forms; "none" has none.
FORMS: Final[dict[str, Literal["NFC", "NFKC"]]] = {"nfc": "NFC", "nfkc": "NFKC"}

# Default-ignorable code points that are neither Cc nor Cf. First and last of each range.
IGNORABLE: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)

# Letters of scripts written without spaces between words: each is a unit by itself.
UNSPACED: Final = (
    *((0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),  # Han
    *((0xF900, 0xFAFF), (0x20000, 0x323AF)),
    *((0x3041, 0x3096), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF)),  # Hiragana, Katakana
    *((0xFF66, 0xFF9F), (0x1B000, 0x1B16F)),
    *((0x0E01, 0x0E30), (0x0E32, 0x0E33), (0x0E40, 0x0E46)),  # Thai
    *((0x0E81, 0x0EB0), (0x0EB2, 0x0EB3), (0x0EBD, 0x0EC6)),  # Lao
    *((0x1780, 0x17B3), (0x17D7, 0x17D7), (0x17DC, 0x17DC)),  # Khmer
    *((0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055), (0x105A, 0x105D), (0x1061, 0x1061)),  # Myanmar
    *((0x1065, 0x1066), (0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E)),
)
HANGUL: Final = ((0xAC00, 0xD7A3), (0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB))

# The code points that stand alone, by unit.
ALONE: Final = {"word": UNSPACED, "token": (*UNSPACED, *HANGUL)}


def clean(text: str, recipe: RecipeLike) -> str:
    """Return the text as it is compared."""
    if recipe.normalize != "none":
        text = unicodedata.normalize(FORMS[recipe.normalize], text)
    folded = "".join(point.casefold() for point in text) if recipe.case == "fold" else text
    mapped = "".join(_clean_point(point, recipe) for point in folded)
    return " ".join(word for word in mapped.split(" ") if word)


def units(clean_text: str, recipe: RecipeLike) -> list[str]:
    """Return the units of a clean text, in text order: code points, or words, or tokens."""
    if recipe.unit == "char":
        return list(clean_text)
    found: list[str] = []
    starts = _starts_of_chinese_words(clean_text) if recipe.unit == "word" else set()
    before = ""  # what the code point before was; a mark is what it joined
    for place, point in enumerate(clean_text):
        kind = _kind(point, recipe)
        joins = (kind == "mark" and before not in ("", "space")) or (kind in ("mark", "letter") and before == "letter")
        if {kind, before} in ({"han"}, {"han", "letter"}):
            joins = place not in starts
        if joins:
            found[-1] += point
        elif kind != "space":
            found.append(point)
        if kind == "mark":
            kind = before if joins else "letter"
        before = kind
    return found


def shingles(text: str, recipe: RecipeLike) -> set[Shingle]:
    """Return the distinct windows of `ngram` units of a raw text; the one window of them all if there are fewer."""
    parts = units(clean(text, recipe), recipe)
    n_windows = max(1, len(parts) - recipe.ngram + 1)
    windows = {tuple(parts[start : start + recipe.ngram]) for start in range(n_windows)}
    return {window for window in windows if not all(_never_counts_alone(point) for point in "".join(window))}


def counted(text: str, recipe: RecipeLike) -> Counter[Shingle]:
    """Return how often each shingle of a raw text occurs."""
    parts = units(clean(text, recipe), recipe)
    n_windows = max(1, len(parts) - recipe.ngram + 1)
    windows = Counter(tuple(parts[start : start + recipe.ngram]) for start in range(n_windows))
    return Counter({window: count for window, count in windows.items() if window in shingles(text, recipe)})


def frequencies(texts: Sequence[str], recipe: RecipeLike) -> tuple[Counter[Shingle], int]:
    """Return in how many of the texts that differ when clean each shingle is, and how many of those have any."""
    distinct = {clean(text, recipe): shingles(text, recipe) for text in texts}
    return Counter(shingle for one in distinct.values() for shingle in one), sum(map(bool, distinct.values()))


def weighted_pairs(texts: Sequence[str], recipe: RecipeLike, *, tfidf: bool) -> dict[tuple[int, int], float]:
    """Return the generalized Jaccard of every pair a < b at or above the threshold, by counts or tf-idf weights."""
    found_in, n_docs = frequencies(texts, recipe)
    weights = [
        {
            shingle: count * (1 + math.log(max(n_docs / found_in[shingle], 1)) if tfidf else 1)
            for shingle, count in counted(text, recipe).items()
        }
        for text in texts
    ]
    found = {}
    for a in range(len(texts)):
        for b in range(a + 1, len(texts)):
            both = weights[a].keys() | weights[b].keys()
            least = sum(min(weights[a].get(one, 0), weights[b].get(one, 0)) for one in both)
            most = sum(max(weights[a].get(one, 0), weights[b].get(one, 0)) for one in both)
            if weights[a] and weights[b] and least >= recipe.threshold * most:
                found[a, b] = least / most
    return found


def pairs_without_frequent(texts: Sequence[str], recipe: RecipeLike, max_df: float) -> dict[tuple[int, int], float]:
    """Return the similarity of every pair where shingles of more than a share of the texts do not count.

    Texts that are equal when clean are similar, whatever their shingles.
    """
    found_in, n_docs = frequencies(texts, recipe)
    dropped = {shingle for shingle, count in found_in.items() if count > max(max_df * n_docs, 1)}
    cleaned = [clean(text, recipe) for text in texts]
    whole = [shingles(text, recipe) for text in texts]
    found = {}
    for a in range(len(texts)):
        for b in range(a + 1, len(texts)):
            is_copy = cleaned[a] == cleaned[b] and bool(whole[a])
            similarity = 1.0 if is_copy else jaccard(whole[a] - dropped, whole[b] - dropped)
            if similarity >= recipe.threshold:
                found[a, b] = similarity
    return found


def jaccard(a: set[Shingle], b: set[Shingle]) -> float:
    """Return the share of the shingles of either that both have; 0.0 if one has none."""
    return len(a & b) / len(a | b) if a and b else 0.0


def pairs(texts: Sequence[str], recipe: RecipeLike) -> dict[tuple[int, int], float]:
    """Return the similarity of every pair a < b at or above the threshold."""
    sets = [shingles(text, recipe) for text in texts]
    found = {}
    for a in range(len(sets)):
        for b in range(a + 1, len(sets)):
            similarity = jaccard(sets[a], sets[b])
            if similarity >= recipe.threshold:
                found[a, b] = similarity
    return found


def keep_order(texts: Sequence[str], recipe: RecipeLike, field: Sequence[Any] | None = None) -> list[int]:
    """Return the documents, the one to keep before all others first.

    Args:
        texts: raw texts.
        recipe: its `keep` is the policy.
        field: the value of each document, for the policies "min:FIELD" and "max:FIELD"; None comes last.
    """
    docs = list(range(len(texts)))
    policy = recipe.keep.partition(":")[0]
    if policy == "first":
        return docs
    if policy == "last":
        return docs[::-1]
    if policy in ("longest", "shortest"):
        return sorted(
            docs, key=lambda doc: len(texts[doc]), reverse=policy == "longest"
        )  # a stable sort, also reversed
    assert policy in ("min", "max"), f"no such keep policy: {recipe.keep!r}"
    assert field is not None, f"keep = {recipe.keep!r} needs the values of the field"
    with_value = sorted((doc for doc in docs if field[doc] is not None), key=field.__getitem__, reverse=policy == "max")
    return with_value + [doc for doc in docs if field[doc] is None]


def anchored(texts: Sequence[str], recipe: RecipeLike, field: Sequence[Any] | None = None) -> Outcome:
    """Walk in keep order; remove a document that resembles a kept one, and name the most similar of those."""
    sets = [shingles(text, recipe) for text in texts]
    outcome = [(doc, 1.0) for doc in range(len(texts))]
    kept: list[int] = []
    for doc in keep_order(texts, recipe, field):
        best, best_similarity = doc, 0.0
        for other in kept:
            similarity = jaccard(sets[doc], sets[other])
            if similarity >= recipe.threshold and similarity > best_similarity:
                best, best_similarity = other, similarity
        if best == doc:
            kept.append(doc)
        else:
            outcome[doc] = (best, best_similarity)
    return outcome


def components(texts: Sequence[str], recipe: RecipeLike, field: Sequence[Any] | None = None) -> Outcome:
    """Join all pairs; of each component the first in keep order stays, and the others name it."""
    sets = [shingles(text, recipe) for text in texts]
    component = list(range(len(texts)))
    for a, b in pairs(texts, recipe):
        old, new = component[b], component[a]
        component = [new if label == old else label for label in component]
    representatives: dict[int, int] = {}
    for doc in keep_order(texts, recipe, field):
        representatives.setdefault(component[doc], doc)
    kept_docs = [representatives[label] for label in component]
    return [(kept, 1.0 if kept == doc else jaccard(sets[doc], sets[kept])) for doc, kept in enumerate(kept_docs)]


def s_curve(similarity: float, bands: int, rows: int) -> float:
    """Return the chance that a pair of this similarity meets in a bucket: 1 - (1 - s^r)^b."""
    return 1 - (1 - similarity**rows) ** bands


def simulate_s_curve(similarity: float, bands: int, rows: int, trials: int, rng: Random) -> float:
    """Return the share of trials in which all rows of some band agree, each row agreeing with chance `similarity`."""
    met = 0
    for _ in range(trials):
        agree = [[rng.random() < similarity for _ in range(rows)] for _ in range(bands)]
        met += any(all(band) for band in agree)
    return met / trials


# What settles the outcome, by the recipe's `cluster`.
CLUSTER: Final = {"anchored": anchored, "components": components}


def _clean_point(point: str, recipe: RecipeLike) -> str:
    """Return what one code point, case folded already, becomes."""
    category = unicodedata.category(point)
    if _is_space(point):
        return " "
    if category in ("Cc", "Cf") or _within(point, IGNORABLE):
        return ""
    if category[0] in "PS":
        return {"space": point if category == "Pc" else " ", "drop": "", "keep": point}[recipe.punct]
    if category == "Nd" and recipe.digits == "zero":
        return "0"
    return point


def _kind(point: str, recipe: RecipeLike) -> str:
    """Return what a code point is where words are told apart: space, mark, alone, han, or letter (all that runs on)."""
    category = unicodedata.category(point)
    if _is_space(point):
        return "space"
    if category[0] == "M":
        return "mark"
    if recipe.unit == "word" and "\u4e00" <= point <= "\u9fd5":
        return "han"
    return "alone" if (category[0] in "PS" and category != "Pc") or _within(point, ALONE[recipe.unit]) else "letter"


def _starts_of_chinese_words(clean_text: str) -> set[int]:
    """Return the places at which rjieba begins a word; what is neither ASCII nor Han to it parts words."""
    known = "".join(point if point.isascii() or "\u4e00" <= point <= "\u9fd5" else "\n" for point in clean_text)
    return set(itertools.accumulate(map(len, JIEBA.cut(known)), initial=0))


def _is_space(point: str) -> bool:
    """Tell white space: of Python, of Unicode, and the control characters that separate."""
    return point.isspace() or unicodedata.category(point)[0] == "Z" or point in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"


def _never_counts_alone(point: str) -> bool:
    """Tell the code points of which nothing but themselves makes no shingle."""
    return _is_space(point) or unicodedata.category(point)[0] == "P"


def _within(point: str, ranges: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a code point is in one of the ranges, the ends of which belong to them."""
    return any(first <= ord(point) <= last for first, last in ranges)
