"""Reading: every format, every fault."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.records.read import Documents, Paths, Reading, open_documents

GOOD = ["the harbor reopened", "港口恢复通航。", "naïve café", "", 'a, "quoted" text']


def reading(**changes: Any) -> Reading:
    """Return how to read, with these changes."""
    plain: dict[str, Any] = {
        "text": "text", "id": None, "field": None, "on_bad_record": "fail", "encoding": "utf-8", "format": None,
        "temp_dir": None,
    }  # fmt: skip
    return Reading(**plain | changes)


def read(*names: Path | str, **changes: Any) -> tuple[list[str], list[Any], Documents]:
    """Return texts and ids of files, and the documents they are of."""
    documents = open_documents(Paths(map(str, names)), reading(**changes))
    batches = list(documents.batches())
    texts = [text.decode("utf-8", "surrogatepass") for batch in batches for text in batch.texts.to_pylist()]
    return texts, [one for batch in batches for one in batch.ids.to_pylist()], documents


def zstd(data: bytes) -> bytes:
    """Return data compressed by zstd."""
    sink = io.BytesIO()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
        stream.flush()
        stream.close()
        return sink.getvalue() if not sink.closed else b""


def jsonl(texts: list[str]) -> bytes:
    """Return texts as JSON records with ids."""
    return "".join(
        json.dumps({"id": k, "text": text}, ensure_ascii=False) + "\n" for k, text in enumerate(texts)
    ).encode()


def as_csv(texts: list[str], delimiter: str = ",") -> bytes:
    """Return texts as CSV with ids."""
    import csv

    sink = io.StringIO(newline="")
    rows = csv.writer(sink, delimiter=delimiter)
    rows.writerows([["id", "text"], *([str(k), text] for k, text in enumerate(texts))])
    return sink.getvalue().encode()


def as_columns(texts: list[str], write: Any) -> bytes:
    """Return texts as a file of Arrow or Parquet."""
    sink = pa.BufferOutputStream()
    write(pa.table({"id": range(len(texts)), "text": texts}), sink)
    return bytes(sink.getvalue())


def write_ipc(table: pa.Table, sink: Any) -> None:
    """Write an Arrow file."""
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def write_stream(table: pa.Table, sink: Any) -> None:
    """Write an Arrow stream."""
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


FILES = {
    "in.jsonl": jsonl(GOOD),
    "in.ndjson": jsonl(GOOD),
    "in.jsonl.gz": gzip.compress(jsonl(GOOD)),
    "members.jsonl.gz": gzip.compress(jsonl(GOOD)[:30]) + gzip.compress(jsonl(GOOD)[30:]) + b"\0" * 100,
    "in.txt": "\n".join(GOOD).encode() + b"\n",
    "crlf.txt": "\r\n".join(GOOD).encode() + b"\r\n",
    "unended.txt": "\n".join(GOOD).encode(),
    "bom.txt": b"\xef\xbb\xbf" + "\n".join(GOOD).encode(),
    "bom.jsonl": b"\xef\xbb\xbf" + jsonl(GOOD),
    "crlf.jsonl": jsonl(GOOD).replace(b"\n", b"\r\n"),
    "blank.jsonl": b"\n  \n" + jsonl(GOOD).replace(b"\n", b"\n\n\t\n"),
    "in.csv": as_csv(GOOD),
    "bom.csv": b"\xef\xbb\xbf" + as_csv(GOOD),
    "in.tsv": as_csv(GOOD, "\t"),
    "in.csv.gz": gzip.compress(as_csv(GOOD)),
    "in.parquet": as_columns(GOOD, pq.write_table),
    "in.arrow": as_columns(GOOD, write_ipc),
    "stream.arrow": as_columns(GOOD, write_stream),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_texts(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same five texts from each, whole and in tiny blocks, and again in later passes."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    for block in (8 << 20, 7):
        monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", block)

        texts, ids, documents = read(path)

        assert GOOD == texts
        assert [0, 1, 2, 3, 4] == ids
        assert (5, 0) == (documents.n_read, documents.rejected.total)
        again = [one.decode() for column in documents.texts(np.array([1, 4])) for one in column.to_pylist()]
        assert [GOOD[1], GOOD[4]] == again
        assert GOOD == [
            row for part in documents.records() for row in part.chunk.table(part.positions)["text"].to_pylist()
        ]


def test_zstd_is_read(tmp_path: Path) -> None:
    """A zstd file gives its records; one that is cut is named."""
    path = tmp_path / "in.jsonl.zst"
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as stream:
        stream.write(jsonl(GOOD * 1000))

    assert GOOD * 1000 == read(path)[0]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"in\.jsonl\.zst: the zstd stream is cut or damaged"):
        read(path)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("cut.jsonl.gz", gzip.compress(jsonl(GOOD))[:-15], "the gzip stream is cut or damaged near byte"),
        ("plain.jsonl.gz", jsonl(GOOD), "the gzip stream is cut or damaged near byte 2: Not a gzipped file"),
        ("not.parquet", b"PAR1 or so", "not.parquet: cannot be read"),
        ("not.arrow", b"nothing", "not.arrow: cannot be read"),
        ("empty.csv", b"", "is empty; the first line of a CSV file names its columns"),
        ("twice.csv", b"text,text\na,b\n", "twice.csv:1: the header names 'text' twice"),
        ("ragged.csv", b'id,text\n1,"two\nlines"\n2,a,b\n', "ragged.csv:4: ragged: 3 fields, the header has 2"),
        ("stray.csv", b'id,text\n1,"a"b\n', "stray.csv:2: broken CSV"),
        ("semi.csv", b"id;text\n1;a\n", "It looks as if its columns are parted by ';'"),
        ("case.csv", b"id,Text\n1,a\n", "column 'text' is not in {}; its columns: id, Text. Did you mean 'Text'?"),
        ("number.parquet", as_columns([1, 2], pq.write_table), "column 'text' holds int64, not text"),  # type: ignore[list-item]  # meant
        ("utf8.jsonl", jsonl(GOOD) + b'{"text": "\xff"}\n', "utf8.jsonl:6: not UTF-8: byte 0xff at offset 1"),
        ("gbk.txt", ("a\n" * 5000 + "港口恢复通航\n").encode("gb18030"), "gbk.txt:5001: not UTF-8: byte 0xb8 at offset 10,000. It may be gb18030"),
        ("wide.txt", "港口".encode("utf-16"), "It may be utf-16: name it with --encoding"),
        ("cut.jsonl", b'{"text": "a"}\n\n{"text": "cut', "cut.jsonl:3: broken JSON: Unterminated string"),
        ("two.jsonl", b'{"text": "a"} {"text": "b"}\n', "two.jsonl:1: broken JSON: Extra data"),
        ("tail.jsonl", b'{"text": "a"} x\n', "tail.jsonl:1: broken JSON: Extra data"),
        ("list.jsonl", b"[]\n", "list.jsonl:1: not an object but a list"),
        ("deep.jsonl", b'{"text": ' + b"[" * 100_000 + b"\n", "deep.jsonl:1: broken JSON"),
        ("null.jsonl", b'{"text": null}\n', "null.jsonl:1: 'text' is null"),
        ("seven.jsonl", b'{"text": 7}\n', "seven.jsonl:1: 'text' is a number, not text"),
        ("other.jsonl", b'{"txt": "a"}\n', "other.jsonl:1: no field 'text'; the record has txt. Choose the field with --text-field"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    """The text names file, line or byte, and what was wrong."""
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(InputError) as caught:
        read(path)

    assert said.format(path) in str(caught.value)
    assert str(path) in str(caught.value)


def test_bad_records_are_counted_by_reason(tmp_path: Path) -> None:
    """Thirteen lines: two blank, two good, nine rejected, each with a reason and an example."""
    lines = ['{"text": "good"}', "", "   ", '{"text": "cut', "[]", '"str"', "42", "null", '{"txt": "x"}', '{"text": null}',
             '{"text": 7}', '{"text": ["a"]}', '{"text": "good"}']  # fmt: skip
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines))

    texts, ids, documents = read(path, on_bad_record="skip")

    assert (["good", "good"], [0, 10]) == (texts, ids)
    assert (11, 9) == (documents.n_read, documents.rejected.total)
    assert {
        "broken JSON": 1, "not an object but a list": 1, "not an object but text": 1, "not an object but a number": 1,
        "not an object but null": 1, "no field 'text'": 1, "'text' is null": 1, "'text' is a number, not text": 1,
        "'text' is a list, not text": 1,
    } == documents.rejected.reasons  # fmt: skip
    assert f"{path}:9: no field 'text'; the record has txt" == documents.rejected.examples["no field 'text'"]
    kept = [row for part in documents.records() for row in part.chunk.table(part.positions)["text"].to_pylist()]
    assert ["good", "good"] == kept


def test_bad_csv_and_null_parquet_records_are_counted(tmp_path: Path) -> None:
    """Ragged rows, stray quotes and nulls go to the count; the others stay what they were."""
    (tmp_path / "in.csv").write_bytes(b'id,text\n1,a\n2,b,c\n3,"x"y\n4,d\n')
    pq.write_table(pa.table({"text": ["a", None, "b"]}), tmp_path / "in.parquet")

    csv_texts, csv_ids, csv_documents = read(tmp_path / "in.csv", on_bad_record="skip", id="id")
    texts, ids, documents = read(tmp_path / "in.parquet", on_bad_record="skip")

    assert (["a", "d"], ["1", "4"]) == (csv_texts, csv_ids)
    assert {"ragged": 1, "broken CSV": 1} == csv_documents.rejected.reasons
    assert (["a", "b"], [0, 2]) == (texts, ids)
    assert f"{tmp_path}/in.parquet: record 1: 'text' is null" == documents.rejected.examples["'text' is null"]


def test_a_field_that_no_record_has_is_refused_even_when_skipping(tmp_path: Path) -> None:
    """A misspelt field is not a million bad records."""
    (tmp_path / "in.jsonl").write_bytes(jsonl(GOOD))

    with pytest.raises(InputError, match="no field 'body'; the record has id, text; no other has it either"):
        read(tmp_path / "in.jsonl", text="body", on_bad_record="skip")


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16", "utf-8-sig"])
def test_other_encodings_are_read_when_named(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts come out right whatever block their bytes are cut in; what does not decode is named."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", 5)
    texts = ["港口恢復通航", "海邊的集市"] if encoding == "big5" else ["港口恢复通航", "㐂𠮷", "plain"]
    path = tmp_path / "in.txt"
    path.write_bytes("\n".join(texts).encode(encoding))

    assert texts == read(path, encoding=encoding)[0]
    path.write_bytes(b"ok\n\xff\xff\xff")
    with pytest.raises(InputError, match=r"in\.txt:[12]: not "):
        read(path, encoding=encoding)


def test_lone_surrogates_are_texts(tmp_path: Path) -> None:
    """Halves of a pair that stand alone are read as they are; a whole pair is one code point."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"text":"flag \\ud83c end"}\n{"text":"flag \\udf78 end"}\n{"text":"flag \\ud83c\\udf78 end"}\n')

    assert ["flag \ud83c end", "flag \udf78 end", "flag \U0001f378 end"] == read(path)[0]


@pytest.mark.parametrize(
    "values",
    [[1, 2], ["1", "2"], [1, "1"], [1.5, 2.5], [True, False], [1, 1 << 70], [None, 3], ["2020-01-01", "x"], [[1], [2]]],
)
def test_ids_keep_their_type(tmp_path: Path, values: list[Any]) -> None:
    """What goes in as id comes out as id, also of several types and beyond 64 bits."""
    path, removed = tmp_path / "in.jsonl", tmp_path / "removed.jsonl"
    path.write_text("".join(json.dumps({"id": value, "text": "same"}) + "\n" for value in values))
    import neardup

    neardup.dedup(path, id="id", write={"removed": removed})

    told = json.loads(removed.read_text())["kept_id"]
    assert (type(values[0]), values[0]) == (type(told), told)


def test_quoted_line_ends_and_long_fields_of_csv(tmp_path: Path) -> None:
    """Records with line ends, quotes and commas inside, and a field of a megabyte, come through unchanged."""
    texts = [f'line one {k}\r\nline "two", {k}\nline three' for k in range(2000)] + ["x" * 1_000_000]
    path = tmp_path / "in.csv"
    path.write_bytes(as_csv(texts))

    assert texts == read(path)[0]


def test_a_line_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of any length is one record."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", 1000)
    path = tmp_path / "in.jsonl"
    path.write_bytes(jsonl(["a", "b" * 100_000, "c"]))

    assert ["a", "b" * 100_000, "c"] == read(path)[0]


def test_a_file_that_changes_between_passes_is_refused(tmp_path: Path) -> None:
    """What was read first must still be there."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(jsonl(GOOD))
    documents = read(path)[2]
    path.write_bytes(jsonl(GOOD[:2]))

    with pytest.raises(InputError, match="has changed while it was being read"):
        list(documents.records())


def test_urls_go_through_fsspec() -> None:
    """A file in memory by its URL."""
    import fsspec

    with fsspec.open("memory://folder/in.jsonl", "wb") as file:
        file.write(jsonl(GOOD))

    assert GOOD == read("memory://folder/in.jsonl")[0]
    with pytest.raises(InputError, match="memory://folder/none.jsonl: cannot be opened"):
        read("memory://folder/none.jsonl")


def test_several_files_are_one_run_of_records(tmp_path: Path) -> None:
    """Formats may differ; numbers run on; a byte order mark of a later file is no text."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(GOOD[:2]))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfthird\nfourth\n")

    texts, ids, _ = read(tmp_path / "a.jsonl", tmp_path / "b.txt")

    assert ([*GOOD[:2], "third", "fourth"], [0, 1, 2, 3]) == (texts, ids)
