"""Records as tables: Parquet, Arrow and CSV files, and tables in memory, as chunks of bounded size.

CSV is read by the standard library in strict mode: it is right about quotes and line ends inside them, and says on
which line a record begins. Every value of CSV is text, unchanged.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.records.chunks import TableChunk
from neardup.records.encoding import utf8_lines
from neardup.records.formats import FileKind, open_bytes

_CHUNK_BYTES: Final = 8 << 20
_MOST_RECORDS: Final = 1 << 16
_LONGEST_FIELD: Final = (1 << 31) - 1  # what the C long of every platform holds


class TableSource:
    """A table in memory; `faults` says of single records, by number, why they are bad. Their texts are null."""

    def __init__(self, table: pa.Table, name: str, faults: Mapping[int, str] | None = None) -> None:
        self.path = name
        self._table = table
        self._faults = faults or {}

    def chunks(self, columns: Sequence[str] | None) -> Iterator[TableChunk]:
        """Yield the records; of the columns only these that there are, all with None."""
        names = self._table.column_names
        table = self._table.select(_places(names, columns))
        size = _at_a_time(self._table.nbytes, self._table.num_rows)
        for first in range(0, max(1, table.num_rows), size):
            part = table.slice(first, size)
            faults = {n - first: why for n, why in self._faults.items() if first <= n < first + size}
            yield TableChunk(part, self.path, names, _Numbers(first), faults)


class ColumnSource:
    """A file of Parquet or Arrow."""

    def __init__(self, path: str, kind: FileKind, encoding: str) -> None:  # noqa: ARG002  # the form of all sources
        self.path = path
        self._read = _parquet_batches if kind.format.name == "parquet" else _arrow_batches

    def chunks(self, columns: Sequence[str] | None) -> Iterator[TableChunk]:
        """Yield the records; of the columns only these that there are, all with None."""
        first = 0
        with open_bytes(self.path, None) as stream:
            for table, names in self._read(stream, columns):
                yield TableChunk(table, self.path, names, _Numbers(first))
                first += table.num_rows


class CsvSource:
    """A file of comma- or tab-separated values with a header."""

    def __init__(self, path: str, kind: FileKind, encoding: str) -> None:
        self.path = path
        self._kind = kind
        self._encoding = encoding

    def chunks(self, columns: Sequence[str] | None) -> Iterator[TableChunk]:  # noqa: ARG002  # rows are read whole
        """Yield the records, all columns; a bad one as a record of nulls, and why it is bad."""
        with open_bytes(self.path, self._kind.compression) as stream:
            raw = _Blocks(utf8_lines(stream, self._encoding, self.path))
            lines = _Lines(io.TextIOWrapper(io.BufferedReader(raw), "utf-8", newline=""))
            yield from _csv_chunks(lines, self.path, "\t" if self._kind.format.name == "tsv" else ",")


class _Numbers(Sequence[str]):
    """The places of records that have no lines: their numbers."""

    def __init__(self, first: int) -> None:
        self._first = first

    def __getitem__(self, position: int) -> str:  # type: ignore[override]  # asked for one at a time
        return f"record {self._first + position}"

    def __len__(self) -> int:
        raise NotImplementedError


class _Blocks(io.RawIOBase):
    """An iterator of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes | memoryview]) -> None:
        self._blocks = blocks
        self._held = memoryview(b"")

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what a BufferedReader gives it
        """Fill the buffer with what comes next."""
        if not self._held:
            self._held = memoryview(next(self._blocks, b""))
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


class _Lines(Iterator[str]):
    """Lines of text; counts their quotes, and knows how the first one ends."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self.n_quotes = 0
        self.line_end: str | None = None

    def __next__(self) -> str:
        line = next(self._text)
        self.n_quotes += line.count('"')
        if self.line_end is None:
            self.line_end = "\r\n" if line.endswith("\r\n") else "\n"
        return line


def _parquet_batches(stream: IO[bytes], columns: Sequence[str] | None) -> Iterator[tuple[pa.Table, list[str]]]:
    file = pq.ParquetFile(stream)
    names = file.schema_arrow.names
    chosen = None if columns is None else [name for name in columns if name in names]
    meta = file.metadata
    n_bytes = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
    empty = file.schema_arrow.empty_table()
    if not meta.num_rows:
        yield empty if chosen is None else empty.select(chosen), names
    for batch in file.iter_batches(_at_a_time(n_bytes, meta.num_rows), columns=chosen):
        yield pa.Table.from_batches([batch]), names


def _arrow_batches(stream: IO[bytes], columns: Sequence[str] | None) -> Iterator[tuple[pa.Table, list[str]]]:
    try:
        file = pa.ipc.open_file(stream)
        batches = (file.get_batch(number) for number in range(file.num_record_batches))
    except pa.ArrowInvalid:
        stream.seek(0)
        file = pa.ipc.open_stream(stream)
        batches = iter(file)
    names = file.schema.names
    chosen = _places(names, columns)
    n_batches = 0
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(chosen)
        size = _at_a_time(table.nbytes, table.num_rows)
        for first in range(0, table.num_rows, size):
            n_batches += 1
            yield table.slice(first, size), names
    if not n_batches:
        yield file.schema.empty_table().select(chosen), names


def _places(names: Sequence[str], columns: Sequence[str] | None) -> list[int]:
    """Return where the wanted columns are; by place, since names may occur twice, which is refused later."""
    return [place for place, name in enumerate(names) if columns is None or name in columns]


def _csv_chunks(lines: _Lines, path: str, delimiter: str) -> Iterator[TableChunk]:
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    names = _header(reader, path)
    rows: list[list[str | None]] = []
    places: list[str] = []
    faults: dict[int, str] = {}
    n_chars = 0
    n_chunks = 0
    while True:
        place, n_quotes = str(reader.line_num + 1), lines.n_quotes
        try:
            row = next(reader, None)
            fault = (
                None if not row or len(row) == len(names) else f"ragged: {len(row)} fields, the header has {len(names)}"
            )
        except csv.Error as error:
            row, fault = [""], f"broken CSV: {error}"
        if row:
            if not fault and (lines.n_quotes - n_quotes) % 2:  # csv lets one pass in a field that begins without
                fault = "broken CSV: a stray quote"
            if fault:
                faults[len(rows)] = fault
            rows.append([None] * len(names) if fault else [*row])
            places.append(place)
            n_chars += sum(map(len, row))
        is_last = row is None
        if n_chars > _CHUNK_BYTES or len(rows) == _MOST_RECORDS or (is_last and (rows or not n_chunks)):
            yield TableChunk(_text_table(rows, names), path, names, places, faults, line_end=lines.line_end or "\n")
            n_chunks += 1
            rows, places, faults, n_chars = [], [], {}, 0
        if is_last:
            return


def _header(reader: Iterator[list[str]], path: str) -> list[str]:
    try:
        names = next(reader, None)
    except csv.Error as error:
        raise InputError(f"{path}:1: broken CSV: {error}.") from error
    if not names:
        raise InputError(f"{path}: is empty; the first line of a CSV file names its columns.")
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise InputError(f"{path}:1: the header names {twice[0]!r} twice; rename one of the two columns.")
    return names


def _text_table(rows: Sequence[Sequence[str | None]], names: Sequence[str]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pa.table({name: pa.array(column, pa.large_string()) for name, column in zip(names, columns, strict=True)})


def _at_a_time(n_bytes: int, n_records: int) -> int:
    """Return how many records make a chunk of about _CHUNK_BYTES."""
    return max(1, min(_MOST_RECORDS, _CHUNK_BYTES * max(1, n_records) // max(1, n_bytes)))
