"""Words: where one unit ends and the next begins in a clean text.

In: clean code points. Out: units; for `char` the code points themselves, for `word` and `token` hashes of words.

A word is a run of letters, marks, digits and connectors such as _. Letters of scripts that are written without spaces
stand alone (`word`: Han, kana, Thai, Lao, Khmer, Myanmar; `token`: Hangul too); a combining mark joins the unit before
it; a punctuation mark or symbol that cleaning kept is a unit of its own.
"""

import unicodedata
from functools import lru_cache
from typing import Final

import numpy as np

from neardup.kernel import kernel, mix
from neardup.recipe import Recipe
from neardup.schema import I64, U8, U32, U64, CleanTexts, Units

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

_LETTER, _ALONE, _MARK, _SPACE = map(np.uint8, range(4))
_NOTHING: Final = _SPACE  # what comes before the first code point
_POINT: Final = np.uint32((1 << 21) - 1)
_LAST: Final = np.uint32(0x20)
LONELY_POINT: Final = 31  # the bit that marks a lonely code point
LONELY_WORD: Final = 63  # the bit that marks a lonely word hash


def units(cleaned: CleanTexts, recipe: Recipe) -> Units:
    """Return the units of clean texts: code points for `char`, hashes of words otherwise."""
    if recipe.unit == "char":
        return Units(cleaned.points, cleaned.offsets)
    values = np.empty(cleaned.points.size, np.uint64)
    offsets = np.empty_like(cleaned.offsets)
    _hash_words(cleaned.points, cleaned.offsets, _kinds(recipe.unit), values, offsets)
    return Units(values[: offsets[-1]], offsets)


def lonely_bit(recipe: Recipe) -> int:
    """Return which bit of a unit of this recipe says that it never counts alone."""
    return LONELY_POINT if recipe.unit == "char" else LONELY_WORD


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
    return kinds


@kernel
def _hash_words(points: U32, offsets: I64, kinds: U8, values: U64, out: I64) -> None:
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
