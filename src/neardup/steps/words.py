"""Words: where one unit ends and the next begins in a clean text.

In: clean code points, and where `segment` says that words begin. Out: units; for `char` the code points themselves, for
`word` and `token` hashes of words, those that never count alone marked.

A word is a run of letters, marks, digits and connectors such as _. Letters of scripts that are written without spaces
stand alone (kana, Thai, Lao, Khmer, Myanmar, with `token` Han and Hangul too); with `word`, Han characters make words
as `segment` has it, among themselves and with the letters beside them. A combining mark joins the unit before it; a
punctuation mark or symbol that cleaning kept is a unit of its own.
"""

import unicodedata
from functools import lru_cache
from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.recipe import Recipe
from neardup.schema import I64, JIEBA_HAN, U8, U32, U64, Bools, CleanTexts, Units

_HAN: Final = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_KANA: Final = (
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
    (0x1B000, 0x1B16F),
)
_THAI_LAO: Final = (
    (0x0E01, 0x0E30),
    (0x0E32, 0x0E33),
    (0x0E40, 0x0E46),
    (0x0E81, 0x0EB0),
    (0x0EB2, 0x0EB3),
    (0x0EBD, 0x0EC6),
)
_KHMER_MYANMAR: Final = (
    (0x1780, 0x17B3), (0x17D7, 0x17D7), (0x17DC, 0x17DC), (0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055),
    (0x105A, 0x105D), (0x1061, 0x1061), (0x1065, 0x1066), (0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E),
)  # fmt: skip
_HANGUL: Final = ((0xAC00, 0xD7A3), (0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB))

ALONE: Final = {
    "word": (*_HAN, *_KANA, *_THAI_LAO, *_KHMER_MYANMAR),
    "token": (*_HAN, *_KANA, *_THAI_LAO, *_KHMER_MYANMAR, *_HANGUL),
}

_LETTER, _HAN_LETTER, _ALONE, _MARK, _SPACE = map(np.uint8, range(5))
_NOTHING: Final = _SPACE  # what comes before the first code point
_POINT: Final = np.uint32((1 << 21) - 1)
_LAST: Final = np.uint32(0x20)
LONELY_POINT: Final = 31  # the bit that marks a lonely code point
_MARKED: Final = np.uint32(1 << 31)
_LONELY: Final = np.uint64(1 << 63)
LONELY_WORD: Final = 63  # the bit that marks a lonely word hash


def units(cleaned: CleanTexts, recipe: Recipe, starts: Bools) -> Units:
    """Return the units of clean texts: code points for `char`, hashes of words otherwise.

    starts: bool[n_points]; whether a word may begin there, where Han is part of it. Looked at for `word` only.
    """
    if recipe.unit == "char":
        return Units(cleaned.points, cleaned.offsets)
    values = np.empty(cleaned.points.size, np.uint64)
    offsets = np.empty_like(cleaned.offsets)
    _hash_words(cleaned.points, cleaned.offsets, _kinds(recipe.unit), starts, values, offsets)
    return Units(values[: offsets[-1]], offsets)


def lonely_bit(recipe: Recipe) -> int:
    """Return which bit of a unit of this recipe says that it never counts alone."""
    return LONELY_POINT if recipe.unit == "char" else LONELY_WORD


def whole_units(cleaned: CleanTexts, recipe: Recipe) -> U64:
    """Return the hashes of the words of a list, of those that are one unit.

    Punctuation within a word parts it, as it does in texts ("don't" makes don and t). A part of several units, such as
    two Han characters with `token`, is none; with `word`, all Han characters of a part are one.
    """
    points, offsets = cleaned
    marks = np.flatnonzero((points >= _MARKED) & (_kinds(recipe.unit)[points & _POINT] != _LETTER))
    parts = np.unique(np.concatenate((offsets, marks, marks + 1)))
    found = units(CleanTexts(points, parts), recipe, np.zeros(points.size, np.bool_))
    alone = found.offsets[:-1][np.diff(found.offsets) == 1]
    hashes: U64 = found.values[alone].astype(np.uint64)
    words: U64 = hashes[hashes < _LONELY]
    return words


def hash_table(words: U64) -> U64:
    """Return the hashes of words as a table to look them up in: open addressing by the low bits, 0 where free."""
    slots = np.zeros(1 << int(2 * words.size).bit_length(), np.uint64)
    _fill_table(words, slots)
    return slots


def pass_over(found: Units, table: U64) -> Units:
    """Return the units with words in the table marked as lonely, but for texts that have no others. Overwrites them."""
    values = found.values.astype(np.uint64, copy=False)
    _mark_words(values, found.offsets, table)
    return Units(values, found.offsets)


@lru_cache(maxsize=4)
def _kinds(unit: str) -> U8:
    """Return uint8[0x110000]: how each code point takes part in words."""
    kinds = np.full(0x110000, _LETTER, np.uint8)
    for code in range(0x20000):
        category = unicodedata.category(chr(code))
        if category[0] in "PSMZ" and category != "Pc":
            kinds[code] = {"M": _MARK, "Z": _SPACE}.get(category[0], _ALONE)
    for first, last in ALONE[unit]:
        span = kinds[first : last + 1]
        span[span == _LETTER] = _ALONE
    if unit == "word":
        kinds[JIEBA_HAN[0] : JIEBA_HAN[1] + 1] = _HAN_LETTER
    return kinds


@kernel
def _hash_words(points: U32, offsets: I64, kinds: U8, starts: Bools, values: U64, out: I64) -> None:
    """values = a hash of each word, bit 63 set where it is lonely; out[doc + 1] = where the words of a text end."""
    at = 0
    out[0] = 0
    for doc in range(offsets.size - 1):
        before = _NOTHING
        word = np.uint64(0)
        lonely = np.uint64(0)
        for place in range(offsets[doc], offsets[doc + 1] + 1):
            is_end = place == offsets[doc + 1]
            point = _LAST if is_end else points[place]
            kind = _SPACE if is_end else kinds[point & _POINT]
            if before != _SPACE and (kind == _MARK or (kind == _LETTER and before == _LETTER)):
                lonely &= np.uint64(point >> np.uint32(31))
            elif max(kind, before) == _HAN_LETTER and not starts[place]:
                lonely &= np.uint64(point >> np.uint32(31))
                before = kind
            else:
                if before != _SPACE:
                    values[at] = mix(word) >> np.uint64(1) | lonely << np.uint64(63)
                    at += 1
                before = _LETTER if kind == _MARK else kind
                word = np.uint64(0)
                lonely = np.uint64(point >> np.uint32(31))
            word = (word ^ np.uint64(point)) * np.uint64(0x9E3779B97F4A7C15)
            word ^= word >> np.uint64(32)
        out[doc + 1] = at


@kernel
def _place_in(slots: U64, word: np.uint64) -> np.int64:
    """Return where a word is in a table, or would be."""
    place = np.int64(word & np.uint64(slots.size - 1))
    while slots[place] != np.uint64(0) and slots[place] != word:
        place = (place + 1) & (slots.size - 1)
    return place


@kernel
def _fill_table(words: U64, slots: U64) -> None:
    """slots = the words, each in its place."""
    for word in words:
        slots[_place_in(slots, word)] = word


@kernel
def _mark_words(values: U64, offsets: I64, slots: U64) -> None:
    """Set bit 63 of the words that are in the table, in texts with a word that neither has it nor is there."""
    for doc in range(offsets.size - 1):
        has_others = False
        for place in range(offsets[doc], offsets[doc + 1]):
            value = values[place]
            if value < _LONELY and slots[_place_in(slots, value)] != value:
                has_others = True
                break
        if has_others:
            for place in range(offsets[doc], offsets[doc + 1]):
                value = values[place]
                if value < _LONELY and slots[_place_in(slots, value)] == value:
                    values[place] = value | _LONELY
