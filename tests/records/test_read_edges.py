"""Reading: files, folders, globs and streams to documents, with the records that could not be read counted."""

import codecs
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, UsageError
from neardup.records.ids import concat_columns
from neardup.records.read import Documents, Paths, Reading, open_documents

CHINESE = "港口恢复通航,𠮷"


def reading(**changes: Any) -> Reading:
    """Return what is asked for by default, with changes."""
    defaults: dict[str, Any] = {
        "text": "text",
        "id": None,
        "field": None,
        "on_bad_record": "fail",
        "encoding": "utf-8",
        "format": None,
        "temp_dir": None,
    }
    return Reading(**(defaults | changes))


def open_files(*names: str | Path, **changes: Any) -> Documents:
    """Return the documents of files."""
    return open_documents(Paths(map(os.fspath, names)), reading(**changes))


def texts(documents: Documents) -> list[str]:
    """Return all texts, of the first pass."""
    return [text.decode("utf-8", "surrogatepass") for batch in documents.batches() for text in batch.texts.to_pylist()]


def ids(documents: Documents) -> list[object]:
    """Return all ids; those of several types as their JSON."""
    return list(concat_columns([batch.ids for batch in documents.batches()]).to_pylist())


def put(path: Path, content: str | bytes) -> Path:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(*names: str | Path, **changes: Any) -> str:
    """Return why files are refused."""
    with pytest.raises((InputError, UsageError)) as caught:
        texts(open_files(*names, **changes))
    assert 2 == caught.value.exit_code
    assert "\n" not in str(caught.value)
    return str(caught.value)


# JSONL


def test_texts_and_ids_come_in_order_with_their_type(tmp_path: Path) -> None:
    """Integers stay integers, strings strings, and other fields are not asked for."""
    numbers = put(tmp_path / "n.jsonl", '{"id": 3, "text": "a", "x": {}}\n{"x": 1, "text": "b", "id": 1}')
    names = put(tmp_path / "s.jsonl", '{"id": "3", "text": "a"}\n')

    assert [3, 1] == ids(open_files(numbers, id="id"))
    assert ["3"] == ids(open_files(names, id="id"))
    assert ["a", "b"] == texts(open_files(numbers))


def test_records_are_numbered_over_all_files_without_an_id_field(tmp_path: Path) -> None:
    """Numbers count from 0 and go on in the next file, rejected records included."""
    put(tmp_path / "a.jsonl", '{"text": "a"}\n{}\n\n{"text": "b"}\n')
    put(tmp_path / "b.jsonl", '{"text": "c"}\n')

    assert [0, 2, 3] == ids(open_files(tmp_path, on_bad_record="skip"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (('"1"', "1"), ['"1"', "1"]),
        (("1", "1.0"), ["1", "1.0"]),
        (("1.5", "1"), ["1.5", "1"]),
        (("true", "1"), ["true", "1"]),
        ((str(2**70), str(2**70 + 1)), [str(2**70), str(2**70 + 1)]),
        ((str(2**63), "1"), [str(2**63), "1"]),
    ],
)
def test_ids_of_several_types_stay_apart(tmp_path: Path, lines: tuple[str, str], expected: list[str]) -> None:
    """1 and "1" are two ids, and so are integers beyond 64 bits that are the same float."""
    path = put(tmp_path / "a.jsonl", "".join(f'{{"id": {one}, "text": "t"}}\n' for one in lines))

    found = ids(open_files(path, id="id"))

    assert expected == [one["json"] if isinstance(one, dict) else json.dumps(one) for one in found]


def test_ids_of_several_types_in_two_files_stay_apart(tmp_path: Path) -> None:
    """A file of integers and one of strings keep their ids."""
    put(tmp_path / "a.jsonl", '{"id": 1, "text": "t"}\n')
    put(tmp_path / "b.jsonl", '{"id": "1", "text": "t"}\n')

    assert [{"json": "1"}, {"json": '"1"'}] == ids(open_files(tmp_path, id="id"))


def test_a_null_id_is_an_id_and_a_missing_one_a_bad_record(tmp_path: Path) -> None:
    """Null passes; without the field there is nothing to name the record by."""
    path = put(tmp_path / "a.jsonl", '{"id": 1, "text": "a"}\n{"id": null, "text": "b"}\n{"text": "c"}\n')
    documents = open_files(path, id="id", on_bad_record="skip")

    assert [1, None] == ids(documents)
    assert 1 == documents.rejected.total


BAD_LINES = (
    '{"text": "first"}', "", "   ", '{"text": "cut', "[]", '"str"', "42", "null", '{"txt": "x"}', '{"text": null}',
    '{"text": 7}', '{"text": ["a"]}', '{"text": "a"} {"text": "b"}', '{"text": "a"} x', "{'text': 'a'}",
    '{"text": "last"}',
)  # fmt: skip


def test_bad_records_are_counted_with_reasons_that_add_up(tmp_path: Path) -> None:
    """Blank lines are no records; each other line that is no document is counted once, with where the first stands."""
    path = put(tmp_path / "a.jsonl", "\n".join(BAD_LINES))
    documents = open_files(path, on_bad_record="skip")

    assert ["first", "last"] == texts(documents)
    assert 14 == documents.n_read
    assert 12 == documents.rejected.total == sum(documents.rejected.reasons.values())
    assert set(documents.rejected.reasons) == set(documents.rejected.examples)
    assert documents.rejected.examples["broken JSON"].startswith(f"{path}:4: ")


@pytest.mark.parametrize("line", BAD_LINES[3:-1])
def test_a_bad_record_stops_the_run_with_its_line(tmp_path: Path, line: str) -> None:
    """The text names file, physical line and remedy; it is one line."""
    path = put(tmp_path / "a.jsonl", f'{{"text": "a"}}\n\n{line}\n{{"text": "b"}}\n')

    message = refusal(path)

    assert message.startswith(f"{path}:3: ")
    assert "--on-bad-record skip" in message


def test_objects_that_share_and_span_lines_are_bad_records(tmp_path: Path) -> None:
    """As many objects as lines, yet not one a line."""
    path = put(tmp_path / "a.jsonl", '{"text": "a"} {"text": "b"}\n{"text":\n"c"}\n{"text": "d"}\n')
    documents = open_files(path, on_bad_record="skip")

    assert ["d"] == texts(documents)
    assert 3 == documents.rejected.total


def test_lone_surrogates_are_texts(tmp_path: Path) -> None:
    """Half a pair comes through as generalized UTF-8; a whole pair is one code point."""
    path = put(tmp_path / "a.jsonl", '{"text": "\\ud83c end"}\n{"text": "\\udf78"}\n{"text": "\\ud83c\\udf78"}\n')

    assert ["\ud83c end", "\udf78", "\U0001f378"] == texts(open_files(path))


@pytest.mark.parametrize("value", ['"a\\u0000b"', '"2020-01-01"', '"1"', '""', '"\\n"', '"a/\\/"'])
def test_strings_come_as_they_are(tmp_path: Path, value: str) -> None:
    """Nothing is taken for a date or a number; NUL and an empty text are texts."""
    path = put(tmp_path / "a.jsonl", f'{{"text": {value}}}\n')

    assert [json.loads(value)] == texts(open_files(path))


def test_a_long_line_and_one_cut_anywhere_come_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines longer than a block, and code points that blocks cut."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", 7)
    wanted = ["a" * 50, CHINESE * 9, "", "x"]
    path = put(tmp_path / "a.jsonl", "".join(json.dumps({"text": one}, ensure_ascii=False) + "\r\n" for one in wanted))

    assert wanted == texts(open_files(path))


@pytest.mark.parametrize("head", ['{"id": 1, "Text": "a"}\n', "id,Text\n1,a\n"])
def test_a_wrong_column_is_said_with_those_there_are(tmp_path: Path, head: str) -> None:
    """The text names the columns and the flag, whether bad records stop the run or not."""
    path = put(tmp_path / ("a.jsonl" if head.startswith("{") else "a.csv"), head)

    for mode in ("fail", "skip"):
        message = refusal(path, on_bad_record=mode)
        assert "'text'" in message
        assert "id, Text" in message
        assert "--text-field" in message


# Plain text


def test_each_line_of_a_text_file_is_a_document(tmp_path: Path) -> None:
    """Blank lines are empty documents; the carriage return before a line end belongs to it, one alone to the text."""
    path = put(tmp_path / "a.txt", "one\r\n\ntwo\rtwo\nlast")

    assert ["one", "", "two\rtwo", "last"] == texts(open_files(path))


# CSV


def write_csv(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    """Write rows, all quoted."""
    quoted = (delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    return put(path, "".join(row + "\r\n" for row in quoted))


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_fields_of_csv_come_unchanged(tmp_path: Path, suffix: str, delimiter: str) -> None:
    """Line ends, quotes and delimiters inside quotes, empty fields, long fields."""
    wanted = ['a\r\nb\n"c", d\te', "", "x" * 300_000, "\r", " lead"]
    rows = [["id", "text"], *([str(number), text] for number, text in enumerate(wanted))]
    path = write_csv(tmp_path / f"a.{suffix}", rows, delimiter)

    assert wanted == texts(open_files(path))
    assert ["0", "1", "2", "3", "4"] == ids(open_files(path, id="id"))


@pytest.mark.parametrize("block", [1, 5, 64])
def test_csv_does_not_depend_on_where_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Records with line ends inside are never cut."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", block)
    wanted = [f'{number}\n"{CHINESE}",\r\nend' for number in range(50)]
    path = write_csv(tmp_path / "a.csv", [["text"], *([text] for text in wanted)])

    assert wanted == texts(open_files(path))


@pytest.mark.parametrize(
    ("line", "reason"), [("1,a,b", "ragged"), ("1", "ragged"), ('1,"a"b', "broken CSV"), ('1,a"b', "quote")]
)
def test_a_broken_record_of_csv_is_named_by_its_first_line(tmp_path: Path, line: str, reason: str) -> None:
    """The record before it spans two lines, which count."""
    path = put(tmp_path / "a.csv", f'id,text\n0,"x\ny"\n{line}\n2,z\n')
    documents = open_files(path, on_bad_record="skip")

    message = refusal(path)

    assert message.startswith(f"{path}:4: ")
    assert reason in message
    assert ["x\ny", "z"] == texts(documents)
    assert (3, 1) == (documents.n_read, documents.rejected.total)


def test_headers_that_name_nothing_or_twice_are_refused(tmp_path: Path) -> None:
    """An empty file, a repeated name, and a delimiter that is not ours."""
    assert "'text' twice" in refusal(put(tmp_path / "a.csv", "text,text\na,b\n"))
    assert "names its columns" in refusal(put(tmp_path / "b.csv", ""))
    assert "';'" in refusal(put(tmp_path / "c.csv", "id;text\n1;a\n"))
    assert [] == texts(open_files(put(tmp_path / "d.csv", "text\n")))


# Parquet and Arrow


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_all_arrow_strings_are_texts(tmp_path: Path, kind: pa.DataType) -> None:
    """Whatever Arrow keeps strings in; a null is a bad record."""
    wanted = ["a", None, CHINESE, ""]
    column = pa.array(wanted).cast(kind) if pa.types.is_string_view(kind) else pa.array(wanted, kind)
    path = tmp_path / "a.arrow"
    table = pa.table({"text": column})
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=3)
    documents = open_files(path, on_bad_record="skip")

    assert ["a", CHINESE, ""] == texts(documents)
    assert f"{path}: record 1: " in next(iter(documents.rejected.examples.values()))


def test_a_stream_of_arrow_is_read(tmp_path: Path) -> None:
    """IPC files and streams have one suffix."""
    table = pa.table({"text": ["a", "b"]})
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=1)

    assert ["a", "b"] == texts(open_files(tmp_path / "a.arrow"))


def test_parquet_comes_in_order_over_row_groups(tmp_path: Path) -> None:
    """Small row groups, an id of another type, a record without one."""
    table = pa.table({"text": [f"t{k}" for k in range(50)], "id": pa.array([None, *range(1, 50)], pa.int32())})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)

    assert table["text"].to_pylist() == texts(open_files(tmp_path / "a.parquet"))
    assert table["id"].to_pylist() == ids(open_files(tmp_path / "a.parquet", id="id"))


@pytest.mark.parametrize("values", [[1, 2], [["a"], ["b"]], [b"a", b"b"]])
def test_a_text_column_of_another_type_is_refused(tmp_path: Path, values: list[Any]) -> None:
    """The text names the type and the flag."""
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet")

    message = refusal(tmp_path / "a.parquet", on_bad_record="skip")

    assert "not text" in message
    assert "--text-field" in message


def test_strings_of_parquet_that_are_not_utf8_are_bad_records(tmp_path: Path) -> None:
    """Parquet does not check what is written as strings."""
    data = pa.array([b"good", b"\xe6\x97", b"a\xff"])
    broken = pa.StringArray.from_buffers(3, data.buffers()[1], data.buffers()[2])
    pq.write_table(pa.table({"text": broken}), tmp_path / "a.parquet")
    documents = open_files(tmp_path / "a.parquet", on_bad_record="skip")

    assert ["good"] == texts(documents)
    assert 2 == documents.rejected.total


def test_a_column_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    """Which of the two is meant is not guessed."""
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"])
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)

    assert "'text'" in refusal(tmp_path / "a.arrow")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_damaged_table_is_named(tmp_path: Path, suffix: str) -> None:
    """Not a table at all."""
    path = put(tmp_path / f"a.{suffix}", b"not a table, whatever its name says" * 9)

    assert refusal(path).startswith(f"{path}: ")


# Encodings


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-16-le", "utf-8-sig", "shift_jis", "cp1252"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_named_encodings_are_read(tmp_path: Path, encoding: str, name: str) -> None:
    """Whole code points, wherever blocks end."""
    wanted = "naïve" if encoding == "cp1252" else "港口" if encoding == "shift_jis" else CHINESE
    content = {"a.csv": f'text\n"{wanted}"\n', "a.jsonl": f'{{"text": "{wanted}"}}\n', "a.txt": f"{wanted}\n"}[name]
    path = put(tmp_path / name, content.encode(encoding))

    assert [wanted] == texts(open_files(path, encoding=encoding))


@pytest.mark.parametrize("content", ['{"text": "a"}\n', "text\na\n", '"text"\na\n', "a\n"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, content: str) -> None:
    """Of each file, the second as well."""
    suffix = "jsonl" if content.startswith("{") else "txt" if content == "a\n" else "csv"
    for name in "ab":
        put(tmp_path / f"{name}.{suffix}", codecs.BOM_UTF8 + content.encode())

    assert ["a", "a"] == texts(open_files(tmp_path))


def test_byte_order_marks_inside_jsonl_are_passed_over(tmp_path: Path) -> None:
    """Files that were put together bring theirs along."""
    path = put(tmp_path / "a.jsonl", (codecs.BOM_UTF8 + b'{"text": "a"}\n') * 2)

    assert ["a", "a"] == texts(open_files(path))


@pytest.mark.parametrize(("encoding", "hint"), [("gb18030", "gb18030"), ("big5", "big5"), ("utf-16", "utf-16")])
def test_other_encodings_are_refused_with_a_guess(tmp_path: Path, encoding: str, hint: str) -> None:
    """Line and byte, after many lines of ASCII, and what it could be."""
    start = "0123456789\n" * 5000
    path = put(tmp_path / "a.txt", f"{start}港口恢復通航\n".encode(encoding))

    message = refusal(path)

    assert hint in message.lower()
    assert "--encoding" in message
    if encoding != "utf-16":
        assert message.startswith(f"{path}:5001: ")
        assert "55,000" in message


def test_the_offset_of_a_bad_byte_is_right_after_a_cut_code_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes held over from the block before count once."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", 4)
    path = put(tmp_path / "a.txt", "港口".encode() + b"\xff")

    assert "offset 6" in refusal(path)


@pytest.mark.parametrize("encoding", ["no-such", "base64", "rot13"])
def test_what_is_no_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    """Python's codecs that are no text encodings neither."""
    path = put(tmp_path / "a.txt", "a\n")

    assert "--encoding" in refusal(path, encoding=encoding)


# Which files


def test_folders_give_their_files_in_order_and_nothing_of_other_tools(tmp_path: Path) -> None:
    """Folders in folders, sorted; hidden files, marks, and unknown suffixes are left alone."""
    for name in ("b/2.jsonl", "a.jsonl", "b/1.ndjson", "_SUCCESS", ".a.jsonl", ".a.jsonl.crc", "x.md", "_t/c.jsonl"):
        put(tmp_path / name, f'{{"text": "{name}"}}\n')

    assert ["a.jsonl", "b/1.ndjson", "b/2.jsonl"] == texts(open_files(tmp_path))


def test_globs_give_their_files_in_order_and_nothing_of_other_tools(tmp_path: Path) -> None:
    """A pattern that matches everything does not stumble over marks."""
    for name in ("b.jsonl", "a.jsonl", "_SUCCESS", "a.jsonl.crc"):
        put(tmp_path / name, f'{{"text": "{name}"}}\n')

    assert ["a.jsonl", "b.jsonl"] == texts(open_files(tmp_path / "*.jsonl"))
    assert ["a.jsonl", "b.jsonl"] == texts(open_files(tmp_path / "*"))


def test_a_file_is_read_once_however_it_is_named(tmp_path: Path) -> None:
    """By folder, glob, link and name."""
    path = put(tmp_path / "a.jsonl", '{"text": "a"}\n')
    (tmp_path / "link.jsonl").symlink_to(path)
    (tmp_path / "loop").symlink_to(tmp_path)

    assert ["a"] == texts(open_files(tmp_path, tmp_path / "*.jsonl", path, str(tmp_path) + "/./a.jsonl"))


def test_a_name_with_brackets_is_a_file_before_it_is_a_glob(tmp_path: Path) -> None:
    """The file that is there is meant."""
    path = put(tmp_path / "a[1].jsonl", '{"text": "a"}\n')
    put(tmp_path / "a1.jsonl", '{"text": "b"}\n')

    assert ["a"] == texts(open_files(path))


def test_outputs_found_in_folders_are_no_inputs(tmp_path: Path) -> None:
    """A second run reads what the first did; a named one is refused."""
    put(tmp_path / "a.jsonl", '{"text": "a"}\n')
    kept = put(tmp_path / "kept.jsonl", '{"text": "b"}\n')

    for name in (tmp_path, tmp_path / "*.jsonl"):
        documents = open_documents(Paths([str(name)]), reading(), outputs=[str(tmp_path / "." / "kept.jsonl")])
        assert ["a"] == texts(documents)
    with pytest.raises(UsageError):
        open_documents(Paths([str(kept)]), reading(), outputs=[str(kept)])


@pytest.mark.parametrize("name", ["no.jsonl", "*.jsonl", "empty"])
def test_an_argument_that_names_nothing_is_refused(tmp_path: Path, name: str) -> None:
    """A missing file, a glob without a match, an empty folder."""
    (tmp_path / "empty").mkdir()

    assert name in refusal(tmp_path / name)


def test_an_unknown_suffix_is_refused_with_those_known(tmp_path: Path) -> None:
    """The text names --format, which then reads it."""
    path = put(tmp_path / "a.log", '{"text": "a"}\n')

    message = refusal(path)

    assert ".jsonl" in message
    assert "--format" in message
    assert ["a"] == texts(open_files(path, format="jsonl"))


@pytest.mark.parametrize("url", ["memory://neardup/a.jsonl", "file://{}/a.jsonl"])
def test_urls_are_read(tmp_path: Path, url: str) -> None:
    """What fsspec knows."""
    import fsspec

    name = url.format(tmp_path)
    with fsspec.open(name, "wb") as file:
        file.write(b'{"text": "a"}\n')

    assert ["a"] == texts(open_files(name))


def test_a_url_nobody_knows_is_refused() -> None:
    """One line that names it."""
    assert "nosuch" in refusal("nosuch://a/b.jsonl")


def test_a_file_url_is_the_file_when_it_would_be_overwritten(tmp_path: Path) -> None:
    """Another spelling of an input does not let an output over it."""
    path = put(tmp_path / "a.jsonl", '{"text": "a"}\n')

    with pytest.raises(UsageError):
        open_documents(Paths([f"file://{path}"]), reading(), outputs=[str(path)])


def test_a_file_that_changed_between_passes_is_refused(tmp_path: Path) -> None:
    """What was decided about the old one does not fit the new."""
    path = put(tmp_path / "a.jsonl", '{"text": "a"}\n')
    documents = open_files(path)
    texts(documents)
    put(path, '{"text": "b"}\n{"text": "c"}\n')

    with pytest.raises(InputError, match="changed"):
        list(documents.records())


# Standard input


STREAMS = {
    "jsonl": b'\n {"text": "a"}\n',
    "txt": b"a\n",
    "parquet": None,
    "arrow": None,
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("compression", [None, "gz", "zst"])
def test_standard_input_tells_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, compression: str | None
) -> None:
    """It is spooled, read as often as needed, and removed."""
    content = STREAMS[kind]
    if content is None:
        sink = pa.BufferOutputStream()
        table = pa.table({"text": ["a"]})
        if kind == "parquet":
            pq.write_table(table, sink)
        else:
            with pa.ipc.new_file(sink, table.schema) as file:
                file.write_table(table)
        content = sink.getvalue().to_pybytes()
    elif compression:
        content = compress(content, compression)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    documents = open_files("-", temp_dir=str(tmp_path))

    found = texts(documents)
    again = [records.chunk.n_records for records in documents.records()]
    documents.close()

    assert ["a"] == found
    assert [1] == again
    assert [] == list(tmp_path.iterdir())


def test_a_spool_that_cannot_be_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text names the folder and the flag."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a")))

    with pytest.raises(Exception, match="--temp-dir") as caught:
        open_files("-", temp_dir=str(tmp_path / "no"))

    assert str(tmp_path / "no") in str(caught.value)


# Compression


def compress(content: bytes, suffix: str) -> bytes:
    """Return bytes as gzip or zstd."""
    return pa.Codec("gzip" if suffix == "gz" else "zstd").compress(content, asbytes=True)  # type: ignore[no-any-return]


LINES = "".join(f'{{"text": "{k * k}"}}\n' for k in range(3000)).encode()


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_files_are_read_whole(tmp_path: Path, suffix: str) -> None:
    """One part, or several one after the other."""
    data = compress(LINES, suffix)
    once, twice = put(tmp_path / f"a.jsonl.{suffix}", data), put(tmp_path / f"b.jsonl.{suffix}", data + data)

    assert 3000 == len(texts(open_files(once)))
    assert 6000 == len(texts(open_files(twice)))


def test_zeros_after_gzip_are_padding(tmp_path: Path) -> None:
    """Tapes and block devices add them."""
    path = put(tmp_path / "a.jsonl.gz", compress(LINES, "gz") + bytes(600))

    assert 3000 == len(texts(open_files(path)))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("share", [0.6, 0.999])
def test_cut_files_are_named(tmp_path: Path, suffix: str, share: float) -> None:
    """Never half the data in silence."""
    data = compress(LINES, suffix)
    path = put(tmp_path / f"a.jsonl.{suffix}", data[: int(len(data) * share)])

    message = refusal(path)

    assert str(path) in message
    assert "byte" in message


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    """Bytes in the middle are not what was written."""
    data = compress(LINES, "gz")
    path = put(tmp_path / "a.jsonl.gz", data[:100] + bytes(50) + data[150:])

    assert str(path) in refusal(path)


def test_a_gz_that_is_none_is_said(tmp_path: Path) -> None:
    """Plain text under that name, and an empty file."""
    assert "gzip" in refusal(put(tmp_path / "a.jsonl.gz", LINES))
