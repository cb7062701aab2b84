"""Where the words of Chinese begin, by the dictionary of jieba.

In: clean code points. Out: a mark on each at which a word begins, as far as Han characters are concerned. The rest of
the rule for words stands in `words`.

jieba looks at runs of its alphabet, Han characters of two blocks and ASCII, one at a time; everything else parts runs.
So runs with a Han character in them are all that is sent to it, many in one call, and where its words begin is the
same as if it had been given the whole text.

Source: jieba, https://github.com/fxsjy/jieba: the likeliest way through a graph of dictionary words, unknown words by a
hidden Markov model. rjieba is a port to Rust with the same dictionary and output.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

import numpy as np

from neardup.errors import MissingExtraError
from neardup.kernel import kernel
from neardup.schema import I64, JIEBA_HAN, U32, Bools, CleanTexts, UserWord

_POINT: Final = np.uint32((1 << 21) - 1)
_SPACE: Final = np.uint32(0x20)
_ASCII: Final = np.uint32(0x7F)
_PARTED: Final = np.uint32(0x0A)  # between runs: never part of a word
_FIRST, _LAST = map(np.uint32, JIEBA_HAN)
_CALL: Final = 1 << 16  # code points of a call; its words are objects for as long as it lasts


class Segmenter(Protocol):
    """Cuts Chinese text into words."""

    def cut(self, text: str) -> list[str]:
        """Return the words, which put together are the text."""


def segmenter(user_words: Sequence[UserWord]) -> Segmenter:
    """Return jieba with these words beside its own.

    Raises:
        MissingExtraError: rjieba is not installed.
    """
    try:
        from rjieba import Jieba  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise MissingExtraError(
            "unit = 'word' cuts Chinese by the dictionary of rjieba, which is not installed: pip install "
            "'neardup[zh]', or take unit = 'token' (--unit token), which needs nothing."
        ) from error
    found: Segmenter = (jieba := Jieba())
    for word in user_words:
        jieba.add_word(*word)
    return found


def word_starts(cleaned: CleanTexts, load: Callable[[], Segmenter]) -> Bools:
    """Return bool[n_points]: false where a code point continues a word of jieba's, true everywhere else.

    load: gives the segmenter; called only if a text has Han characters.
    """
    points, offsets = cleaned
    starts = np.ones(points.size + 1, np.bool_)  # the last place is for what parts runs
    if not _has_han(points):
        return starts[:-1]
    sent = np.empty(points.size + offsets.size, np.uint32)
    places = np.empty(sent.size, np.int64)
    n_sent = _collect_runs(points, offsets, sent, places)
    cut = load().cut
    for part in _parts(sent[:n_sent]):
        words = cut(sent[part].tobytes().decode("utf-32-le"))
        ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
        its_places = places[part]
        starts[its_places] = False
        starts[its_places[np.concatenate(([0], ends[:-1]))]] = True
    return starts[:-1]


def _parts(sent: U32) -> Iterator[slice]:
    """Yield whole runs, of _CALL code points together or some more."""
    ends = np.flatnonzero(sent == _PARTED) + 1
    start = 0
    while start < sent.size:
        end = int(ends[min(int(np.searchsorted(ends, start + _CALL)), ends.size - 1)])
        yield slice(start, end)
        start = end


@kernel
def _has_han(points: U32) -> bool:
    """Tell whether there is a character that jieba knows."""
    found = False
    for point in points:
        found |= (point >= _FIRST) & (point <= _LAST)
    return found


@kernel
def _collect_runs(points: U32, offsets: I64, sent: U32, places: I64) -> int:
    """sent = the runs of Han and ASCII that have Han, each with a line end after it; places = where they stand.

    Return how many code points that is. The place of a line end is behind the last code point.
    """
    at = 0
    for doc in range(offsets.size - 1):
        start = at
        has_han = False
        for place in range(offsets[doc], offsets[doc + 1] + 1):
            point = _SPACE if place == offsets[doc + 1] else points[place] & _POINT
            is_han = bool(_FIRST <= point <= _LAST)
            if is_han or (point <= _ASCII and point != _SPACE):
                sent[at] = point
                places[at] = place
                at += 1
                has_han |= is_han
            elif has_han:
                sent[at] = _PARTED
                places[at] = points.size
                at += 1
                start = at
                has_han = False
            else:
                at = start
    return at
