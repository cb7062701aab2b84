"""Columns of vectors: lists of numbers, a vector a record, as float32 bytes back to back."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.schema import Bools

_BYTES = 4  # of a number


class Vectors(NamedTuple):
    """A column of vectors.

    found: large_binary; of each record its numbers as float32, or nothing where it is bad.
    is_good: bool[n]. faults: of each bad record, by position, why.
    """

    found: pa.LargeBinaryArray
    is_good: Bools
    faults: dict[int, str]


def as_vectors(column: pa.ChunkedArray, name: str, source: str, dimension: int | None) -> Vectors:
    """Return a column of vectors. dimension: how many numbers each has, or None where the first good one tells.

    Raises:
        InputError: the column does not hold lists of numbers.
    """
    kind = column.type
    if pa.types.is_null(kind):
        column, kind = column.cast(pa.list_(pa.float32())), pa.list_(pa.float32())
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not is_list or not (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)):
        raise InputError(
            f"{source}: column {name!r} holds {kind}, not vectors (lists of numbers). Choose one with --text-field."
        )
    lists = pa.concat_arrays(column.cast(pa.large_list(pa.float32()), safe=False).chunks or [_no_lists()])
    offsets = lists.offsets.to_numpy()
    numbers = lists.values.to_numpy(zero_copy_only=False) + np.float32(0)  # -0.0 is 0.0
    is_valid = lists.is_valid().to_numpy(zero_copy_only=False)
    n_bad = np.concatenate(([0], np.cumsum(~np.isfinite(numbers))))
    is_finite = n_bad[offsets[1:]] == n_bad[offsets[:-1]]
    sizes = np.diff(offsets)
    usable = np.flatnonzero(is_valid & is_finite & (sizes > 0))
    size = int(sizes[usable[0]]) if dimension is None and usable.size else dimension
    is_good = is_valid & is_finite & (sizes == size) & (sizes > 0)
    faults = {
        at: _fault(name, is_valid=bool(is_valid[at]), is_finite=bool(is_finite[at]), size=int(sizes[at]), others=size)
        for at in np.flatnonzero(~is_good).tolist()
    }
    is_chosen = np.zeros(numbers.size, np.bool_)
    is_chosen[offsets[0] : offsets[-1]] = np.repeat(is_good, sizes)
    ends = np.concatenate(([0], np.cumsum(np.where(is_good, sizes, 0)))) * _BYTES
    data = numbers if is_chosen.all() else numbers[is_chosen]
    buffers = [None, pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(data.astype(np.float32, copy=False))]
    return Vectors(pa.Array.from_buffers(pa.large_binary(), is_good.size, buffers), is_good, faults)


def from_lists(values: list[Any], name: str, source: str, dimension: int | None) -> Vectors:
    """Return vectors from values of any kind, those that are no list of numbers bad."""
    odd = {
        at: f"{name!r} is null" if one is None else f"{name!r} is no list of numbers"
        for at, one in enumerate(values)
        if not _is_list(one)
    }
    lists = [
        None if at in odd else [np.nan if number is None else number for number in one] for at, one in enumerate(values)
    ]
    found = as_vectors(pa.chunked_array([pa.array(lists, pa.large_list(pa.float64()))]), name, source, dimension)
    return found._replace(faults=found.faults | odd)


def dimension_of(found: pa.LargeBinaryArray) -> int | None:
    """Return how many numbers the vectors have; None where there are none."""
    return len(found[0].as_py()) // _BYTES if len(found) else None


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(number is None or type(number) in (int, float) for number in value)


def _no_lists() -> pa.Array:
    return pa.array([], pa.large_list(pa.float32()))


def _fault(name: str, *, is_valid: bool, is_finite: bool, size: int, others: int | None) -> str:
    if not is_valid:
        return f"{name!r} is null"
    if not is_finite:
        return f"{name!r} holds a number that is null or not finite"
    if not size:
        return f"{name!r} is an empty vector"
    return f"{name!r} is a vector of another length: {size:,} numbers, where the first has {others:,}"
