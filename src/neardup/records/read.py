"""Read: any data to documents, in order, with the records that could not be read counted.

Documents are read in passes: once for texts, ids and the keep policy's column (`batches`), then as often as needed for
the texts of some (`texts`) or for whole records (`records`). Nothing read is kept; a file is read again, and must not
have changed.
"""

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from neardup.errors import InputError, OutputError, UsageError
from neardup.records.chunks import Bad, Chunk, Wanted
from neardup.records.formats import FileKind, kind_of, known_suffixes, named_kind, sniff
from neardup.records.frames import open_frame
from neardup.records.lines import LineChunk, LineSource
from neardup.records.tables import ColumnSource, CsvSource
from neardup.records.vectors import dimension_of
from neardup.schema import I64, Batch, as_arrow

STDIN: Final = "-"


class Paths(tuple[str, ...]):
    """Names of files, folders, globs, URLs, or - for standard input: what tells them from a list of texts."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How records become documents.

    Attributes:
        text, id, field: the columns that hold the texts, the ids (None: numbers), the keep policy's values (or None).
        within: the column whose equal values part what is compared, or None.
        on_bad_record: whether a record that cannot be read stops the run.
        encoding: of text files. format: of files whose names do not tell, or None. temp_dir: where stdin is spooled.
        vectors: whether the texts are vectors.
    """

    text: str
    id: str | None
    field: str | None
    on_bad_record: Literal["fail", "skip"]
    encoding: str
    format: str | None
    temp_dir: str | None
    within: str | None = None
    vectors: bool = False

    @property
    def wanted(self) -> Wanted:
        """The columns that are wanted of each record."""
        return Wanted(text=self.text, id=self.id, field=self.field, within=self.within, vectors=self.vectors)


@dataclass(slots=True)
class Rejected:
    """Records that could not be read: how many, by reason, and where the first of each reason is."""

    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many there are."""
        return self.reasons.total()


class Records(NamedTuple):
    """Whole records of consecutive documents.

    first_doc: position of the first document. chunk: the records. positions: int64[n_docs], of the documents in it.
    """

    first_doc: int
    chunk: Chunk
    positions: I64


class Source(Protocol):
    """Records in order, to be gone through any number of times.

    path: the file, or what to call a table in memory.
    """

    path: str

    def chunks(self, columns: Sequence[str] | None) -> Iterator[Chunk]:
        """Yield the records; of the columns at least these, all with None."""


_SOURCES: Final[dict[str, Callable[[str, FileKind, str], Source]]] = {
    "lines": LineSource,
    "csv": CsvSource,
    "columns": ColumnSource,
}


class Documents:
    """Documents of some data.

    Attributes:
        inputs: the names of the files or the frame, in reading order.
        dimension: how many numbers each vector has, where texts are vectors and that is known.
        rejected, n_read, text_bytes: of the last reading in whole; n_read counts rejected records too.
    """

    def __init__(self, sources: Sequence[Source], reading: Reading, spooled: str | None = None) -> None:
        self.inputs = ["standard input" if source.path == spooled else source.path for source in sources]
        self.dimension: int | None = None
        self.rejected = Rejected()
        self.n_read = 0
        self.text_bytes = 0
        self._line_bytes = 0
        self._sources = sources
        self._reading = reading
        self._spooled = spooled
        self._remove_spooled = weakref.finalize(self, _remove, spooled)
        self._states: dict[str, tuple[int, int] | None] = {}
        self._good: list[I64 | None] = []  # of each chunk, the positions of good records; None where all are

    @property
    def paths(self) -> list[str]:
        """The local files that are read."""
        return [source.path for source in self._sources if os.path.isfile(source.path)]

    @property
    def kind(self) -> FileKind | None:
        """What the first file is, or None where there is none."""
        return next((kind_of(path) for path in self.paths if path != self._spooled), None)

    @property
    def expected_records(self) -> int | None:
        """About how many records there are, judged by those read so far, or None where nothing tells."""
        sizes = [source.n_bytes for source in self._sources if isinstance(source, LineSource) and source.n_bytes]
        if len(sizes) < len(self._sources) or not self._line_bytes:
            return None
        return max(self.n_read, round(self.n_read * sum(sizes) / self._line_bytes))

    def batches(self) -> Iterator[Batch]:
        """Yield all documents, and count anew what is read and rejected.

        Raises:
            InputError: a file or column cannot be read, or a record where a bad one stops the run.
        """
        wanted = replace(self._reading.wanted, dimension=self.dimension)
        names = [name for name in dict.fromkeys((wanted.text, *wanted.beside)) if name is not None]
        self.rejected = Rejected()
        self.n_read = self.text_bytes = self._line_bytes = first_doc = 0
        self._good = []
        for source, chunk in self._chunks(names):
            found = chunk.extract(wanted)
            if wanted.vectors and wanted.dimension is None:
                self.dimension = dimension_of(found.texts)
                wanted = replace(wanted, dimension=self.dimension)
            if found.bad:
                self._reject(source, found.bad)
            self._good.append(None if found.good.size == chunk.n_records else found.good)
            ids, field, within = found.beside
            ids = as_arrow(self.n_read + found.good) if ids is None else ids
            self.n_read += chunk.n_records
            self._line_bytes += len(chunk.data) if isinstance(chunk, LineChunk) else 0
            self.text_bytes += _n_bytes(found.texts)
            yield Batch(first_doc, found.texts, ids, field, within)
            first_doc += found.good.size
        self._refuse_if_all_lack_the_field(first_doc)

    def texts(self, docs: I64) -> Iterator[pa.LargeBinaryArray]:
        """Yield the texts of these documents (ascending), some at a time."""
        for records in self._again([self._reading.text]):
            last_doc = records.first_doc + records.positions.size
            some = docs[np.searchsorted(docs, records.first_doc) : np.searchsorted(docs, last_doc)]
            if some.size:
                yield records.chunk.texts(records.positions[some - records.first_doc], self._reading.wanted)

    def records(self) -> Iterator[Records]:
        """Yield the whole records of all documents, some at a time."""
        return self._again(None)

    def close(self) -> None:
        """Remove what was spooled; this also happens when nobody can ask for it any more."""
        self._remove_spooled()

    def _again(self, columns: Sequence[str] | None) -> Iterator[Records]:
        first_doc = 0
        for number, (source, chunk) in enumerate(self._chunks(columns)):
            if number >= len(self._good):
                raise InputError(_changed(source.path))
            good = self._good[number]
            positions = np.arange(chunk.n_records) if good is None else good
            yield Records(first_doc, chunk, positions)
            first_doc += positions.size

    def _chunks(self, columns: Sequence[str] | None) -> Iterator[tuple[Source, Chunk]]:
        for source in self._sources:
            self._check_unchanged(source.path)
            for chunk in source.chunks(columns):
                yield source, chunk
            self._check_unchanged(source.path)

    def _check_unchanged(self, path: str) -> None:
        state = None
        if os.path.isfile(path):
            found = os.stat(path)
            state = found.st_size, found.st_mtime_ns
        if self._states.setdefault(path, state) != state:
            raise InputError(_changed(path))

    def _reject(self, source: Source, bad: Sequence[Bad]) -> None:
        for one in bad:
            place = f"{source.path}:{one.where}" if one.where.isdigit() else f"{source.path}: {one.where}"
            if self._reading.on_bad_record == "fail":
                is_id = (
                    one.reason.startswith(f"no field {self._reading.id!r}") and self._reading.id != self._reading.text
                )
                flag = "--id-field" if is_id else "--text-field"
                remedy = f"Choose the field with {flag}" if one.reason.startswith("no field") else "Mend it"
                raise InputError(f"{place}: {one.reason}. {remedy}, or use --on-bad-record skip to count such records.")
            reason = one.reason.partition(":")[0].partition(";")[0]
            self.rejected.reasons[reason] += 1
            self.rejected.examples.setdefault(reason, f"{place}: {one.reason}")

    def _refuse_if_all_lack_the_field(self, n_docs: int) -> None:
        lacking = f"no field {self._reading.text!r}"
        if not n_docs and self.rejected.total and self.rejected.reasons[lacking] == self.rejected.total:
            raise InputError(
                f"{self.rejected.examples[lacking]}; no other has it either. Choose one with --text-field."
            )


def open_documents(data: Any, reading: Reading, *, outputs: Sequence[str] = ()) -> Documents:  # noqa: ANN401  # any data
    """Return the documents of a path, several, or data in memory.

    Raises:
        InputError: there is nothing to read, or a name says nothing of its format.
        UsageError: data nobody can read texts from, or an output that is an input.
    """
    if isinstance(data, (str, os.PathLike)):
        data = Paths((os.fspath(data),))
    elif isinstance(data, (list, tuple)) and data and all(isinstance(one, os.PathLike) for one in data):
        data = Paths(map(os.fspath, data))
    if not isinstance(data, Paths):
        return Documents([open_frame(data, reading.wanted)], reading)
    spooled = _spool(reading.temp_dir) if STDIN in data else None
    try:
        names = _expand(data, outputs)
        sources = [
            _open(spooled if name == STDIN and spooled else name, reading, is_spooled=name == STDIN) for name in names
        ]
    except BaseException:
        _remove(spooled)
        raise
    return Documents(sources, reading, spooled)


def _remove(path: str | None) -> None:
    if path is not None:
        Path(path).unlink(missing_ok=True)


def same_file(a: str, b: str) -> bool:
    """Say whether two names are one file, by whatever links; neither needs to exist."""
    if os.path.exists(a) and os.path.exists(b):
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


def _open(path: str, reading: Reading, *, is_spooled: bool) -> Source:
    if is_spooled:
        with open(path, "rb") as file:
            sniffed = sniff(file.read(1 << 16))
        given = named_kind(path, reading.format).format if reading.format else sniffed.format
        kind = FileKind(given, sniffed.compression)
    else:
        kind = named_kind(path, reading.format)
    return _SOURCES[kind.format.made_of](path, kind, reading.encoding)


def _spool(temp_dir: str | None) -> str:
    """Copy standard input to a temporary file; return its path."""
    path = None
    try:
        handle, path = tempfile.mkstemp(prefix="neardup-stdin-", dir=temp_dir)
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    except BaseException as error:
        _remove(path)
        if isinstance(error, OSError):
            raise OutputError(
                f"{temp_dir or tempfile.gettempdir()}: cannot spool standard input: {error.strerror or error}. "
                "Choose a folder with room by --temp-dir."
            ) from error
        raise
    return path


def _expand(names: Iterable[str], outputs: Sequence[str]) -> list[str]:
    """Return the files to read, each once; outputs found in folders or by globs are left out, named ones refused."""
    files: dict[str, str] = {}
    for name in (name.removeprefix("file://") for name in names):
        found = _found_by(name)
        for path in found:
            is_output = (
                "://" not in path and path != STDIN and any(same_file(path, one) for one in outputs if one != "-")
            )
            if is_output and found == [name]:
                raise UsageError(f"{path}: is an input and an output; write to another file.")
            if not is_output:
                files.setdefault(path if "://" in path or path == STDIN else os.path.realpath(path), path)
    if not files:
        raise InputError(
            "nothing to read: the only files found are outputs of this run." if outputs else "nothing to read."
        )
    return list(files.values())


def _found_by(name: str) -> list[str]:
    if name == STDIN or "://" in name or os.path.isfile(name):
        return [name]
    if os.path.isdir(name):
        found = sorted(path for path in _walk(name) if kind_of(path))
        if not found:
            raise InputError(
                f"{name}: no files to read in this folder; known suffixes: {known_suffixes()} (and .gz, .zst)."
            )
        return found
    if glob.has_magic(name):
        matches = (path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        found = sorted(path for path in matches if not _is_mark(os.path.basename(path)))
        if not found:
            raise InputError(f"{name}: matches no file.")
        return found
    raise InputError(f"{name}: no such file." if not os.path.exists(name) else f"{name}: is not a file.")


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (os.path.join(parent, name) for name in files if not name.startswith((".", "_")))


def _is_mark(name: str) -> bool:
    """Say whether a file is a mark that some tool left beside its outputs, such as _SUCCESS."""
    return name.startswith("_") or name.endswith(".crc")


def _changed(path: str) -> str:
    return f"{path}: has changed while it was being read; run again when nothing writes to it."


def _n_bytes(texts: pa.LargeBinaryArray) -> int:
    offsets = np.frombuffer(texts.buffers()[1] or b"", np.int64)
    return int(offsets[texts.offset + len(texts)] - offsets[texts.offset]) if len(texts) else 0
