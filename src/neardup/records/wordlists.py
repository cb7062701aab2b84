"""Lists of words that users bring: stop words, and dictionaries in the form of jieba's."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from neardup.errors import InputError
from neardup.schema import UserWord

_COMMENT: Final = re.compile(r"(?:^|\s)#")
_MOST_DIGITS: Final = 12
_USER_WORD: Final = re.compile(r"(.+?)(?: ([0-9]+))?(?: ([a-z]+))?")


def load_stopwords(path: Path) -> list[str]:
    """Return the words of a UTF-8 file: one a line; a # at the start or after a space begins a comment.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has two words in a line.
    """
    words: list[str] = []
    for number, line in _lines(path, "stop words"):
        found = _COMMENT.split(line, 1)[0].split()
        if len(found) > 1:
            raise InputError(f"{path}, line {number}: {' '.join(found)!r} is more than one word; give each a line.")
        words += found
    return words


def load_user_words(path: Path) -> list[UserWord]:
    """Return the words of a dictionary in the form of jieba's: `word [frequency] [tag]` a line, parted by spaces.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has a frequency beyond reason.
    """
    words: list[UserWord] = []
    for number, line in _lines(path, "user dictionary"):
        match = _USER_WORD.fullmatch(line.strip())
        assert match is not None  # a line that is not blank has a word
        word, frequency, tag = match.groups()
        if len(frequency or "") > _MOST_DIGITS:
            raise InputError(f"{path}, line {number}: the frequency of {word!r} has more than {_MOST_DIGITS} digits.")
        words.append(UserWord(word, int(frequency) if frequency else None, tag))
    return words


def _lines(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that are not blank, with their numbers from 1."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the {what}: {error.strerror}.") from error
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number}: not UTF-8: {error.reason} at byte {error.start}. Save the {what} as UTF-8."
            ) from error
        if text.strip():
            yield number, text
