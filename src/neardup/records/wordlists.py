"""Lists of words that users bring: stop words, and dictionaries in the form of jieba's."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from neardup.errors import InputError
from neardup.schema import UserWord

_USER_WORD: Final = re.compile(r"(.+?)(?: ([0-9]+))?(?: ([a-z]+))?")


def load_stopwords(path: Path) -> list[str]:
    """Return the words of a UTF-8 file: one a line, what follows a # left out.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has two words in a line.
    """
    words: list[str] = []
    for number, line in _lines(path, "stop words"):
        found = line.partition("#")[0].split()
        if len(found) > 1:
            raise InputError(f"{path}, line {number}: {' '.join(found)!r} is more than one word; give each a line.")
        words += found
    return words


def load_user_words(path: Path) -> list[UserWord]:
    """Return the words of a dictionary in the form of jieba's: `word [frequency] [tag]` a line, parted by spaces.

    Raises:
        InputError: the file cannot be read, or is not UTF-8.
    """
    found = [_USER_WORD.fullmatch(line.strip()) for _, line in _lines(path, "user dictionary")]
    return [UserWord(match[1], int(match[2]) if match[2] else None, match[3]) for match in found if match]


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
