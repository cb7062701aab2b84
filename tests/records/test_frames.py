"""Data in memory, of every kind that people bring."""

from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InputError, UsageError

TEXTS = ["A b c d e f", "one", "two", "three", "a b c d e f!", "four"]


@pytest.mark.parametrize(
    "data",
    [
        TEXTS,
        tuple(TEXTS),
        (text for text in TEXTS),
        np.array(TEXTS),
        pd.Series(TEXTS),
        {"text": TEXTS},
        pd.DataFrame({"n": range(6), "text": TEXTS}, index=[0, 1, 2, 0, 1, 2]),
        pd.DataFrame({"text": TEXTS}, index=pd.MultiIndex.from_product([[0, 1], [5, 9, 9]])),
        pl.DataFrame({"text": TEXTS, "n": range(6)}),
        pa.table({"text": TEXTS}),
        pa.table({"text": ["x", *TEXTS, "y"]}).slice(1, 6),
        pa.table({"text": pa.chunked_array([TEXTS[:2], [], TEXTS[2:]])}),
        pa.table({"text": pa.array(TEXTS).dictionary_encode()}),
        pa.RecordBatch.from_pydict({"text": TEXTS}),
        pa.table({"text": TEXTS}).to_reader(),
        datasets.Dataset.from_dict({"text": TEXTS}),
        datasets.Dataset.from_dict({"text": TEXTS[::-1]}).select([5, 4, 3, 2, 1, 0]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_the_fifth_goes(data: Any) -> None:
    """Of six texts exactly the fifth goes, the order is that of the input, whatever holds them."""
    result = neardup.dedup(data)

    assert [*TEXTS[:4], TEXTS[5]] == result.kept["text"].to_pylist()
    assert [(0, 1.0)] == [(row["kept_id"], row["similarity"]) for row in result.removed.to_pylist()]
    assert [0, 4] == result.clusters["id"].to_pylist()


def test_all_columns_come_through_without_an_index() -> None:
    """Columns keep their names, order and types; nothing is added to what stays."""
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2024-01-01"] * 6), "text": TEXTS, "n": range(6)}, index=list("abcdef")
    )

    kept = neardup.dedup(frame, id="n").kept

    assert ["when", "text", "n"] == kept.column_names
    assert pa.types.is_timestamp(kept["when"].type)


def test_missing_and_other_values_are_no_texts() -> None:
    """None, NaN, NA, NaT, numbers and bytes are rejected with reasons; the strings "nan" and "None" are texts."""
    column = ["a b c d e f", None, float("nan"), pd.NA, 5, 5.0, True, b"bytes", pd.NaT, "nan", "None", "A b c d e f"]
    frame = pd.DataFrame({"text": pd.Series(column, dtype=object)})

    result = neardup.dedup(frame, on_bad_record="skip")

    assert ["a b c d e f", "nan", "None"] == result.kept["text"].to_pylist()
    assert (12, 3, 1, 8) == (result.stats.read, result.stats.kept, result.stats.removed, result.stats.rejected)
    assert {"'text' is null": 4, "'text' is int, not text": 1, "'text' is float, not text": 1,
            "'text' is bool, not text": 1, "'text' is bytes, not text": 1} == result.stats.rejected_reasons  # fmt: skip
    assert [0] == result.removed["kept_id"].to_pylist()
    with pytest.raises(InputError, match="the data frame: record 1: 'text' is null"):
        neardup.dedup(frame)


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (
            {"Text": ["a"]},
            ValueError,
            "column 'text' is not in the dictionary; its columns: Text. Did you mean 'Text'?",
        ),
        (pd.DataFrame({"content": ["a"]}), ValueError, "its columns: content. Choose one with"),
        (pl.DataFrame({"text": [1]}), InputError, "column 'text' holds int64, not text"),
        (pa.table({"text": [["a"]]}), InputError, "holds list"),
        ([["a", "b"]], UsageError, "the list holds no text: 'text' is list, not text"),
        ([b"x"], UsageError, "'text' is bytes, not text"),
        (b"abc", UsageError, "cannot read texts from bytes"),
        (7, UsageError, "cannot read texts from int"),
        ("abc", InputError, "abc: no such file."),
        ({"text": ["a"], "x": [object()]}, InputError, "a column cannot be held by Arrow"),
    ],
)
def test_what_holds_no_texts_is_refused(data: Any, error: type[Exception], said: str) -> None:
    """One sentence says what was given and what is wanted."""
    with pytest.raises(error, match=said.replace("(", r"\(")):
        neardup.dedup(data)


def test_an_open_file_is_refused() -> None:
    """A handle is not a list of lines."""
    with (
        open(__file__, encoding="utf-8") as file,
        pytest.raises(UsageError, match="cannot read texts from TextIOWrapper"),
    ):
        neardup.dedup(file)


def test_lone_surrogates_in_a_list() -> None:
    """Texts that UTF-8 cannot hold are compared all the same."""
    result = neardup.dedup(["flag \ud83c end", "flag \udf78 end", "flag \ud83c end"])

    assert [0, 1, 0] == result.kept_doc.tolist()


def test_nothing_gives_nothing() -> None:
    """No texts, no rows, no error."""
    for data in ([], {"text": []}, pa.table({"text": pa.array([], pa.string())})):
        result = neardup.dedup(data)

        assert (0, 0, 0) == (result.stats.read, result.kept.num_rows, result.pairs.num_rows)
