"""Ids and other columns of single values: their types kept, also where a source mixes them.

Values of one type make a column of that type. Mixed ones, 1 and "1" in one file, make a column of MIXED: each value as
its JSON literal, so that they stay apart and go out as they came.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import UsageError
from neardup.schema import U64

GENERALIZED: Final = pa.struct([("generalized_utf8", pa.large_binary())])  # texts in memory with lone surrogates
MIXED: Final = pa.struct([("json", pa.large_string())])
_FAR_APART: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two numbers become one
_TYPES: Final = {int: pa.int64(), str: pa.large_string(), float: pa.float64(), bool: pa.bool_()}


def as_array(values: Sequence[Any]) -> pa.Array:
    """Return values as a column of their one type, or of MIXED."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if len(kinds) == 1 and (kind := _TYPES.get(kinds.pop())) is not None:
        try:
            return pa.array(values, kind)
        except (OverflowError, UnicodeEncodeError, pa.ArrowException):
            pass  # beyond 64 bits, or a lone surrogate
    return pa.array([_mixed(value) for value in values], MIXED)


def concat_columns(arrays: Sequence[pa.Array]) -> pa.Array:
    """Return the arrays one after the other, of their one type, or of MIXED."""
    plain = [array.cast(pa.large_string()) if pa.types.is_string(array.type) else array for array in arrays]
    kinds = {array.type for array in plain if not pa.types.is_null(array.type)}
    if len(kinds) > 1:
        plain = [array if array.type == MIXED else pa.array(map(_mixed, array.to_pylist()), MIXED) for array in plain]
        kinds = {MIXED}
    kind = kinds.pop() if kinds else pa.null()
    return pa.concat_arrays([array.cast(kind) for array in plain]) if plain else pa.nulls(0)


def in_order(column: pa.Array) -> pa.Array:
    """Return a column of MIXED that holds numbers only as their ranks, int64, so that it can be sorted; others as is.

    Integers and fractions, as JSON mixes them, have an order; as literals they would be sorted like words.
    """
    if column.type != MIXED:
        return column
    values = [None if one is None else json.loads(one["json"]) for one in column.to_pylist()]
    if any(isinstance(value, bool) or not isinstance(value, (int, float, type(None))) for value in values):
        return column
    ranks = {value: rank for rank, value in enumerate(sorted({value for value in values if value is not None}))}
    return pa.array([None if value is None else ranks[value] for value in values], pa.int64())


def groups_of(column: pa.Array) -> U64:
    """Return uint64[n]: numbers, far apart, that are equal where values are; nulls are equal to one another."""
    values = pc.struct_field(column, [0]) if column.type in (MIXED, GENERALIZED) else column
    if pa.types.is_nested(values.type):
        raise UsageError(f"--within goes by single values, not by {values.type}; choose another field.")
    codes = pc.fill_null(values.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    groups: U64 = codes.astype(np.int64).view(np.uint64) * _FAR_APART
    return groups


def literals(column: pa.Array) -> list[bytes]:
    """Return each value of a column of MIXED as JSON."""
    return [b"null" if value is None else value["json"].encode() for value in column.to_pylist()]


def generalized_literals(column: pa.ChunkedArray) -> list[bytes]:
    """Return each text of a column of GENERALIZED as JSON, lone surrogates as escapes."""
    texts = (
        None if one is None else one["generalized_utf8"].decode("utf-8", "surrogatepass") for one in column.to_pylist()
    )
    return [json.dumps(text).encode() for text in texts]


def _mixed(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    try:
        return {"json": orjson.dumps(value).decode()}
    except TypeError:  # beyond 64 bits, a lone surrogate
        return {"json": json.dumps(value, default=str)}
