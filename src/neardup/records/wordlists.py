"""Lists of words that users bring: stop words, dictionaries in the form of jieba's, vectors in that of word2vec.

Read whole, as UTF-8; they may be compressed by gzip.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from neardup.errors import InputError
from neardup.schema import F32, UserWord

_GZIP: Final = b"\x1f\x8b"
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


def load_word_vectors(path: Path) -> tuple[list[str], F32]:
    """Return the words and float32[n_words, dimension] of a text file of word2vec: `word number number ...` a line.

    The first line may give how many words and numbers there are. It may be compressed by gzip.

    Raises:
        InputError: the file cannot be read, or a line has another form.
    """
    words: list[str] = []
    rows: list[F32] = []
    for number, line in _lines(path, "vectors"):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and len(numbers) == 1 and word.isdigit():
            continue
        row = _numbers(numbers)
        if row is None or not row.size or (rows and row.size != rows[0].size):
            wanted = f"{rows[0].size:,} numbers" if rows else "numbers"
            raise InputError(f"{path}, line {number}: not a word and {wanted}, parted by single spaces.")
        words.append(word)
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: holds no vectors; the form is `word number number ...`, a word a line.")
    return words, np.stack(rows)


def _numbers(parts: list[str]) -> F32 | None:
    """Return finite numbers, or None where one is none."""
    try:
        row = np.array(parts, np.float32)
    except ValueError:
        return None
    return row if np.isfinite(row).all() else None


def _lines(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that are not blank, with their numbers from 1."""
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot read the {what}: {getattr(error, 'strerror', None) or error}.") from error
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number}: not UTF-8: {error.reason} at byte {error.start}. Save the {what} as UTF-8."
            ) from error
        if text.strip():
            yield number, text
