"""Step 1: clean texts, by one table from code point to code point.

In: UTF-8 texts. Out: clean texts as code points, those that never count alone (white space, Unicode P*) marked.
Knows nothing of shingles. What a table cannot do, because it needs the neighbors of a code point (composition and the
order of combining marks), is found by the table and left to `unicodedata.normalize`, text by text.

Source: Unicode Standard Annex 15, 1.3 and 9 (quick check: a text in which no code point may compose with the one
before it, and none is a combining mark, is normalized code point by code point).
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from neardup.errors import MissingExtraError
from neardup.kernel import kernel, mix
from neardup.recipe import Recipe
from neardup.schema import I64, U8, U32, U64, Bools, CleanTexts, Texts

LONELY: Final = np.uint32(1 << 31)  # on a clean code point: white space or punctuation, never counts alone
SPACE: Final = np.uint32(0x20 | 1 << 31)

_RARE: Final = np.uint32(1 << 30)  # on a table entry: one of the three below, not a code point
_DROP: Final = np.uint32(1 << 30)
_EXPAND: Final = np.uint32(1 << 30 | 1 << 29)  # several code points, at this place of `expansions`
_NEIGHBORS: Final = np.uint32(
    1 << 30 | 1 << 28
)  # as _EXPAND, in a text that was normalized as a whole; else it has to be
_VALUE: Final = np.uint32((1 << 28) - 1)
_POINT: Final = np.uint32((1 << 21) - 1)

_IGNORABLE: Final = frozenset(
    chain(
        (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
)
# Code points that no rule here changes, and that are many: no need to ask for each.
_PLAIN: Final = (
    (0x3400, 0x4DC0),
    (0x4E00, 0xA000),
    (0xAC00, 0xD7A4),
    (0xD800, 0xF900),
    (0x17000, 0x1B000),
    (0x20000, 0x2F800),
    (0x2FA20, 0xE0000),
    (0xE01F0, 0x110000),
)
_HAN: Final = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0x20000, 0x2F800), (0x30000, 0x323B0))
_ASKED: Final = tuple(
    chain.from_iterable(
        range(end, start) for (_, end), (start, _) in zip(((0, 0), *_PLAIN), (*_PLAIN, (0x110000, 0)), strict=True)
    )
)


_CLASSED: Final = frozenset(
    ("Cc", "Cf", "Nd", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs")
)  # categories with a rule of their own


class Rules(NamedTuple):
    """The fields of a recipe that decide what becomes of a code point."""

    normalize: str
    width: str
    case: str
    punct: str
    digits: str
    invisible: str
    space: str
    han: str


class Table(NamedTuple):
    """What becomes of each code point.

    entries: uint32[0x110000]; a clean code point (with LONELY where it never counts alone), or a rare entry.
    expansions: uint32[n]; at the place an _EXPAND entry names, a length and then that many clean code points.
    """

    entries: U32
    expansions: U32


def clean(texts: Texts, recipe: Recipe) -> CleanTexts:
    """Return the clean code points of the texts."""
    rules = Rules(*(getattr(recipe, name) for name in Rules._fields))
    cleaned, needs_neighbors = _apply(texts, table(rules), is_normalized=False)
    if not needs_neighbors.any():
        return cleaned
    docs = np.flatnonzero(needs_neighbors)
    normalized = [_normalize(bytes(texts.data[texts.offsets[doc] : texts.offsets[doc + 1]]), rules) for doc in docs]
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in normalized]))).astype(np.int64)
    mended, _ = _apply(Texts(np.frombuffer(b"".join(normalized), np.uint8), offsets), table(rules), is_normalized=True)
    return _merge(cleaned, mended, docs)


def content_hashes(cleaned: CleanTexts) -> U64:
    """Return uint64[2, n_docs]: a 128-bit hash of each clean text."""
    out = np.empty((2, cleaned.offsets.size - 1), np.uint64)
    _hash_contents(cleaned.points, cleaned.offsets, out)
    return out


def code_point_counts(texts: Texts) -> I64:
    """Return int64[n_docs]: the code points of each text before cleaning."""
    out = np.empty(texts.offsets.size - 1, np.int64)
    _count_code_points(texts.data, texts.offsets, out)
    return out


@lru_cache(maxsize=16)
def table(rules: Rules) -> Table:
    """Return what becomes of each code point by these rules."""
    entries = np.arange(0x110000, dtype=np.uint32)
    expansions: list[int] = []
    for char, fold, needs_neighbors in _changes(rules):
        points = [point for one in fold if (point := _classify(one, rules)) is not None]
        if needs_neighbors or len(points) > 1:
            entries[ord(char)] = int(_NEIGHBORS if needs_neighbors else _EXPAND) | len(expansions)
            expansions += [len(points), *points]
        else:
            entries[ord(char)] = points[0] if points else _DROP
    expanded = np.array(expansions or [0], np.uint32)
    if rules.han == "simplified":
        simplified = _simplified()
        is_plain = entries < _RARE
        entries[is_plain] = simplified[entries[is_plain]]
        expanded = np.where(expanded < _RARE, simplified[expanded & _POINT], expanded)  # a length is no Han character
    return Table(entries, expanded)


def _changes(rules: Rules) -> Iterator[tuple[str, str, bool]]:
    """Yield the code points that may become something else, what folding makes of them, and if neighbors decide."""
    chars, categories = _asked()
    before = list(chars)
    if rules.width == "half":
        first, last = chars.index("\uff00"), chars.index("\uffef") + 1
        before[first:last] = [unicodedata.normalize("NFKC", char) for char in before[first:last]]
    after = before
    neighbors = frozenset[str]()
    if rules.normalize != "none":
        after = list(map(partial(unicodedata.normalize, rules.normalize.upper()), before))  # type: ignore[arg-type]  # a literal by the recipe
        neighbors = _composing()
    folded = list(map(str.casefold, after)) if rules.case == "fold" else after
    for char, category, whole, fold in zip(chars, categories, after, folded, strict=True):
        needs_neighbors = whole[0] in neighbors
        if fold != char or needs_neighbors or category in _CLASSED or ord(char) in _IGNORABLE:
            yield char, fold, needs_neighbors


@lru_cache(maxsize=1)
def _simplified() -> U32:
    """Return uint32[0x110000]: the simplified form of each code point, by the tables of OpenCC for single characters.

    First its standard (t2s), then, for characters that this leaves, the forms of Hong Kong and Taiwan; but what the
    standard makes of another character is simplified already. One character becomes one, whatever stands beside it,
    so that what is equal stays equal; for 計畫, which is 计划, a converter of phrases has to come before.

    Raises:
        MissingExtraError: OpenCC is not installed.
    """
    try:
        from opencc import OpenCC  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise MissingExtraError(
            "han = 'simplified' takes the tables of OpenCC, which is not installed: pip install 'neardup[zh]'."
        ) from error
    chars = [chr(code) for first, last in _HAN for code in range(first, last)]
    fold: dict[str, str] = {}
    for region in ("t2s", "hk2s", "tw2s"):
        made = set(fold.values())
        lines = OpenCC(region).convert("\n".join(chars)).split("\n")
        changed = ((a, b) for a, b in zip(chars, lines, strict=True) if a != b and len(b) == 1)
        fold = {a: b for a, b in changed if a not in made} | fold
    after = np.arange(0x110000, dtype=np.uint32)
    after[list(map(ord, fold))] = list(map(ord, fold.values()))
    return after[after[after]]  # 薴 becomes 苧, and 苧 becomes 苎


@lru_cache(maxsize=1)
def _asked() -> tuple[list[str], list[str]]:
    """Return the code points that some rule may change, and their categories."""
    chars = list(map(chr, _ASKED))
    return chars, list(map(unicodedata.category, chars))


@lru_cache(maxsize=1)
def _composing() -> frozenset[str]:
    """Return the code points that may compose with the one before them (NFC_Quick_Check = Maybe), and all marks.

    Two marks in a row may have to change places; a text with one is left to `unicodedata` without asking further.
    """
    jamo = map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3)))
    parts = (unicodedata.decomposition(chr(code)).split() for code in _ASKED)
    seconds = (chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and pair[0][0] != "<")
    return frozenset(chain(jamo, seconds, filter(unicodedata.combining, _asked()[0])))


def _classify(char: str, rules: Rules) -> int | None:
    """Return the clean code point for a folded one, marked where it never counts alone; None where it is dropped."""
    category = unicodedata.category(char)
    if char.isspace() or category[0] == "Z":
        return int(SPACE) if rules.space == "collapse" else None
    if rules.invisible == "drop" and (category in ("Cc", "Cf") or ord(char) in _IGNORABLE):
        return None
    if category[0] in "PS":
        if (
            rules.punct == "space" and category != "Pc"
        ):  # connectors such as _ are parts of words (UAX 29, ExtendNumLet)
            return int(SPACE) if rules.space == "collapse" else None
        mark = int(LONELY) if category[0] == "P" else 0
        return None if rules.punct == "drop" else ord(char) | mark
    return 0x30 if rules.digits == "zero" and category == "Nd" else ord(char)


def _normalize(text: bytes, rules: Rules) -> bytes:
    """Return a text normalized as a whole, so that a table without normalization finishes it."""
    chars = text.decode("utf-8", "surrogatepass")
    if rules.width == "half" and rules.normalize != "nfkc":
        chars = "".join(unicodedata.normalize("NFKC", char) if "\uff00" <= char <= "\uffef" else char for char in chars)
    return unicodedata.normalize(rules.normalize.upper(), chars).encode("utf-8", "surrogatepass")  # type: ignore[arg-type]  # a literal by the recipe


def _apply(texts: Texts, by: Table, *, is_normalized: bool) -> tuple[CleanTexts, Bools]:
    """Return the texts by the table, and which of them need normalizing as a whole (those are left empty)."""
    n_docs = texts.offsets.size - 1
    capacity = int(texts.offsets[-1] - texts.offsets[0]) + 64
    offsets = np.empty(n_docs + 1, np.int64)
    needs_neighbors = np.zeros(n_docs, np.bool_)
    while True:
        points = np.empty(capacity, np.uint32)
        if _clean_texts(*texts, *by, is_normalized, points, offsets, needs_neighbors):
            return CleanTexts(points[: offsets[-1]], offsets), needs_neighbors
        capacity *= 2


def _merge(cleaned: CleanTexts, mended: CleanTexts, docs: I64) -> CleanTexts:
    """Return the clean texts with those of `docs`, which are empty there, taken from `mended`."""
    lengths = np.diff(cleaned.offsets)
    lengths[docs] = np.diff(mended.offsets)
    pieces: list[U32] = []
    at = 0
    for place, doc in enumerate(docs):
        pieces += [
            cleaned.points[at : cleaned.offsets[doc]],
            mended.points[mended.offsets[place] : mended.offsets[place + 1]],
        ]
        at = cleaned.offsets[doc]
    pieces.append(cleaned.points[at : cleaned.offsets[-1]])
    return CleanTexts(np.concatenate(pieces), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64))


@kernel
def _clean_texts(  # noqa: C901, PLR0912  # a UTF-8 decoder and its five outcomes are one loop
    data: U8,
    offsets: I64,
    entries: U32,
    expansions: U32,
    is_normalized: bool,
    points: U32,
    out: I64,
    needs_neighbors: Bools,
) -> bool:
    """Write the clean code points of each text to `points` and where each ends to `out`; False where there is no room.

    White space is collapsed and stripped on the way. Bytes that are no UTF-8 become U+FFFD and never lead outside.
    """
    at = 0
    out[0] = 0
    for doc in range(offsets.size - 1):
        start = at
        place = offsets[doc]
        end = offsets[doc + 1]
        after_space = True
        while place < end:
            byte = np.uint32(data[place])
            if byte < 0x80:
                code = byte
                place += 1
            elif byte < 0xE0 and place + 1 < end:
                code = (byte & np.uint32(0x1F)) << np.uint32(6) | np.uint32(data[place + 1]) & np.uint32(0x3F)
                place += 2
            elif byte < 0xF0 and place + 2 < end:
                code = (
                    (byte & np.uint32(0x0F)) << np.uint32(12)
                    | (np.uint32(data[place + 1]) & np.uint32(0x3F)) << np.uint32(6)
                    | np.uint32(data[place + 2]) & np.uint32(0x3F)
                )
                place += 3
            elif place + 3 < end:
                code = (
                    (byte & np.uint32(0x07)) << np.uint32(18)
                    | (np.uint32(data[place + 1]) & np.uint32(0x3F)) << np.uint32(12)
                    | (np.uint32(data[place + 2]) & np.uint32(0x3F)) << np.uint32(6)
                    | np.uint32(data[place + 3]) & np.uint32(0x3F)
                )
                place += 4
                if code > 0x10FFFF:
                    code = np.uint32(0xFFFD)
            else:
                code = np.uint32(0xFFFD)
                place = end
            entry = entries[code]
            if entry & _RARE:
                if entry == _DROP:
                    continue
                if entry & _NEIGHBORS == _NEIGHBORS and not is_normalized:
                    needs_neighbors[doc] = True
                    at = start
                    place = end
                    continue
                first = np.int64(entry & _VALUE)
                length = np.int64(expansions[first])
                if at + length + (offsets[offsets.size - 1] - place) > points.size:
                    return False
                for point in expansions[first + 1 : first + 1 + length]:
                    is_space = point == SPACE
                    points[at] = point
                    at += 1 - (is_space & after_space)
                    after_space = is_space
                continue
            is_space = entry == SPACE
            points[at] = entry
            at += 1 - (is_space & after_space)
            after_space = is_space
        if at > start and points[at - 1] == SPACE:
            at -= 1
        out[doc + 1] = at
    return True


@kernel
def _hash_contents(points: U32, offsets: I64, out: U64) -> None:
    """out[:, doc] = two independent 64-bit hashes of the code points of a clean text, two at a time."""
    for doc in range(offsets.size - 1):
        start = offsets[doc]
        end = offsets[doc + 1]
        high = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
        low = np.uint64(end - start) ^ np.uint64(0xD6E8FEB86659FD93)
        for place in range(start, end - 1, 2):
            word = np.uint64(points[place]) << np.uint64(32) | np.uint64(points[place + 1])
            high = (high ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            high ^= high >> np.uint64(32)
            low = (low ^ word) * np.uint64(0x94D049BB133111EB)
            low ^= low >> np.uint64(29)
        if (end - start) & 1:
            high = (high ^ np.uint64(points[end - 1])) * np.uint64(0xBF58476D1CE4E5B9)
            low = (low ^ np.uint64(points[end - 1])) * np.uint64(0x94D049BB133111EB)
        out[0, doc] = mix(high)
        out[1, doc] = mix(low)


@kernel
def _count_code_points(data: U8, offsets: I64, out: I64) -> None:
    """out[doc] = bytes of the text that begin a code point."""
    for doc in range(offsets.size - 1):
        count = 0
        for place in range(offsets[doc], offsets[doc + 1]):
            count += (data[place] & np.uint8(0xC0)) != np.uint8(0x80)
        out[doc] = count
