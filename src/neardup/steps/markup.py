"""Step 1, before the table: the text of HTML, markup taken out.

In: UTF-8 texts. Out: UTF-8 texts of the same documents. Block elements and line breaks become line ends, inline
elements join without a gap, and what scripts, styles and comments hold is left out. Parsing is the standard library's.
"""

from html.parser import HTMLParser
from itertools import pairwise
from typing import Final

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


def strip_markup(texts: Texts) -> Texts:
    """Return the texts without HTML markup, entities resolved."""
    stripped = [_text_of(bytes(texts.data[start:end])) for start, end in pairwise(texts.offsets)]
    offsets = np.zeros(len(stripped) + 1, np.int64)
    np.cumsum([len(text) for text in stripped], out=offsets[1:])
    return Texts(np.frombuffer(b"".join(stripped), np.uint8), offsets)


def _text_of(page: bytes) -> bytes:
    if b"<" not in page and b"&" not in page:
        return page
    parser = _TextOnly()
    parser.feed(page.decode("utf-8", "surrogatepass"))
    parser.close()
    return "".join(parser.pieces).encode("utf-8", "surrogatepass")


class _TextOnly(HTMLParser):
    """Collects what a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # the parser's form
        self._unseen += tag in _UNSEEN
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # the parser's form
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(data)

    def _break(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")
