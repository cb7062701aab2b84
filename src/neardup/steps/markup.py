"""Step 1, before the table: the text of HTML, markup taken out.

In: UTF-8 texts. Out: UTF-8 texts of the same documents. Block elements and line breaks become line ends, inline
elements join without a gap, and what scripts, styles and comments hold is left out. Pages are gone through once from
left to right, in linear time whatever they hold: markup that does not end is text.
"""

import html
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np

from neardup.schema import Texts

_INLINE: Final = frozenset(
    (
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i"),
        *("ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time"),
        *("tt", "u", "var", "wbr"),
    )
)
_UNSEEN: Final = frozenset(("script", "style", "template", "noscript", "head"))
_RAW_END: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}
_OPENING: Final = re.compile(r"<(?:!--|[!?]|/?(?P<name>[a-zA-Z][^\s/>]*))")
_REST_OF_TAG: Final = re.compile(r"""[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")
_LONG_REFERENCE: Final = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")  # beyond Unicode; slow to read as numbers


class _Piece(NamedTuple):
    """Text between markup, or a tag by its name in lower case."""

    kind: Literal["text", "start", "end"]
    value: str


def strip_markup(texts: Texts) -> Texts:
    """Return the texts without HTML markup, entities resolved."""
    stripped = [_text_of(bytes(texts.data[start:end])) for start, end in pairwise(texts.offsets)]
    offsets = np.zeros(len(stripped) + 1, np.int64)
    np.cumsum([len(text) for text in stripped], out=offsets[1:])
    return Texts(np.frombuffer(b"".join(stripped), np.uint8), offsets)


def _text_of(page: bytes) -> bytes:
    if b"<" not in page and b"&" not in page:
        return page
    seen: list[str] = []
    depth = 0
    for kind, value in _pieces(page.decode("utf-8", "surrogatepass")):
        if kind == "text":
            seen += [_resolve(value)] if not depth else []
            continue
        if value in _UNSEEN:
            depth = depth + 1 if kind == "start" else max(0, depth - 1)
        if value not in _INLINE:
            seen.append("\n")
    return "".join(seen).encode("utf-8", "surrogatepass")


def _pieces(page: str) -> Iterator[_Piece]:
    """Yield text and tags in order; comments, declarations and processing instructions are left out."""
    last_close = page.rfind(">")
    last_comment = page.rfind("-->")
    has_whole_quotes = True
    text_from = at = 0
    while (opening := _OPENING.search(page, at)) and opening.start() < last_close:
        start, at = opening.span()
        if opening[0] == "<!--":
            if start > last_comment:
                continue
            at = page.index("-->", start) + 3  # <!--> is whole
        elif opening["name"]:
            rest = _REST_OF_TAG.match(page, at) if has_whole_quotes else None
            has_whole_quotes = rest is not None  # else a quote never ends: from here on a tag ends at the next >
            at = rest.end() if rest else page.index(">", at) + 1
        else:
            at = page.index(">", at) + 1
        yield _Piece("text", page[text_from:start])
        text_from = at
        if opening["name"]:
            name = opening["name"].lower()
            yield _Piece("end" if page[start + 1] == "/" else "start", name)
            if name in _RAW_END and page[start + 1] != "/":  # no markup before its own end
                end = _RAW_END[name].search(page, at)
                at = end.start() if end else len(page)
    yield _Piece("text", page[text_from:])


def _resolve(text: str) -> str:
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text
