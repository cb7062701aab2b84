"""Rows of tables as JSON objects, a line each.

Numbers, texts and truth values are put together by Arrow, column by column, each distinct text escaped once; a table
with other columns goes row by row. NaN and infinities are null: JSON has none.
"""

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from neardup.records.ids import GENERALIZED, MIXED, generalized_literals, literals

_TEXT: Final = pa.large_string()


def json_lines(table: pa.Table) -> memoryview:
    """Return the rows of a table as JSON objects, each on a line of its own."""
    if not table.num_rows:
        return memoryview(b"")
    pieces: list[pa.Array | str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = _cells(column)
        if cells is None:
            return memoryview(b"".join(row + b"\n" for row in json_rows(table)))
        head = ("," if pieces else "{") + orjson.dumps(name).decode() + ":"
        pieces += [head, pc.fill_null(cells, pa.scalar("null", _TEXT))]
    joined = _join([*pieces, "}\n"])
    _, offsets, data = joined.buffers()
    ends = np.frombuffer(offsets, np.int64)[joined.offset : joined.offset + len(joined) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


def json_rows(table: pa.Table) -> list[bytes]:
    """Return each row of a table as a JSON object."""
    as_json = {MIXED: literals, GENERALIZED: generalized_literals}
    columns: dict[str, list[Any]] = {
        name: [orjson.Fragment(one) for one in as_json[column.type](column)]
        if column.type in as_json
        else column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return [orjson.dumps(dict(zip(names, row, strict=True)), default=plain) for row in rows]


def plain(value: object) -> object:
    """Return a value that JSON knows for one that it does not."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    return str(value)


def _cells(column: pa.ChunkedArray) -> pa.Array | None:
    """Return each value of a column as JSON, or None where Arrow cannot say it."""
    whole = column.combine_chunks()
    kind = whole.type
    as_cells = next((make for is_kind, make in _MAKERS if is_kind(kind)), None)
    return None if as_cells is None else as_cells(whole)


def _join(pieces: Sequence[pa.Array | str]) -> pa.Array:
    """Return the texts put together, piece by piece."""
    whole = [pa.scalar(one, _TEXT) if isinstance(one, str) else one for one in (*pieces, "")]  # the last one parts them
    return pc.binary_join_element_wise(*whole)


def _cast(column: pa.Array) -> pa.Array:
    return column.cast(_TEXT)


def _escaped(column: pa.Array) -> pa.Array:
    coded = column.dictionary_encode()
    known = [orjson.dumps(text).decode() for text in coded.dictionary.to_pylist()]
    return pa.array(known, _TEXT).take(coded.indices)


def _decimals(column: pa.Array) -> pa.Array:
    """Return numbers as text that gives the same number again, whole ones with .0 as JSON writers do."""
    text = column.cast(_TEXT)
    is_whole = pc.invert(pc.match_substring_regex(text, "[.en]"))
    text = pc.if_else(is_whole, _join([text, ".0"]), text)
    return pc.if_else(pc.is_finite(column), text, pa.scalar(None, _TEXT))


_MAKERS: Final[tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]], ...]] = (
    (pa.types.is_integer, _cast),
    (pa.types.is_boolean, _cast),
    (pa.types.is_float64, _decimals),
    (pa.types.is_string, _escaped),
    (pa.types.is_large_string, _escaped),
)
