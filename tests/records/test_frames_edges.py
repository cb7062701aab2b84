"""Data in memory: lists, dictionaries, frames and datasets to documents."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup.errors import InputError, UsageError
from neardup.records.read import Documents, Reading, open_documents
from neardup.records.write import Outputs

ODD = ["a b", None, float("nan"), 5, 5.0, True, b"bytes", "nan", "None", "a b"]


def open_data(data: object, **changes: Any) -> Documents:
    """Return the documents of data in memory, bad records counted."""
    defaults: dict[str, Any] = {
        "text": "text",
        "id": None,
        "field": None,
        "on_bad_record": "skip",
        "encoding": "utf-8",
        "format": None,
        "temp_dir": None,
    }
    return open_documents(data, Reading(**(defaults | changes)))


def texts(documents: Documents) -> list[str]:
    """Return all texts, of the first pass."""
    return [text.decode("utf-8", "surrogatepass") for batch in documents.batches() for text in batch.texts.to_pylist()]


def whole(documents: Documents) -> list[dict[str, Any]]:
    """Return all records of documents, with all their columns."""
    texts(documents)
    return [row for part in documents.records() for row in part.chunk.table(part.positions).to_pylist()]


@pytest.mark.parametrize(
    "data",
    [
        ["a", "b"],
        ("a", "b"),
        iter(["a", "b"]),
        {"text": ["a", "b"]},
        {"text": ("a", "b")},
        pd.DataFrame({"text": ["a", "b"]}),
        pd.DataFrame({"text": pd.Categorical(["a", "b"])}),
        pd.Series(["a", "b"]),
        pl.DataFrame({"text": ["a", "b"]}),
        pl.DataFrame({"text": ["a", "b"]}, schema={"text": pl.Categorical}),
        pl.Series(["a", "b"]),
        np.array(["a", "b"]),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
        pa.table({"text": ["a", "b"]}),
        pa.table({"text": pa.chunked_array([["a"], ["b"]])}),
        pa.table({"text": ["x", "a", "b", "y"]}).slice(1, 2),
        pa.record_batch({"text": ["a", "b"]}),
        pa.table({"text": ["a", "b"]}).to_reader(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_whatever_holds_texts_is_read_again_and_again(data: object) -> None:
    """Also what can be gone through once only."""
    documents = open_data(data)

    assert ["a", "b"] == texts(documents)
    assert [2] == [records.chunk.n_records for records in documents.records()]


@pytest.mark.parametrize(
    "data", [[["a", "b"]], [b"x"], [1, 2], b"x", {"a", "b"}, 5, None, open, pl.LazyFrame({"text": ["a"]})], ids=str
)
def test_what_holds_no_texts_is_refused(data: object) -> None:
    """A clear line, of an error that is a ValueError; never letters of a string, nor items without order."""
    with pytest.raises((UsageError, InputError)):
        texts(open_data(data))


def test_an_open_file_is_refused(tmp_path: Path) -> None:
    """Its path is what should have been given."""
    path = tmp_path / "a.txt"
    path.write_text("a\n")

    with path.open() as file, pytest.raises(UsageError):
        open_data(file)


def test_a_string_is_a_path(tmp_path: Path) -> None:
    """Never a list of letters; and a list of paths is not a list of texts."""
    path = tmp_path / "a.txt"
    path.write_text("a\n")

    assert ["a"] == texts(open_data(str(path)))
    assert ["a"] == texts(open_data(path))
    assert ["a"] == texts(open_data([path]))


@pytest.mark.parametrize("make", [list, lambda values: {"text": values}, lambda values: pd.DataFrame({"text": values})])
def test_missing_and_other_values_are_rejected(make: Any) -> None:
    """They are in no text column by mistake: the strings "nan" and "None" are texts, what is missing is none."""
    documents = open_data(make([*ODD, pd.NA, pd.NaT]))

    assert ["a b", "nan", "None", "a b"] == texts(documents)
    assert 12 == documents.n_read
    assert 8 == documents.rejected.total == sum(documents.rejected.reasons.values())


def test_a_bad_record_stops_with_its_number() -> None:
    """Records of frames have numbers, from 0."""
    with pytest.raises(InputError, match="record 1"):
        texts(open_data(["a", None], on_bad_record="fail"))


@pytest.mark.parametrize("index", [[0, 1, 2, 0], [5, 9, 9, 11], pd.MultiIndex.from_product([[0, 1], [0, 1]])])
def test_the_index_of_a_frame_means_nothing(index: Any) -> None:
    """Records go by position, and no index turns into a column."""
    frame = pd.DataFrame({"n": [1, 2, 3, 4], "text": list("abcd")}, index=index)

    assert frame.to_dict("records") == whole(open_data(frame))


def test_columns_keep_their_types_and_order() -> None:
    """All of them, also of a slice."""
    table = pa.table(
        {
            "when": pa.array([0, 1, 2], pa.timestamp("ns", "UTC")),
            "text": ["a", "b", "c"],
            "tags": [["x"], None, []],
            "code": pa.array([1, None, 3], pa.uint8()),
            "kind": pa.array(["p", "q", "p"]).dictionary_encode(),
        }
    )
    documents = open_data(table.slice(1))
    texts(documents)

    found = pa.concat_tables([part.chunk.table(part.positions) for part in documents.records()])

    assert table.slice(1).equals(found)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_wrong_column_is_said_with_those_there_are(make: Any) -> None:
    """The same sentence for all of them, as a ValueError."""
    with pytest.raises(ValueError, match="'text'.*n, Text.*'Text'"):
        texts(open_data(make({"n": ["1"], "Text": ["a"]})))


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("values", [[1, 2], [["a"], ["b"]]])
def test_a_typed_column_without_texts_is_refused(make: Any, values: list[Any]) -> None:
    """Numbers and lists never become texts."""
    with pytest.raises(InputError, match="not text"):
        texts(open_data(make({"text": values})))


def test_a_column_of_objects_without_texts_is_rejected() -> None:
    """Record by record."""
    documents = open_data(pd.DataFrame({"text": [1, 2]}))

    assert [] == texts(documents)
    assert 2 == documents.rejected.total


def test_columns_of_one_name_are_refused() -> None:
    """Which of the two is meant is not guessed."""
    with pytest.raises((UsageError, InputError), match="text"):
        texts(open_data(pd.DataFrame([["a", "b"]], columns=["text", "text"])))


def test_columns_without_names_pass() -> None:
    """Numbers are names to pandas."""
    frame = pd.DataFrame({0: [1], "text": ["a"]})

    assert [{"0": 1, "text": "a"}] == whole(open_data(frame))


def test_columns_of_different_lengths_are_refused() -> None:
    """One line that says so."""
    with pytest.raises((UsageError, InputError)):
        open_data({"text": ["a"], "n": [1, 2]})


def test_lone_surrogates_in_a_list_are_texts(tmp_path: Path) -> None:
    """They go out to JSONL as they came in."""
    documents = open_data(["flag \ud83c end"])
    path = tmp_path / "kept.jsonl"

    assert ["flag \ud83c end"] == texts(documents)
    with Outputs({"kept": str(path)}, documents) as outputs:
        for records in documents.records():
            outputs.records("kept", records.chunk, records.positions, None)
    assert {"id": 0, "text": "flag \ud83c end"} == json.loads(path.read_bytes())


def dataset(values: Iterable[str]) -> Any:
    """Return a Hugging Face dataset."""
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_dict({"text": list(values)})


def test_a_dataset_hands_out_what_it_selects() -> None:
    """In its own order."""
    assert ["c", "a"] == texts(open_data(dataset("abc").select([2, 0])))
    assert [] == texts(open_data(dataset("")))


def test_splits_of_a_dataset_are_refused() -> None:
    """The text says what to do."""
    datasets = pytest.importorskip("datasets")

    with pytest.raises((UsageError, InputError), match="train"):
        open_data(datasets.DatasetDict({"train": dataset("abc")}))
