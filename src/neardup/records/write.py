"""Write: outputs that appear whole under their names when all of them are done, or not at all.

Each goes to a temporary file beside its place and is renamed at the end. Records of lines go out as the bytes that
came in; everything else by way of Arrow tables.
"""

import contextlib
import gzip
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError, OutputError, UsageError
from neardup.records.chunks import Chunk, TableChunk
from neardup.records.formats import FORMATS, FileKind, kind_of, known_suffixes
from neardup.records.ids import GENERALIZED, MIXED, literals
from neardup.records.lines import LineChunk, parse_json
from neardup.records.objects import json_lines, json_rows, plain
from neardup.records.read import Documents, same_file
from neardup.schema import I64

STDOUT: Final = "-"
_BUFFER_BYTES: Final = 1 << 20  # runs of kept lines are short, and each write to the system costs
_TEXT_ROLES: Final = ("stats",)  # outputs that are one text, whatever their name


class Writer(Protocol):
    """Appends records to an open file."""

    def records(self, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        """Append these records of a chunk, with further columns."""

    def table(self, table: pa.Table) -> None:
        """Append the rows of a table."""

    def close(self) -> None:
        """Finish the file; it is closed elsewhere."""


class Outputs:
    """Files to be, by role. A context: they appear at its end, and none of them if it ends with an error."""

    def __init__(self, paths: Mapping[str, str], documents: Documents) -> None:
        """Check that all can be written, and open them under temporary names.

        Raises:
            UsageError: two on one path, one on an input, no such folder, or a name that says nothing of its format.
            OutputError: a temporary file cannot be made.
        """
        self._paths = dict(paths)
        kinds = {role: _kind(role, path, documents) for role, path in paths.items() if role not in _TEXT_ROLES}
        for role, path in paths.items():
            _check(role, path, paths, documents)
        self._partial: dict[str, str] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._writers: dict[str, Writer] = {}
        try:
            for role, path in paths.items():
                file = self._files[role] = self._open(role, path)
                if role in kinds:
                    kind = kinds[role]
                    self._files[role] = file = _compressed(file, kind.compression)
                    self._writers[role] = _WRITERS[kind.format.name](file, path)
        except BaseException:
            self._discard()
            raise

    def __contains__(self, role: str) -> bool:
        return role in self._paths

    def __enter__(self) -> "Outputs":  # noqa: PYI034  # not meant to be subclassed
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._discard()

    def records(self, role: str, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        """Append these records of a chunk to an output, with further columns."""
        self._guard(role, lambda: self._writers[role].records(chunk, positions, extra))

    def table(self, role: str, table: pa.Table) -> None:
        """Append the rows of a table to an output."""
        self._guard(role, lambda: self._writers[role].table(table))

    def text(self, role: str, text: str) -> None:
        """Append a text to an output, if there is one of this role."""
        if role in self._files:
            self._guard(role, lambda: self._files[role].write(text.encode("utf-8", "surrogatepass")))

    def _open(self, role: str, path: str) -> IO[bytes]:
        if path == STDOUT:
            return sys.stdout.buffer
        if _is_device(path):
            return open(path, "wb")
        folder, name = os.path.split(os.path.realpath(path))
        partial = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.partial")
        try:
            file = open(partial, "xb", buffering=_BUFFER_BYTES)  # noqa: SIM115  # closed by _commit or _discard
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}.") from error
        self._partial[role] = partial
        return file

    def _commit(self) -> None:
        for role, file in self._files.items():
            self._guard(role, lambda role=role, file=file: self._finish(role, file))  # type: ignore[misc]  # bound now
        for role, partial in list(self._partial.items()):
            place = os.path.realpath(self._paths[role])  # a link stays one
            self._guard(role, lambda partial=partial, place=place: os.replace(partial, place))  # type: ignore[misc]  # bound now
            del self._partial[role]

    def _finish(self, role: str, file: IO[bytes]) -> None:
        if role in self._writers:
            self._writers[role].close()
        file.flush()
        if self._paths[role] == STDOUT:
            return
        file.close()
        if role not in self._partial:
            return
        handle = os.open(self._partial[role], os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def _discard(self) -> None:
        """Close what is open and remove what is not in its place."""
        for writer in self._writers.values():
            if isinstance(writer, _ColumnWriter):
                writer.abandon()
        for role, file in self._files.items():
            if self._paths[role] != STDOUT:
                _close_quietly(file)
        for partial in self._partial.values():
            Path(partial).unlink(missing_ok=True)

    def _guard(self, role: str, action: Callable[[], object]) -> None:
        try:
            action()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self._paths[role]}: cannot be written: {error.strerror or error}.") from error
        except InputError as error:
            raise OutputError(f"{self._paths[role]}: {error}") from error


class _JsonWriter:
    """JSON, an object a line. Records that came as such go out as the bytes they were."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file = file
        self._path = path

    def records(self, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        if not isinstance(chunk, LineChunk) or chunk.format != "jsonl":
            self.table(_joined(chunk.table(positions), extra, self._path))
        elif extra is None:
            _write_runs(self._file, chunk, positions)
        else:
            for position, tail in zip(positions.tolist(), json_rows(extra), strict=True):
                self._file.write(_spliced(chunk.line(position), tail, extra.column_names, self._path))

    def table(self, table: pa.Table) -> None:
        self._file.write(json_lines(table))

    def close(self) -> None:
        pass


class _TextWriter:
    """Bare texts, one a line."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file = file
        self._path = path

    def records(self, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        if not isinstance(chunk, LineChunk) or chunk.format != "txt" or extra is not None:
            raise OutputError(f"{self._path}: a .txt file holds texts alone, of .txt inputs; write .jsonl instead.")
        _write_runs(self._file, chunk, positions)

    def table(self, table: pa.Table) -> None:
        raise OutputError(
            f"{self._path}: a .txt file has no columns {', '.join(table.column_names)}; write .jsonl instead."
        )

    def close(self) -> None:
        pass


class _TableWriter:
    """What writers of columns have in common: the columns are those of the first table.

    Records of lines wait until their fields are all known, and what comes behind them waits its turn.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file = file
        self._path = path
        self._schema: pa.Schema | None = None
        self._waiting: list[pa.Table] = []
        self._last: list[str] = []  # the columns that stand behind those of the records

    def records(self, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        table = _joined(chunk.table(positions), extra, self._path)
        if self._waiting or isinstance(chunk, LineChunk):
            self._last = [] if extra is None else extra.column_names
            self._waiting.append(table)
        else:
            self.table(table)

    def table(self, table: pa.Table) -> None:
        if GENERALIZED in table.schema.types:
            raise OutputError(f"{self._path}: a text has a lone surrogate, which only JSONL can hold; write that.")
        if self._schema is None:
            self._schema = table.schema
        self._append(_fitted(table, self._schema, self._path))

    def close(self) -> None:
        if self._waiting:
            self.table(self._united())
            self._waiting = []
        elif self._schema is None:
            self.table(pa.table({}))

    def _append(self, table: pa.Table) -> None:
        raise NotImplementedError

    def _united(self) -> pa.Table:
        parts = [part for part in self._waiting if part.num_rows] or self._waiting[:1]
        try:
            whole = pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise OutputError(
                f"{self._path}: a field changes its type between records: {error}. Write .jsonl."
            ) from error
        return whole.select([name for name in whole.column_names if name not in self._last] + self._last)


class _CsvWriter(_TableWriter):
    """Separated values with a header; nulls are empty, nested values JSON. Line ends are those of the input."""

    delimiter = ","

    def __init__(self, file: IO[bytes], path: str) -> None:
        super().__init__(file, path)
        self._needs_quotes = re.compile(f'[{self.delimiter}"\r\n]').search
        self._line_end = "\n"
        self._has_header = False

    def records(self, chunk: Chunk, positions: I64, extra: pa.Table | None) -> None:
        if isinstance(chunk, TableChunk) and not self._has_header:
            self._line_end = chunk.line_end
        super().records(chunk, positions, extra)

    def _append(self, table: pa.Table) -> None:
        if not self._has_header and table.num_columns:
            self._has_header = True
            self._write([table.column_names])
        self._write(zip(*(_csv_cells(table, name) for name in table.column_names), strict=True))

    def _write(self, rows: Iterable[Iterable[Any]]) -> None:
        lines = (self.delimiter.join(map(self._quoted, row)) or '""' for row in rows)
        self._file.writelines((line + self._line_end).encode() for line in lines)

    def _quoted(self, value: object) -> str:
        cell = "" if value is None else str(value)
        return '"' + cell.replace('"', '""') + '"' if self._needs_quotes(cell) else cell


class _TsvWriter(_CsvWriter):
    delimiter = "\t"


class _ColumnWriter(_TableWriter):
    """Arrow or Parquet."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        super().__init__(file, path)
        self._writer: Any = None

    def close(self) -> None:
        super().close()
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a file that is to be removed: a writer of Parquet would want to end it when it is collected."""
        if isinstance(self._writer, pq.ParquetWriter):
            self._writer.is_open = False

    def _append(self, table: pa.Table) -> None:
        if MIXED in table.schema.types:
            raise OutputError(
                f"{self._path}: the ids are of several types, which no column holds; write .jsonl instead."
            )
        try:
            if self._writer is None:
                self._writer = self._open(table.schema)
            self._writer.write_table(table)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
            raise OutputError(f"{self._path}: Arrow cannot write these columns: {error}.") from error

    def _open(self, schema: pa.Schema) -> Any:  # noqa: ANN401  # pyarrow has no common class
        return pa.ipc.new_file(self._file, schema)


class _ParquetWriter(_ColumnWriter):
    def _open(self, schema: pa.Schema) -> Any:  # noqa: ANN401  # pyarrow has no common class
        return pq.ParquetWriter(self._file, schema, compression="zstd")


_WRITERS: Final[dict[str, Callable[[IO[bytes], str], Writer]]] = {
    "jsonl": _JsonWriter,
    "txt": _TextWriter,
    "csv": _CsvWriter,
    "tsv": _TsvWriter,
    "arrow": _ColumnWriter,
    "parquet": _ParquetWriter,
}


def _kind(role: str, path: str, documents: Documents) -> FileKind:
    if path == STDOUT:
        kind = documents.kind
        as_input = role in ("kept", "removed") and kind is not None and kind.format.made_of != "columns"
        return FileKind(kind.format if as_input and kind is not None else FORMATS["jsonl"], None)
    kind = kind_of(path)
    if kind is None and _is_device(path):
        kind = FileKind(FORMATS["jsonl"], None)
    if kind is None:
        raise UsageError(
            f"{path}: cannot tell the format to write; known suffixes: {known_suffixes()} (and .gz, .zst)."
        )
    if kind.format.name == "txt" and role != "kept":
        raise UsageError(f"{path}: a .txt file has no columns for what {role!r} holds; write .jsonl instead.")
    return kind


def _is_device(path: str) -> bool:
    """Say whether a path is a pipe or device, which is written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _check(role: str, path: str, paths: Mapping[str, str], documents: Documents) -> None:
    twins = [
        other
        for other, name in paths.items()
        if other < role and (name == path or (STDOUT not in (name, path) and same_file(name, path)))
    ]
    if twins:
        raise UsageError(f"{path}: is to hold both {twins[0]!r} and {role!r}; name two files.")
    if path == STDOUT:
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: there is no folder {folder!r} to write it in.")
    if os.path.isdir(path):
        raise UsageError(f"{path}: is a folder; name a file in it.")
    if any(same_file(path, one) for one in documents.paths):
        raise UsageError(f"{path}: is an input and an output; write to another file.")


def _compressed(file: IO[bytes], compression: str | None) -> IO[bytes]:
    if compression == "gzip":
        return _Both(gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0), file)  # type: ignore[return-value]  # writes as IO[bytes] does
    if compression == "zstd":
        return _Both(pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), "zstd"), file)  # type: ignore[return-value]  # writes as IO[bytes] does
    return file


class _Both:
    """A compressing stream and the file under it, closed together."""

    def __init__(self, stream: Any, file: IO[bytes]) -> None:  # noqa: ANN401  # gzip's or Arrow's
        self._stream = stream
        self._file = file

    def write(self, data: Any) -> None:  # noqa: ANN401  # any buffer
        self._stream.write(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._stream.write(line)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()
        self._file.close()


def _close_quietly(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError, pa.ArrowException):  # the error that led here is the one to tell
        file.close()


def _write_runs(file: IO[bytes], chunk: LineChunk, positions: I64) -> None:
    """Write lines as the bytes they were, consecutive ones at once; a last line without an end gets one."""
    if not positions.size:
        return
    is_first = np.concatenate(([True], chunk.starts[positions[1:]] != chunk.stops[positions[:-1]]))
    is_last = np.concatenate((is_first[1:], [True]))
    view = memoryview(chunk.data)
    for start, stop in zip(
        chunk.starts[positions[is_first]].tolist(), chunk.stops[positions[is_last]].tolist(), strict=True
    ):
        file.write(view[start:stop])
    if chunk.stops[positions[-1]] == len(chunk.data) and chunk.data[-1:] != b"\n":
        file.write(b"\n")


def _spliced(line: bytes, tail: bytes, names: Iterable[str], path: str) -> bytes:
    """Return a JSON object with the members of another behind its own."""
    body = line.rstrip()[:-1].rstrip()
    if any(b'"%s"' % name.encode() in line and name in parse_json(line) for name in names):
        raise OutputError(f"{path}: the input already has a field {', '.join(names)}; rename it there.")
    return body + (b"" if body.endswith(b"{") else b",") + tail[1:] + b"\n"


def _joined(table: pa.Table, extra: pa.Table | None, path: str) -> pa.Table:
    if extra is None:
        return table
    for name in extra.column_names:
        if name in table.column_names:
            raise OutputError(f"{path}: the input already has a column {name!r}; rename it there.")
        table = table.append_column(name, extra[name])
    return table


def _fitted(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Return a table with these columns in this order, absent ones null."""
    new = ", ".join(name for name in table.column_names if name not in schema.names)
    if new:
        raise OutputError(f"{path}: a later record has fields that the first lacks: {new}; write .jsonl instead.")
    columns = [
        table[one.name] if one.name in table.column_names else pa.nulls(table.num_rows, one.type) for one in schema
    ]
    try:
        return pa.table(columns, names=schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
        raise OutputError(f"{path}: inputs of different columns do not fit one table: {error}.") from error


def _csv_cells(table: pa.Table, name: str) -> list[Any]:
    column = table[name]
    values = [orjson.loads(one) for one in literals(column)] if column.type == MIXED else column.to_pylist()
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        return [None if value is None else orjson.dumps(value, default=plain).decode() for value in values]
    return values
