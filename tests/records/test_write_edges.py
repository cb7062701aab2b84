"""Writing: records and tables to files that appear whole, all at once, or not at all."""

import base64
import csv
import datetime
import gzip
import io
import json
import os
import threading
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import NeardupError, OutputError, UsageError
from neardup.records.read import Documents, Paths, Reading, open_documents
from neardup.records.write import Outputs

LINES = (
    b'{"text": "first", "id": 1, "n": 12345678901234567890, "f": 1.10, "t": true}\n'
    b'{"id": 2, "text": "\\u00e9 \xc3\xa9", "x": {"a": [1, 1e-7]}}\r\n'
    b"\n"
    b'  {"text": "\\ud83c", "id": 3}  \n'
    b'{"id": 4, "text": "last"}'
)


def put(path: Path, content: str | bytes) -> Path:
    """Write a file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def names_in(folder: Path) -> list[str]:
    """Return the names of all there is in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def open_data(data: object, **changes: Any) -> Documents:
    """Return documents, after the first pass over them."""
    defaults: dict[str, Any] = {
        "text": "text",
        "id": None,
        "field": None,
        "on_bad_record": "fail",
        "encoding": "utf-8",
        "format": None,
        "temp_dir": None,
    }
    documents = open_documents(data, Reading(**(defaults | changes)))
    assert list(documents.batches()) is not None
    return documents


def write(
    documents: Documents, path: Path | str, docs: list[int] | None = None, extra: dict[str, Any] | None = None
) -> None:
    """Write some documents, or all; those of REMOVED with columns behind their own."""
    role = "kept" if extra is None else "removed"
    with Outputs({role: str(path)}, documents) as outputs:
        for records in documents.records():
            last = records.first_doc + records.positions.size
            here = [doc for doc in (range(last) if docs is None else docs) if records.first_doc <= doc < last]
            rows = np.array(here, np.int64) - records.first_doc
            table = None if extra is None else pa.table(extra).take(pa.array(here, pa.int64()))
            outputs.records(role, records.chunk, records.positions[rows], table)


# Lines


def test_lines_go_out_as_the_bytes_they_were(tmp_path: Path) -> None:
    """Numbers, escapes, spaces and line ends; the last line gets the end it lacked. Blank lines stay behind."""
    documents = open_data(put(tmp_path / "in.jsonl", LINES))

    write(documents, tmp_path / "kept.jsonl")

    assert LINES.replace(b"\r\n\n", b"\r\n") + b"\n" == (tmp_path / "kept.jsonl").read_bytes()


@pytest.mark.parametrize("docs", [[0], [1, 2], [0, 3], [3], [], [0, 1, 3]])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_chosen_lines_go_out_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, docs: list[int], block: int
) -> None:
    """Neighbors or not, in one block or several."""
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", block)
    documents = open_data(put(tmp_path / "in.jsonl", LINES))
    lines = [line for line in LINES.split(b"\n") if line]

    write(documents, tmp_path / "kept.jsonl", docs)

    assert b"".join(lines[doc] + b"\n" for doc in docs) == (tmp_path / "kept.jsonl").read_bytes()


def test_text_goes_out_as_the_bytes_it_was(tmp_path: Path) -> None:
    """Windows line ends too."""
    documents = open_data(put(tmp_path / "in.txt", b"one\r\n\ntwo\rtwo\nlast"))

    write(documents, tmp_path / "kept.txt", [0, 2, 3])

    assert b"one\r\ntwo\rtwo\nlast\n" == (tmp_path / "kept.txt").read_bytes()


def test_evidence_goes_behind_the_fields_of_a_line(tmp_path: Path) -> None:
    """Before the closing brace; the rest of the line is untouched; similarity with all its digits."""
    documents = open_data(put(tmp_path / "in.jsonl", LINES))
    extra = {"kept_id": ["1", "2", None, "4"], "similarity": [0.1, 2 / 3, 1.0, 0.8181818181818182]}

    write(documents, tmp_path / "removed.jsonl", [1, 2], extra)

    first, second = (tmp_path / "removed.jsonl").read_bytes().splitlines()
    assert first.startswith(LINES.splitlines()[1].rstrip(b"\r}"))
    assert {"kept_id": "2", "similarity": 2 / 3} == {k: json.loads(first)[k] for k in ("kept_id", "similarity")}
    assert {"text": "\ud83c", "id": 3, "kept_id": None, "similarity": 1.0} == json.loads(second)


def test_fields_that_would_be_there_twice_are_refused(tmp_path: Path) -> None:
    """A field of that name; the name as a value or inside a field is none, whatever else the line holds."""
    fine = put(tmp_path / "a.jsonl", '{"text": "\\ud83c", "x": "kept_id", "y": {"kept_id": 1}}\n')
    twice = put(tmp_path / "b.jsonl", '{"text": "a", "kept_id": 1}\n')

    write(open_data(fine), tmp_path / "removed.jsonl", extra={"kept_id": [0]})
    with pytest.raises(OutputError, match="kept_id"):
        write(open_data(twice), tmp_path / "other.jsonl", extra={"kept_id": [0]})

    assert 0 == json.loads((tmp_path / "removed.jsonl").read_bytes())["kept_id"]
    assert not (tmp_path / "other.jsonl").exists()


def test_texts_of_other_formats_go_into_a_text_file_or_are_refused(tmp_path: Path) -> None:
    """A text file holds no more than texts."""
    with pytest.raises((UsageError, OutputError)):
        write(open_data(["two\nlines"]), tmp_path / "kept.txt")
    with pytest.raises(UsageError):
        Outputs({"removed": str(tmp_path / "removed.txt")}, open_data(["a"]))

    assert [] == list(tmp_path.glob("*"))


# CSV


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_goes_out_with_its_values_and_line_ends(tmp_path: Path, end: str) -> None:
    """Strings unchanged, quotes where they are needed, line ends as in the header."""
    rows = [["id", "text"], ["007", 'a,"b"'], ["1e3", ""], ["", "line\r\nline"], ["3", "lone\rreturn"], ["4", " b "]]
    content = io.StringIO(newline="")
    csv.writer(content, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    documents = open_data(put(tmp_path / "in.csv", content.getvalue()))

    write(documents, tmp_path / "kept.csv")

    written = (tmp_path / "kept.csv").read_bytes().decode()
    assert written.startswith(f"id,text{end}")
    assert rows == list(csv.reader(io.StringIO(written, newline="")))
    assert [row[1] for row in rows[1:]] == [
        text.decode() for batch in open_documents(tmp_path / "kept.csv", documents._reading).batches()
        for text in batch.texts.to_pylist()
    ]  # fmt: skip


def test_a_csv_of_one_empty_field_stays_a_record(tmp_path: Path) -> None:
    """A blank line would be none."""
    documents = open_data(put(tmp_path / "in.csv", 'text\n""\na\n'))

    write(documents, tmp_path / "kept.csv")

    assert [["text"], [""], ["a"]] == list(csv.reader(io.StringIO((tmp_path / "kept.csv").read_text())))


def test_evidence_becomes_columns_of_csv(tmp_path: Path) -> None:
    """Behind the others, a null as an empty field."""
    documents = open_data(put(tmp_path / "in.csv", "text\na\nb\n"))

    write(documents, tmp_path / "r.csv", extra={"kept_id": [7, None], "similarity": [1.0, 2 / 3]})

    assert [["text", "kept_id", "similarity"], ["a", "7", "1.0"], ["b", "", repr(2 / 3)]] == list(
        csv.reader(io.StringIO((tmp_path / "r.csv").read_text()))
    )


# Tables


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables_go_out_with_all_columns_and_types(tmp_path: Path, suffix: str) -> None:
    """Twelve types, in order."""
    table = pa.table(
        {
            "b": [True, None, False],
            "i8": pa.array([1, 2, 3], pa.int8()),
            "u64": pa.array([2**64 - 1, 0, None], pa.uint64()),
            "f32": pa.array([0.1, float("nan"), None], pa.float32()),
            "dec": [Decimal("1.10"), None, Decimal("2.00")],
            "day": [datetime.date(2020, 1, 1)] * 3,
            "when": pa.array([1, 2, 3], pa.timestamp("us", "Europe/Paris")),
            "bin": [b"\xff", b"", None],
            "list": [[1], [], None],
            "struct": [{"a": 1}, None, {"a": 2}],
            "dict": pa.array(["x", "y", "x"]).dictionary_encode(),
            "text": ["a", "b", "c"],
        }
    )

    write(open_data(table), tmp_path / f"kept.{suffix}", [0, 2])

    read = pq.read_table if suffix == "parquet" else lambda path: pa.ipc.open_file(path).read_all()
    found = read(tmp_path / f"kept.{suffix}")
    assert table.column_names == found.column_names
    assert table.take([0, 2]).drop("f32").to_pylist() == found.drop("f32").to_pylist()
    assert table.schema.types == found.schema.types


def test_tables_become_json_lines(tmp_path: Path) -> None:
    """Times in ISO form, decimals as strings, bytes in base64, what is not finite as null."""
    table = pa.table(
        {
            "text": ["a"],
            "when": pa.array([1], pa.timestamp("ns")),
            "day": [datetime.date(2020, 1, 2)],
            "dec": [Decimal("1.10")],
            "bin": [b"\xff"],
            "nan": [float("nan")],
            "word": ["nan"],
            "list": [[1, None]],
        }
    )

    write(open_data(table), tmp_path / "kept.jsonl")

    found = json.loads((tmp_path / "kept.jsonl").read_bytes())
    assert found.pop("when").replace(" ", "T").startswith("1970-01-01T00:00:00")
    expected = {"text": "a", "day": "2020-01-02", "dec": "1.10", "bin": base64.b64encode(b"\xff").decode()}
    assert {**expected, "nan": None, "word": "nan", "list": [1, None]} == found


def test_json_lines_become_a_table(tmp_path: Path) -> None:
    """Fields that some records lack are null; nothing is taken for a date."""
    lines = '{"text": "a", "d": "2020-01-01"}\n{"n": 1, "text": "b"}\n'

    write(open_data(put(tmp_path / "in.jsonl", lines)), tmp_path / "kept.parquet")

    assert [{"text": "a", "d": "2020-01-01", "n": None}, {"text": "b", "d": None, "n": 1}] == pq.read_table(
        tmp_path / "kept.parquet"
    ).to_pylist()


@pytest.mark.parametrize("values", ["1, true", "true, 1", f"{2**70}, 1", "1, 1.5"])
def test_values_of_json_never_change_on_the_way_to_a_table(tmp_path: Path, values: str) -> None:
    """Refused, or the same: true is not 1, and no digit is lost."""
    wanted = json.loads(f"[{values}]")
    path = put(tmp_path / "in.jsonl", "".join(f'{{"text": "a", "x": {json.dumps(x)}}}\n' for x in wanted))

    try:
        write(open_data(path), tmp_path / "kept.parquet")
    except OutputError:
        return
    found = pq.read_table(tmp_path / "kept.parquet")["x"].to_pylist()
    assert wanted == found
    assert [isinstance(one, bool) for one in wanted] == [isinstance(one, bool) for one in found]


def test_lone_surrogates_fit_no_table(tmp_path: Path) -> None:
    """The text names the record and the way out."""
    path = put(tmp_path / "in.jsonl", '{"text": "a"}\n{"text": "\\ud83c"}\n')

    with pytest.raises(OutputError, match="in.jsonl:2") as caught:
        write(open_data(path), tmp_path / "kept.parquet")

    assert "JSONL" in str(caught.value).upper()


@pytest.mark.parametrize(
    "names", [["a.jsonl", "b.csv"], ["b.csv", "a.jsonl"], ["a.jsonl", "b.csv", "c.jsonl", "d.csv"]]
)
def test_lines_and_tables_go_into_one_table_in_order(tmp_path: Path, names: list[str]) -> None:
    """Lines wait for their fields, and what comes behind them does not overtake."""
    for name in names:
        put(tmp_path / name, f'{{"text": "{name}"}}\n' if name.endswith("l") else f"text\n{name}\n")

    write(open_data(Paths([str(tmp_path / name) for name in names])), tmp_path / "kept.parquet")

    assert names == pq.read_table(tmp_path / "kept.parquet")["text"].to_pylist()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_files_of_different_columns_go_into_one_table(tmp_path: Path, suffix: str) -> None:
    """All columns of all of them, absent ones null; their order in the second file does not matter."""
    put(tmp_path / "a.jsonl", '{"text": "a", "n": 1}\n')
    put(tmp_path / "b.jsonl", '{"n": 2, "text": "b"}\n{"text": "c", "m": "x"}\n')
    for name, table in (("c", pa.table({"text": ["d"], "n": [3]})), ("d", pa.table({"n": [4], "text": ["e"]}))):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    out = tmp_path / "out"
    out.mkdir()

    write(open_data(Paths([str(tmp_path / "*.jsonl")])), out / f"lines.{suffix}")
    write(open_data(Paths([str(tmp_path / "*.parquet")])), out / f"tables.{suffix}")

    read = {
        "csv": lambda path: list(csv.DictReader(io.StringIO(path.read_text()))),
        "parquet": lambda path: pq.read_table(path).to_pylist(),
        "arrow": lambda path: pa.ipc.open_file(path).read_all().to_pylist(),
    }[suffix]
    assert ["1", "2", ""] == [str("" if row["n"] is None else row["n"]) for row in read(out / f"lines.{suffix}")]
    assert ["d", "e"] == [row["text"] for row in read(out / f"tables.{suffix}")]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_evidence_stands_last_when_the_first_file_loses_nothing(tmp_path: Path, suffix: str) -> None:
    """The columns are those of all records, whatever comes first."""
    put(tmp_path / "a.jsonl", '{"text": "a"}\n')
    put(tmp_path / "b.jsonl", '{"text": "b"}\n')
    out = tmp_path / "out"
    out.mkdir()

    write(open_data(tmp_path), out / f"removed.{suffix}", [1], {"kept_id": [0, 0], "similarity": [1.0, 1.0]})

    path = out / f"removed.{suffix}"
    names = pq.read_schema(path).names if suffix == "parquet" else path.read_text().splitlines()[0].split(",")
    assert ["text", "kept_id", "similarity"] == names


def test_ids_of_several_types_go_out_as_they_came(tmp_path: Path) -> None:
    """1 and "1" to JSONL; a column of one type refuses them in a line, or keeps them apart."""
    path = put(tmp_path / "in.jsonl", '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n')
    documents = open_data(path, id="id")
    mixed = next(iter(open_data(path, id="id").batches())).ids

    with Outputs({"pairs": str(tmp_path / "p.jsonl")}, documents) as outputs:
        outputs.table("pairs", pa.table({"id_a": mixed}))

    assert [{"id_a": 1}, {"id_a": "1"}] == [
        json.loads(line) for line in (tmp_path / "p.jsonl").read_bytes().splitlines()
    ]


# Outputs as a whole


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "txt", "parquet", "arrow", "jsonl.gz", "csv.zst"])
def test_nothing_to_write_is_still_a_file(tmp_path: Path, suffix: str) -> None:
    """One that can be read; with the columns where the input has some."""
    table = put(tmp_path / "in.txt", "") if suffix == "txt" else pa.table({"text": pa.array([], pa.string())})
    path = tmp_path / f"kept.{suffix}"

    write(open_data(table), path)

    assert path.exists()
    assert [] == [text for batch in open_data(path).batches() for text in batch.texts.to_pylist()]


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_outputs_are_the_same_each_time(tmp_path: Path, suffix: str) -> None:
    """No time in them, nor a name."""
    documents = open_data(["a", "b"])

    write(documents, tmp_path / f"1.jsonl.{suffix}")
    write(documents, tmp_path / f"2.jsonl.{suffix}")

    assert (tmp_path / f"1.jsonl.{suffix}").read_bytes() == (tmp_path / f"2.jsonl.{suffix}").read_bytes()
    assert 2 == len(next(open_data(tmp_path / f"1.jsonl.{suffix}").batches()).texts)


def test_nothing_appears_before_all_is_written(tmp_path: Path) -> None:
    """Existing files stay as they are until then."""
    path = put(tmp_path / "kept.jsonl", "old")

    with Outputs({"kept": str(path), "stats": str(tmp_path / "stats.json")}, open_data(["a"])) as outputs:
        outputs.table("kept", pa.table({"text": ["new"]}))
        outputs.text("stats", "{}")
        assert "old" == path.read_text()
        assert not (tmp_path / "stats.json").exists()

    assert '{"text":"new"}\n' == path.read_text()
    assert ["kept.jsonl", "stats.json"] == names_in(tmp_path)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OutputError])
def test_nothing_is_left_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    """Of none of the outputs."""
    path = put(tmp_path / "kept.jsonl", "old")

    with (
        pytest.raises(error),
        Outputs({"kept": str(path), "pairs": str(tmp_path / "pairs.parquet")}, open_data(["a"])) as outputs,
    ):
        outputs.table("kept", pa.table({"text": ["new"]}))
        outputs.table("pairs", pa.table({"text": ["new"]}))
        raise error

    assert ["kept.jsonl"] == names_in(tmp_path)
    assert "old" == path.read_text()


def test_a_role_without_a_path_is_not_written(tmp_path: Path) -> None:
    """And says so."""
    with Outputs({"kept": str(tmp_path / "kept.jsonl")}, open_data(["a"])) as outputs:
        outputs.text("stats", "{}")

        assert "kept" in outputs
        assert "stats" not in outputs

    assert ["kept.jsonl"] == names_in(tmp_path)


def refuse(paths: dict[str, str], documents: Documents) -> str:
    """Return why outputs are refused; the command ends with 2."""
    with pytest.raises(NeardupError) as caught:
        Outputs(paths, documents)
    assert 2 == caught.value.exit_code
    return str(caught.value)


def test_an_output_over_an_input_is_refused(tmp_path: Path) -> None:
    """Under its name, another spelling, a link, a hard link; the input stays as it was."""
    path = put(tmp_path / "in.jsonl", '{"text": "a"}\n')
    (tmp_path / "soft.jsonl").symlink_to(path)
    (tmp_path / "hard.jsonl").hardlink_to(path)
    (tmp_path / "x").mkdir()
    documents = open_data(path)

    for name in ("in.jsonl", "soft.jsonl", "hard.jsonl", "x/../in.jsonl", "./in.jsonl"):
        refuse({"kept": f"{tmp_path}/{name}"}, documents)

    assert '{"text": "a"}\n' == path.read_text()


def test_outputs_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """Two on one path, a folder, a folder that is not there, a name that tells no format."""
    documents = open_data(["a"])
    one = str(tmp_path / "a.jsonl")

    assert "a.jsonl" in refuse({"kept": one, "removed": f"{tmp_path}/./a.jsonl"}, documents)
    refuse({"kept": "-", "pairs": "-"}, documents)
    refuse({"kept": str(tmp_path)}, documents)
    refuse({"kept": str(tmp_path / "no" / "a.jsonl")}, documents)
    assert ".jsonl" in refuse({"kept": str(tmp_path / "a.xyz")}, documents)
    refuse({"kept": "memory://a.jsonl"}, documents)
    assert [] == names_in(tmp_path)


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    """What it names is replaced."""
    (tmp_path / "there").mkdir()
    target = put(tmp_path / "there" / "kept.jsonl", "old")
    link = tmp_path / "kept.jsonl"
    link.symlink_to(target)

    write(open_data(["a"]), link)

    assert link.is_symlink()
    assert b"" != target.read_bytes() != b"old"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As are devices: /dev/null stays one."""
    pipe = tmp_path / "kept.jsonl"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()

    write(open_data(["a"]), pipe)
    is_pipe = pipe.is_fifo()
    if is_pipe:
        reader.join(10)

    assert is_pipe
    assert [b'{"id":0,"text":"a"}\n'] == found


def test_files_get_the_permissions_of_new_files(tmp_path: Path) -> None:
    """Those the user's mask leaves, as if they had been opened under their names."""
    mask = os.umask(0o027)
    try:
        write(open_data(["a"]), tmp_path / "kept.jsonl")
    finally:
        os.umask(mask)

    assert 0o640 == (tmp_path / "kept.jsonl").stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("name", "expected"), [("in.jsonl", b'{"text": "a"}\n'), ("in.txt", b"a\n"), ("in.csv", b"text\na\n")]
)
def test_standard_output_has_the_format_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: bytes
) -> None:
    """Where that is one of lines."""
    sink = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=sink))
    documents = open_data(put(tmp_path / name, expected))

    write(documents, "-")

    assert expected == sink.getvalue()


def test_a_table_goes_to_standard_output_as_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the input is no file of lines."""
    sink = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=sink))

    write(open_data(pa.table({"text": ["a"]})), "-")

    assert b'{"text":"a"}\n' == sink.getvalue()


def test_a_full_disk_is_said_with_the_path(tmp_path: Path) -> None:
    """And nothing is left."""
    documents = open_data(["a" * 1000] * 100)
    path = tmp_path / "kept.jsonl"

    with pytest.raises(OutputError, match="kept.jsonl"), Outputs({"kept": str(path)}, documents) as outputs:
        file = next(iter(outputs._files.values()))
        os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
        for records in documents.records():
            outputs.records("kept", records.chunk, records.positions, None)

    assert [] == names_in(tmp_path)


def test_gzip_outputs_are_gzip(tmp_path: Path) -> None:
    """Others read them."""
    write(open_data(["a"]), tmp_path / "kept.jsonl.gz")

    assert b'{"id":0,"text":"a"}\n' == gzip.decompress((tmp_path / "kept.jsonl.gz").read_bytes())
