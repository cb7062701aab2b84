"""Formats: from a file's name to how its bytes are opened and its records parsed.

A format is one entry of FORMATS. Compression is told by a last suffix, .gz or .zst, of the formats made of text.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, NamedTuple

import pyarrow as pa

from neardup.errors import InputError, MissingExtraError


class Format(NamedTuple):
    """How records of a kind of file are told apart.

    name: as in `--format`.
    suffixes: of file names, without the dot.
    made_of: "lines" (a record a line), "csv", or "columns" (Arrow's own formats, never compressed around).
    """

    name: str
    suffixes: tuple[str, ...]
    made_of: str


FORMATS: Final = {
    format.name: format
    for format in (
        Format("txt", ("txt",), "lines"),
        Format("jsonl", ("jsonl", "ndjson"), "lines"),
        Format("csv", ("csv",), "csv"),
        Format("tsv", ("tsv",), "csv"),
        Format("parquet", ("parquet",), "columns"),
        Format("arrow", ("arrow", "feather", "ipc"), "columns"),
    )
}
COMPRESSIONS: Final = {"gz": "gzip", "zst": "zstd"}
_BOM: Final = codecs.BOM_UTF8
_MAGIC: Final = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_DAMAGED: Final = (EOFError, gzip.BadGzipFile, zlib.error, pa.ArrowException, OSError)


class FileKind(NamedTuple):
    """What a name says of a file: its format, and its compression or None."""

    format: Format
    compression: str | None


def kind_of(name: str) -> FileKind | None:
    """Return what the suffixes of a name say, or None where they say nothing."""
    stem, _, last = os.path.basename(name).rpartition(".")
    compression = COMPRESSIONS.get(last.lower())
    if compression:
        last = stem.rpartition(".")[2]
    for format in FORMATS.values():
        if last.lower() in format.suffixes and not (compression and format.made_of == "columns"):
            return FileKind(format, compression)
    return None


def known_suffixes() -> str:
    """Return the suffixes of all formats, for a message."""
    return ", ".join(f".{suffix}" for format in FORMATS.values() for suffix in format.suffixes)


def named_kind(name: str, given: str | None) -> FileKind:
    """Return the kind of a file from the format the user named, or else from its name.

    Raises:
        InputError: neither says which; the text names what is known.
    """
    compression = COMPRESSIONS.get(name.rpartition(".")[2].lower())
    if given is not None:
        if given not in FORMATS:
            raise InputError(f"--format is one of {', '.join(FORMATS)}; not {given!r}.")
        return FileKind(FORMATS[given], compression)
    kind = kind_of(name)
    if kind is None:
        raise InputError(
            f"{name}: cannot tell its format; known suffixes: {known_suffixes()} (and .gz, .zst). Or use --format."
        )
    return kind


def sniff(head: bytes) -> FileKind:
    """Return the kind of a stream without a name, from its first bytes (compressed ones count by what is inside)."""
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return FileKind(FORMATS[name], None)
    compression = "gzip" if head.startswith(b"\x1f\x8b") else "zstd" if head.startswith(b"\x28\xb5\x2f\xfd") else None
    if compression == "gzip":
        head = zlib.decompressobj(31).decompress(head, 4096)
    elif compression == "zstd":
        stream = pa.CompressedInputStream(pa.BufferReader(head), "zstd")
        head = b""
        while len(head) < 4096 and not head.removeprefix(_BOM).strip() and (byte := stream.read(1)):
            head += byte
    is_json = head.removeprefix(_BOM).lstrip()[:1] == b"{"
    return FileKind(FORMATS["jsonl" if is_json else "txt"], compression)


@contextmanager
def open_bytes(path: str, compression: str | None) -> Iterator[IO[bytes]]:
    """Open the bytes of a file or URL, decompressed.

    Raises:
        InputError: it cannot be opened, or the compressed stream is cut or damaged (also while it is read).
    """
    with _open_plain(path) as plain:
        try:
            if compression == "gzip":
                yield gzip.GzipFile(fileobj=plain, mode="rb")  # type: ignore[misc]  # reads as IO[bytes] does
            elif compression == "zstd":
                yield pa.CompressedInputStream(pa.PythonFile(plain, mode="r"), "zstd")
            else:
                yield plain
        except _DAMAGED as error:
            if isinstance(error, InputError):
                raise
            at = f" near byte {plain.tell():,}" if compression and not plain.closed else ""
            what = f"the {compression} stream is cut or damaged" if compression else "cannot be read"
            raise InputError(f"{path}: {what}{at}: {_reason(error)}.") from error


@contextmanager
def _open_plain(path: str) -> Iterator[IO[bytes]]:
    if "://" not in path:
        try:
            file = open(path, "rb")  # noqa: SIM115  # closed below
        except OSError as error:
            raise InputError(f"{path}: cannot be opened: {_reason(error)}.") from error
    else:
        import fsspec  # noqa: PLC0415  # takes .1 s to load, and few read URLs

        try:
            file = fsspec.open(path, "rb").open()
        except ImportError as error:
            raise MissingExtraError(f"{path}: {error}. Install what it names with pip.") from error
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be opened: {_reason(error)}.") from error
    with file:
        yield file


def _reason(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()).rstrip(".") or type(error).__name__
