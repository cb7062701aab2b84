"""Records by lines: JSON objects (jsonl) and bare texts (txt), cut from blocks of bytes without an object a record.

The good path of JSON is pyarrow's parser over a whole block, asked for the wanted fields alone. What it refuses, or
leaves null, is gone through line by line, to say which record is bad and why, and for what it does not know: lone
surrogates, ids of several types.
"""

import codecs
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json

from neardup.errors import InputError
from neardup.records.chunks import Bad, Extract, Wanted
from neardup.records.encoding import utf8_lines
from neardup.records.formats import FileKind, open_bytes
from neardup.records.ids import as_array
from neardup.records.vectors import from_lists
from neardup.schema import I64, U8, Bools, as_arrow

_NEWLINE: Final = 10
_RETURN: Final = 13
_BOM: Final = codecs.BOM_UTF8
_BIG_INTEGER: Final = re.compile(rb"[0-9]{19}")  # orjson makes floats of integers beyond 64 bits
_ARROW_TYPES: Final[dict[type, pa.DataType]] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class LineChunk:
    """The records in a block of lines.

    Attributes:
        data: the block, without a byte order mark. starts, ends: int64[n_records]; where the line of each record is in
            it, the line end left out. stops: int64[n_records]; where the next line begins.
        format: "jsonl" or "txt". name: of the file, for messages. last_line: the number of the line after the block.
    """

    def __init__(self, data: bytes | memoryview, first_line: int, *, format: str, name: str) -> None:
        """Find the records: every line of a txt, every line that is not blank of a jsonl."""
        self.data = data
        self.format = format
        self.name = name
        view = np.frombuffer(data, np.uint8)
        stops = np.flatnonzero(view == _NEWLINE) + 1
        if data and data[-1] != _NEWLINE:
            stops = np.append(stops, len(data))
        ends = stops - (view[stops - 1] == _NEWLINE)
        starts = np.concatenate(([0], stops[:-1])) if stops.size else stops
        if format == "jsonl":
            starts = _after_marks(data, view, starts)
        ends = ends - ((ends > starts) & (view[ends - 1] == _RETURN))
        self.last_line = first_line + starts.size
        self._first_line = first_line
        self._lines = np.flatnonzero(
            np.ones(starts.size, np.bool_) if format == "txt" else _is_not_blank(data, view, starts, ends)
        )
        self.starts, self.ends, self.stops = starts[self._lines], ends[self._lines], stops[self._lines]

    @property
    def n_records(self) -> int:
        """How many records there are, bad ones included."""
        return int(self.starts.size)

    def extract(self, wanted: Wanted) -> Extract:
        """Return what is wanted of the good records, and which are bad."""
        if wanted.vectors:
            return self._extract_vectors(wanted)
        if self.format == "txt":
            other = next((name for name in (*wanted.beside, wanted.text) if name not in (None, "text")), None)
            if other:
                raise InputError(f"{self.name}: a text file has the one column 'text', not {other!r}.")
            return Extract(self._bare_texts(), (None,) * len(wanted.beside), np.arange(self.n_records), ())
        return self._extract_fast(wanted) or self._extract_slow(wanted)

    def texts(self, positions: I64, wanted: Wanted) -> pa.LargeBinaryArray:
        """Return the texts of these records, all of them good."""
        if self.format == "txt":
            return self._bare_texts().take(as_arrow(positions))
        some = b"".join(self.line(at) + b"\n" for at in positions.tolist())
        only = replace(wanted, id=None, field=None, within=None)
        return LineChunk(some, 1, format="jsonl", name=self.name).extract(only).texts

    def table(self, positions: I64) -> pa.Table:
        """Return these records with all their columns.

        Raises:
            InputError: a field holds values that no column of Arrow can hold together.
        """
        if self.format == "txt":
            texts = self._bare_texts().take(as_arrow(positions))
            return pa.table({"text": texts.cast(pa.large_string())})
        objects = [parse_json(self.line(at)) for at in positions.tolist()]
        columns = {}
        for name in dict.fromkeys(name for one in objects for name in one):
            try:
                columns[name] = _column([one.get(name) for one in objects])
            except UnicodeEncodeError as error:
                at = next(at for at, one in zip(positions, objects, strict=True) if _is_unpaired(one.get(name)))
                raise InputError(
                    f"{self.name}:{self.where(at)}: {name!r} holds a lone surrogate, which only JSONL can; write that."
                ) from error
            except (pa.ArrowException, OverflowError) as error:
                raise InputError(
                    f"{self.name}: {name!r} holds values of several types, which only JSONL can; write that. ({error})"
                ) from error
        return pa.table(columns)

    def line(self, position: int) -> bytes:
        """Return the line of a record, without its end."""
        return bytes(self.data[self.starts[position] : self.ends[position]])

    def where(self, position: int) -> str:
        """Return the number of the line of a record."""
        return str(self._first_line + int(self._lines[position]))

    def _bare_texts(self) -> pa.LargeBinaryArray:
        is_text = np.ones(len(self.data), np.bool_)
        has_newline = self.stops - 1 if self.data[-1:] == b"\n" else self.stops[:-1] - 1
        is_text[has_newline] = False
        is_text[self.ends[self.ends < self.stops - 1]] = False  # the \r before it
        offsets = np.concatenate(([0], np.cumsum(self.ends - self.starts))).astype(np.int64)
        return _binary_array(np.frombuffer(self.data, np.uint8)[is_text], offsets)

    def _extract_fast(self, wanted: Wanted) -> Extract | None:
        """Return the extract by pyarrow, or None where it refuses, leaves a null, or might have misunderstood."""
        fields = {wanted.text: pa.string()}
        first = parse_json(self.line(0)) if self.n_records else None
        for name in wanted.beside:
            if name is not None:
                kind = _ARROW_TYPES.get(type(first.get(name)) if isinstance(first, dict) else type(None))
                # 1 beside 1.5 is another id than 1.0, which Arrow would make of it.
                is_float_id = name == wanted.id and kind == pa.float64()
                if kind is None or is_float_id or fields.setdefault(name, kind) != kind:
                    return None
        if not self._are_objects():
            return None
        try:
            table = pa.json.read_json(
                pa.BufferReader(self.data),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=len(self.data) + 1),
                parse_options=pa.json.ParseOptions(
                    explicit_schema=pa.schema(list(fields.items())), unexpected_field_behavior="ignore"
                ),
            )
        except pa.ArrowException:
            return None
        if table.num_rows != self.n_records or any(table[name].null_count for name in fields):
            return None
        columns = {name: table[name].combine_chunks() for name in fields}
        texts = columns[wanted.text].cast(pa.large_binary())
        beside = tuple(None if name is None else columns[name] for name in wanted.beside)
        return Extract(texts, beside, np.arange(self.n_records), ())

    def _are_objects(self) -> bool:
        """Say whether each line begins with { and ends with }.

        As many objects as lines are then one object a line: inside an object no { comes after a }.
        """
        view = np.frombuffer(self.data, np.uint8)
        return bool(np.all(view[self.starts] == ord("{")) and np.all(view[self.ends - 1] == ord("}")))

    def _extract_vectors(self, wanted: Wanted) -> Extract:
        """Return the extract where the texts are vectors: numbers parsed one by one."""
        if self.format == "txt":
            raise InputError(f"{self.name}: a text file holds no vectors; JSONL, Parquet and Arrow can.")
        found = [parse_json(self.line(position)) for position in range(self.n_records)]
        faults = {at: why for at, one in enumerate(found) if (why := _not_a_record(one, wanted))}
        values = [None if at in faults else one[wanted.text] for at, one in enumerate(found)]
        vectors = from_lists(values, wanted.text, self.name, wanted.dimension)
        good = np.flatnonzero(vectors.is_good)
        beside = tuple(
            as_array([found[at].get(name) for at in good.tolist()]) if name else None for name in wanted.beside
        )
        reasons = sorted((vectors.faults | faults).items())
        texts = vectors.found.take(as_arrow(good)) if reasons else vectors.found
        return Extract(texts, beside, good, [Bad(at, self.where(at), why) for at, why in reasons])

    def _extract_slow(self, wanted: Wanted) -> Extract:
        texts: list[bytes] = []
        found_beside: list[list[Any]] = [[] for _ in wanted.beside]
        good: list[int] = []
        bad: list[Bad] = []
        for position in range(self.n_records):
            found = parse_json(self.line(position))
            reason = _fault(found, wanted)
            if reason:
                bad.append(Bad(position, self.where(position), reason))
                continue
            good.append(position)
            texts.append(found[wanted.text].encode("utf-8", "surrogatepass"))
            for values, name in zip(found_beside, wanted.beside, strict=True):
                values.append(found.get(name))
        return Extract(
            pa.array(texts, pa.large_binary()),
            tuple(as_array(values) if name else None for values, name in zip(found_beside, wanted.beside, strict=True)),
            np.array(good, np.int64),
            bad,
        )


class LineSource:
    """A file of lines."""

    def __init__(self, path: str, kind: FileKind, encoding: str) -> None:
        """Take a file of this kind; it is opened when it is read."""
        self.path = path
        self._kind = kind
        self._encoding = encoding
        self._is_checked = False

    @property
    def n_bytes(self) -> int | None:
        """How many bytes its lines have, or None where only reading tells."""
        return os.path.getsize(self.path) if self._kind.compression is None and os.path.isfile(self.path) else None

    def chunks(self, columns: Sequence[str] | None) -> Iterator[LineChunk]:  # noqa: ARG002  # lines have no columns
        """Yield the records, block by block; whole lines, however many columns are wanted."""
        line = 1
        with open_bytes(self.path, self._kind.compression) as stream:
            for data in utf8_lines(stream, self._encoding, self.path, is_checked=self._is_checked):
                chunk = LineChunk(data, line, format=self._kind.format.name, name=self.path)
                line = chunk.last_line
                if chunk.n_records:
                    yield chunk
        self._is_checked = True


class _Broken(str):
    """Why a line is no JSON."""

    __slots__ = ()


def _after_marks(data: bytes | memoryview, view: U8, starts: I64) -> I64:
    """Return where lines begin behind a byte order mark: files put together bring theirs along."""
    starts = starts.copy()
    for line in np.flatnonzero(view[starts] == _BOM[0]).tolist():
        if data[starts[line] : starts[line] + len(_BOM)] == _BOM:
            starts[line] += len(_BOM)
    return starts


def _is_not_blank(data: bytes | memoryview, view: U8, starts: I64, ends: I64) -> Bools:
    found = ends > starts
    lines = np.flatnonzero(found)
    for at in lines[view[starts[lines]] <= 0x20].tolist():
        found[at] = bool(bytes(data[starts[at] : ends[at]]).strip())
    return found


def parse_json(line: bytes) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Return the value of a line of JSON, or why it is none."""
    if _BIG_INTEGER.search(line) is None:
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(line.decode("utf-8"))  # knows lone surrogates, and says what is wrong
    except (ValueError, RecursionError) as error:
        return _Broken(f"broken JSON: {error}")


def _fault(found: Any, wanted: Wanted) -> str | None:  # noqa: ANN401  # whatever JSON holds
    """Return why a value is no record with a text, or None."""
    reason = _not_a_record(found, wanted)
    if reason:
        return reason
    text = found[wanted.text]
    if text is None:
        return f"{wanted.text!r} is null"
    return None if isinstance(text, str) else f"{wanted.text!r} is {_NAMES[type(text)]}, not text"


def _not_a_record(found: Any, wanted: Wanted) -> str | None:  # noqa: ANN401  # whatever JSON holds
    """Return why a value is no record with the wanted fields, or None."""
    if isinstance(found, _Broken):
        return str(found)
    if not isinstance(found, dict):
        return f"not an object but {_NAMES[type(found)]}"
    for name in (wanted.text, wanted.id):
        if name is not None and name not in found:
            near = next((f" (did you mean {one!r}?)" for one in found if one.lower() == name.lower()), "")
            return f"no field {name!r}; the record has {', '.join(found) or 'none'}{near}"
    return None


def _column(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, pa.uint64())


def _is_unpaired(value: object) -> bool:
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def _binary_array(data: U8, offsets: I64) -> pa.LargeBinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), offsets.size - 1, buffers)
