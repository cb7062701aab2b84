"""Writing: what comes in goes out, in any format."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import OutputError

RAW = [
    '{"b": 1e-7, "a": 1.10, "text": "one text", "big": 12345678901234567890}',
    '{"text": "another text", "nested": {"x": [1, null, 2]}, "e": "\\u00e9"}',
    '{"text":"one  text!","e":"é"}',
    '{ "text" : "lone \\ud83c" }  ',
]


def dedup(source: Path, target: Path, **options: Any) -> None:
    """Write what stays to one file and what goes to another beside it."""
    removed = target.with_name("removed-" + target.name)
    neardup.dedup(source, write={"kept": target, "removed": removed}, **options)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Return a JSONL file whose lines no two writers would write alike; the third repeats the first."""
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(RAW), encoding="utf-8")
    return path


def test_jsonl_lines_are_the_bytes_they_were(raw: Path, tmp_path: Path) -> None:
    """Numbers, escapes and spaces are not rewritten; evidence is spliced in before the last brace."""
    dedup(raw, tmp_path / "out.jsonl")

    assert "\n".join([RAW[0], RAW[1], RAW[3]]) + "\n" == (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert RAW[2][:-1] + ',"kept_id":0,"similarity":1.0}\n' == (tmp_path / "removed-out.jsonl").read_text(
        encoding="utf-8"
    )


def table() -> pa.Table:
    """Return a table of many types, its third record a copy of the first."""
    import datetime
    from decimal import Decimal

    day = datetime.date(2024, 5, 3)
    return pa.table(
        {
            "text": pa.array(["a b c d e f", "港口", "A b c d e f"]).dictionary_encode(),
            "n": pa.array([1, None, 3], pa.int16()),
            "x": [0.5, float("nan"), 2.0],
            "day": [day, None, day],
            "at": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
            "money": [Decimal("1.10"), None, Decimal("2.20")],
            "raw": [b"\x00\xff", b"", None],
            "tags": [["a"], [], None],
            "more": [{"k": 1}, {"k": 2}, None],
            "flag": [True, False, None],
        }
    )


def test_parquet_keeps_columns_and_types(tmp_path: Path) -> None:
    """Parquet to Parquet and to Arrow: rows, order, columns and types are those of the input."""
    pq.write_table(table(), tmp_path / "in.parquet", row_group_size=2)

    dedup(tmp_path / "in.parquet", tmp_path / "out.parquet")
    dedup(tmp_path / "in.parquet", tmp_path / "out.arrow")

    expected = pq.read_table(tmp_path / "in.parquet").slice(0, 2)
    written = pq.read_table(tmp_path / "out.parquet")
    assert expected.schema.remove_metadata() == written.schema.remove_metadata()
    assert str(expected.to_pylist()) == str(written.to_pylist())
    assert str(expected.to_pylist()) == str(pa.ipc.open_file(tmp_path / "out.arrow").read_all().to_pylist())
    removed = pq.read_table(tmp_path / "removed-out.parquet")
    assert [*table().column_names, "kept_id", "similarity"] == removed.column_names
    assert [0] == removed["kept_id"].to_pylist()


def test_parquet_to_jsonl_and_csv(tmp_path: Path) -> None:
    """Types that JSON lacks become text; NaN becomes null; CSV holds nested values as JSON."""
    pq.write_table(table(), tmp_path / "in.parquet")

    dedup(tmp_path / "in.parquet", tmp_path / "out.jsonl")
    dedup(tmp_path / "in.parquet", tmp_path / "out.csv")

    first, second = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines())
    assert ("2024-05-03", "1.10", "AP8=", ["a"], {"k": 1}, True) == tuple(
        first[name] for name in ("day", "money", "raw", "tags", "more", "flag")
    )
    assert (None, None, "港口") == (second["n"], second["x"], second["text"])
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ["a b c d e f", "港口"] == [row["text"] for row in rows]
    assert '["a"]' == rows[0]["tags"]


def test_jsonl_to_parquet_unites_the_fields(tmp_path: Path) -> None:
    """A field of one record is a column of all; ids and evidence have their types."""
    (tmp_path / "in.jsonl").write_text("\n".join(RAW[:3]), encoding="utf-8")

    dedup(tmp_path / "in.jsonl", tmp_path / "out.parquet")

    written = pq.read_table(tmp_path / "out.parquet")
    assert {"b", "a", "text", "big", "nested", "e"} == set(written.column_names)
    assert [1e-7, None] == written["b"].to_pylist()


def test_csv_values_are_unchanged(tmp_path: Path) -> None:
    """Leading zeros, empty fields, line ends in quotes: text in, the same text out."""
    rows = [
        ["id", "text", "n"],
        ["007", 'say "hi",\r\nthen go', "1.10"],
        ["008", "", ""],
        ["009", "Say hi then go", "x"],
    ]
    with (tmp_path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)

    dedup(tmp_path / "in.csv", tmp_path / "out.csv", id="id")

    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert rows[:3] == list(csv.reader(file))
    with (tmp_path / "removed-out.csv").open(encoding="utf-8", newline="") as file:
        assert [[*rows[0], "kept_id", "similarity"], [*rows[3], "007", "1.0"]] == list(csv.reader(file))


def test_text_lines_go_through(tmp_path: Path) -> None:
    """Line ends are what they were; a last line without one gets one; blank lines are texts."""
    (tmp_path / "in.txt").write_bytes(b"same line\r\n\r\nother\nSame  line!\nlast")

    neardup.dedup(tmp_path / "in.txt", write={"kept": tmp_path / "out.txt"})

    assert b"same line\r\n\r\nother\nlast\n" == (tmp_path / "out.txt").read_bytes()


def test_what_a_format_cannot_hold_is_refused(raw: Path, tmp_path: Path) -> None:
    """Lone surrogates in Parquet, fields that exist already, texts with columns: one clear error, no file."""
    again = tmp_path / "again.jsonl"
    again.write_text('{"text": "a b", "kept_id": 1}\n{"text": "A b", "kept_id": 2}\n')

    with pytest.raises(OutputError, match=r"out\.parquet: .*in\.jsonl:4: 'text' holds a lone surrogate"):
        dedup(raw, tmp_path / "out.parquet")
    with pytest.raises(OutputError, match="already has a field kept_id, similarity; rename it there"):
        dedup(again, tmp_path / "out.jsonl")
    with pytest.raises(OutputError, match=r"a \.txt file holds texts alone"):
        neardup.dedup(again, write={"kept": tmp_path / "out.txt"})
    with pytest.raises(OutputError, match="are of several types"):
        mixed = tmp_path / "mixed.jsonl"
        mixed.write_text('{"id": 1, "text": "a b"}\n{"id": "1", "text": "A b"}\n')
        neardup.dedup(mixed, id="id", write={"pairs": tmp_path / "pairs.parquet"})
    assert {raw, again, mixed} == set(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet", "out.arrow"])
def test_empty_outputs_are_whole_files(tmp_path: Path, name: str) -> None:
    """Nothing removed, no pairs: files that readers open."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "a"}\n')
    roles = ("removed", "pairs", "clusters")

    neardup.dedup(source, id="id", write={role: tmp_path / f"{role}-{name}" for role in roles})

    for role in roles:
        path = tmp_path / f"{role}-{name}"
        if name.endswith("parquet"):
            assert 0 == pq.read_table(path).num_rows
        elif name.endswith("arrow"):
            assert 0 == pa.ipc.open_file(path).read_all().num_rows
        else:
            assert len(path.read_text().splitlines()) == name.endswith("csv")
