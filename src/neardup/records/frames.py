"""Data in memory as a table: lists, dictionaries, pandas, polars, pyarrow, Hugging Face datasets.

Their objects are known by what they can do; none of these libraries is imported here but pyarrow.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from neardup.errors import InputError, UsageError
from neardup.records.chunks import Wanted, no_column
from neardup.records.ids import GENERALIZED
from neardup.records.tables import TableSource

_NO_LISTS: Final = (bytes, bytearray, memoryview, set, frozenset)  # items of no text, or in no order


def open_frame(data: Any, wanted: Wanted) -> TableSource:  # noqa: ANN401  # what users have
    """Return data in memory as a source of records.

    Raises:
        UsageError: it is of a kind nobody can read texts from.
        InputError: a wanted column is not there, or a column cannot be held by Arrow.
    """
    if isinstance(data, Mapping):
        for name, column in data.items():
            if isinstance(column, str):  # list() would make letters of it
                raise UsageError(f"the dictionary: {name!r} is one str; give a column, a list of values.")
        return _open_columns({str(name): list(column) for name, column in data.items()}, wanted, "the dictionary")
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return _open_pandas(data, wanted)
    if hasattr(data, "with_format") and hasattr(data, "column_names"):
        tables = [
            pa.table(part) if isinstance(part, dict) else part for part in data.with_format("arrow").iter(1 << 14)
        ]
        return TableSource(
            pa.concat_tables(tables) if tables else pa.table({n: [] for n in data.column_names}), "the dataset"
        )
    if isinstance(data, pa.Table):
        return TableSource(data, "the table")
    if isinstance(data, (pa.RecordBatch, pa.RecordBatchReader)) or _has_columns(data):
        return TableSource(pa.table(data), "the table")
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        data = data.to_pylist()
    if isinstance(data, _NO_LISTS) or not isinstance(data, Iterable) or hasattr(data, "read"):
        raise UsageError(f"cannot read texts from {type(data).__name__}: give a list of str, a table, or a path.")
    return _open_list(list(data), wanted)


def _open_list(values: list[Any], wanted: Wanted) -> TableSource:
    for name in wanted.beside:
        if name is not None:
            raise UsageError(f"a list of texts has no column {name!r}; give a table instead.")
    texts, faults = _texts(values, wanted)
    if values and len(faults) == len(values):
        raise UsageError(f"the list holds no text: {faults[0]}. Give a list of str, a table, or a path.")
    columns = (
        {wanted.text: texts}
        if wanted.text == "id"
        else {"id": pa.array(range(len(values)), pa.int64()), wanted.text: texts}
    )
    return TableSource(pa.table(columns), "the list", faults)


def _open_columns(columns: dict[str, list[Any]], wanted: Wanted, name: str) -> TableSource:
    if wanted.text not in columns:
        raise InputError(no_column(wanted.text, name, list(columns), wanted))
    texts, faults = _texts(columns[wanted.text], wanted)
    try:
        table = pa.table({column: texts if column == wanted.text else values for column, values in columns.items()})
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{name}: a column cannot be held by Arrow: {error}.") from error
    return TableSource(table, name, faults)


def _open_pandas(frame: Any, wanted: Wanted) -> TableSource:  # noqa: ANN401  # pandas is not imported
    names = [str(name) for name in frame.columns]
    if wanted.text not in names:
        raise InputError(no_column(wanted.text, "the data frame", names, wanted))
    if len(set(names)) < len(names):
        raise InputError(f"the data frame: columns of one name among {', '.join(names)}; rename all but one.")
    texts, faults = _texts(frame[wanted.text].tolist(), wanted)
    others = frame.drop(columns=wanted.text)
    try:
        table = pa.Table.from_pandas(others, preserve_index=False).replace_schema_metadata()
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"the data frame: a column cannot be held by Arrow: {error}.") from error
    if not table.num_columns:
        return TableSource(pa.table({wanted.text: texts}), "the data frame", faults)
    return TableSource(table.add_column(names.index(wanted.text), wanted.text, texts), "the data frame", faults)


def _texts(values: Sequence[Any], wanted: Wanted) -> tuple[pa.Array, dict[int, str]]:
    """Return values as texts, null where one is none, and by position why; or as vectors, bad ones among them."""
    text = wanted.text
    if wanted.vectors:
        try:
            return pa.array(values, from_pandas=True), {}
        except (pa.ArrowException, ValueError) as error:
            raise InputError(f"{text!r} cannot be held as vectors, lists of numbers: {error}.") from error
    faults = {}
    texts: list[str | None] = []
    for position, value in enumerate(values):
        is_text = isinstance(value, str)
        texts.append(str(value) if is_text else None)
        if not is_text:
            faults[position] = (
                f"{text!r} is null" if _is_missing(value) else f"{text!r} is {type(value).__name__}, not text"
            )
    try:
        return pa.array(texts, pa.large_string()), faults
    except UnicodeEncodeError:
        encoded = [None if one is None else {"generalized_utf8": one.encode("utf-8", "surrogatepass")} for one in texts]
        return pa.array(encoded, GENERALIZED), faults


def _has_columns(data: object) -> bool:
    """Say whether data is a table that Arrow can take; a series can be taken too, but has no columns."""
    return hasattr(data, "__arrow_c_stream__") and (hasattr(data, "columns") or hasattr(data, "schema"))


def _is_missing(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
