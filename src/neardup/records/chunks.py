"""Chunks: some consecutive records, from which texts, ids and whole records can be taken by position.

Two kinds that do the same: lines of bytes (`lines.LineChunk`) and Arrow tables (`TableChunk`). Positions count the
records of the chunk from 0, bad ones included.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InputError
from neardup.records.ids import GENERALIZED
from neardup.records.vectors import as_vectors
from neardup.schema import I64, Bools, as_arrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The columns that are wanted of each record."""

    text: str
    id: str | None
    field: str | None
    within: str | None = None  # only documents with equal values of it are compared
    vectors: bool = False  # whether the texts are vectors
    dimension: int | None = None  # how many numbers each has, where that is known

    @property
    def beside(self) -> tuple[str | None, str | None, str | None]:
        """The columns that are wanted beside the texts, in the order that `Extract` has them."""
        return self.id, self.field, self.within


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that cannot be a document: its position in the chunk, where it is in its file, and why."""

    position: int
    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extract:
    """What was wanted of the good records of a chunk.

    texts: large_binary without nulls. beside: the columns of `Wanted.beside`, as long; None where none was wanted.
    good: int64[n]; their positions in the chunk. bad: the others.
    """

    texts: pa.LargeBinaryArray
    beside: tuple[pa.Array | None, ...]
    good: I64
    bad: Sequence[Bad]


class Chunk(Protocol):
    """Some consecutive records."""

    @property
    def n_records(self) -> int:
        """How many records there are, bad ones included."""

    def extract(self, wanted: Wanted) -> Extract:
        """Return what is wanted of the good records, and which are bad."""

    def texts(self, positions: I64, wanted: Wanted) -> pa.LargeBinaryArray:
        """Return the texts of these records, all of them good."""

    def table(self, positions: I64) -> pa.Table:
        """Return these records with all their columns."""


class TableChunk:
    """Records as a table of Arrow.

    Attributes:
        records: the table, perhaps of some columns only. name: of the file or frame, for messages.
        columns: the names of all its columns.
    """

    def __init__(
        self,
        records: pa.Table,
        name: str,
        columns: Sequence[str],
        places: Sequence[str],
        faults: Mapping[int, str] | None = None,
        *,
        line_end: str = "\n",
    ) -> None:
        """Take a table; `places` says of each record where it is, `faults` of some, by position, why they are bad.

        The text of a bad record is null. `line_end` is that of the file, where it has lines.
        """
        self.line_end = line_end
        self.records = records
        self.name = name
        self.columns = columns
        self._places = places
        self._faults = faults or {}

    @property
    def n_records(self) -> int:
        """How many records there are, bad ones included."""
        return int(self.records.num_rows)

    def extract(self, wanted: Wanted) -> Extract:
        """Return what is wanted of the good records, and which are bad.

        Raises:
            InputError: a wanted column is not there, or the column of texts holds none.
        """
        for column in (wanted.text, *wanted.beside):
            if column is not None and self.columns.count(column) != 1:
                fault = _twice if column in self.columns else no_column
                raise InputError(fault(column, self.name, self.columns, wanted))
        column = self.records[wanted.text]
        if wanted.vectors:
            texts, is_good, faults = as_vectors(column, wanted.text, self.name, wanted.dimension)
        else:
            texts = as_binary(column, wanted.text, self.name)
            is_good = _are_texts(texts, column.type)
            faults = {at: _fault(texts[at], wanted.text) for at in np.flatnonzero(~is_good).tolist()}
        good = np.flatnonzero(is_good)
        bad = [Bad(at, self._places[at], self._faults.get(at, why)) for at, why in faults.items()]
        if bad:
            texts = texts.take(as_arrow(good))
        return Extract(texts, tuple(self._column(name, good) for name in wanted.beside), good, bad)

    def texts(self, positions: I64, wanted: Wanted) -> pa.LargeBinaryArray:
        """Return the texts of these records, all of them good."""
        column = self.records[wanted.text].take(as_arrow(positions))
        if wanted.vectors:
            return as_vectors(column, wanted.text, self.name, None).found
        return as_binary(column, wanted.text, self.name)

    def table(self, positions: I64) -> pa.Table:
        """Return these records with all their columns."""
        return _without_views(self.records).take(as_arrow(positions))

    def _column(self, name: str | None, good: I64) -> pa.Array | None:
        if name is None:
            return None
        column = self.records[name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return column if good.size == len(column) else column.take(as_arrow(good))


def _without_views(table: pa.Table) -> pa.Table:
    """Return a table whose columns can be taken from; pyarrow takes no rows of string views."""
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return table.cast(pa.schema([one.with_type(plain.get(one.type, one.type)) for one in table.schema]))


def as_binary(column: pa.ChunkedArray, text: str, name: str) -> pa.LargeBinaryArray:
    """Return a column of texts as one large_binary array.

    Raises:
        InputError: the column is of another type.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = _decoded(column), pa.large_string() if _is_string(kind.value_type) else kind.value_type
    if kind == GENERALIZED:
        return pa.array(
            [None if one is None else one["generalized_utf8"] for one in column.to_pylist()], pa.large_binary()
        )
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.large_binary())
    if not _is_string(kind):
        raise InputError(f"{name}: column {text!r} holds {kind}, not text. Choose a column of text with --text-field.")
    return pc.cast(column, pa.large_string()).cast(pa.large_binary()).combine_chunks()


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without its dictionary; pyarrow decodes none of string views, so they are cast before."""
    kind = column.type.value_type
    plain = pa.large_string() if _is_string(kind) else kind
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(plain)).dictionary_decode()
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, plain)


def _are_texts(texts: pa.LargeBinaryArray, kind: pa.DataType) -> Bools:
    """Say which texts are neither null nor, in a column of strings, other than UTF-8: Parquet does not check."""
    is_text = np.array(texts.is_valid().to_numpy(zero_copy_only=False))
    if kind != GENERALIZED:
        try:
            texts.view(pa.large_string()).validate(full=True)
        except pa.ArrowInvalid:
            is_text[[at for at, text in enumerate(texts.to_pylist()) if text is not None and not _is_utf8(text)]] = (
                False
            )
    return is_text


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _fault(text: pa.Scalar, column: str) -> str:
    return f"{column!r} is not UTF-8" if text.is_valid else f"{column!r} is null"


def _twice(column: str, name: str, columns: Sequence[str], wanted: Wanted) -> str:  # noqa: ARG001  # as no_column
    return f"{name}: column {column!r} occurs more than once; rename all but one."


def no_column(column: str, name: str, columns: Sequence[str], wanted: Wanted) -> str:
    """Return the sentence for a column that is not there."""
    near = difflib.get_close_matches(column.lower(), [one.lower() for one in columns], 1)
    hint = next((f" Did you mean {one!r}?" for one in columns if near and one.lower() == near[0]), "")
    single = " It looks as if its columns are parted by ';'." if len(columns) == 1 and ";" in columns[0] else ""
    flags = {wanted.field: "--keep", wanted.within: "--within", wanted.id: "--id-field", wanted.text: "--text-field"}
    return (
        f"column {column!r} is not in {name}; its columns: {', '.join(columns)}.{hint}{single} Choose one with "
        f"{flags[column]}."
    )
