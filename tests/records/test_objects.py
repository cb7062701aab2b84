"""Rows as JSON objects: what Arrow puts together is what a JSON writer says."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.records.objects import json_lines, json_rows


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.floats(),
            st.none() | st.text(st.characters(exclude_categories=["Cs"])),
            st.none() | st.booleans(),
        ),
        max_size=8,
    )
)
def test_lines_are_the_objects_of_the_rows(rows: list[tuple[Any, ...]]) -> None:
    """Each line is a JSON object with the values of its row, to the last bit; numbers keep their type."""
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = (pa.int64(), pa.float64(), pa.large_string(), pa.bool_())
    table = pa.table({f'c"{n}': pa.array(c, kind) for n, (c, kind) in enumerate(zip(columns, kinds, strict=True))})

    lines = bytes(json_lines(table)).decode().split("\n")

    assert "" == lines.pop()
    expected = [json.loads(row) for row in json_rows(table)]
    assert expected == [json.loads(line) for line in lines]
    assert [list(map(type, one.values())) for one in expected] == [
        list(map(type, json.loads(line).values())) for line in lines
    ]


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, b"\x00", None])
def test_other_values_go_row_by_row(value: Any) -> None:
    """A column that Arrow cannot say as JSON is said all the same."""
    table = pa.table({"x": [value], "n": [1]})

    assert bytes(json_lines(table)) == json_rows(table)[0] + b"\n"
