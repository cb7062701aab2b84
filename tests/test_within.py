"""--within: documents meet only where a field is equal; brute force over each group alone says the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.recipe import Recipe

FERRY = "the ferry leaves at nine and returns before dark"
EDITED = "the ferry leaves at nine and returns before dusk"


def kept_ids(records: list[dict[str, Any]], recipe: Recipe, **options: Any) -> list[Any]:
    """Return the ids that stay."""
    return list(neardup.dedup(pa.Table.from_pylist(records), id="id", recipe=recipe, **options).kept["id"].to_pylist())


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(threshold=0.6),
        Recipe(threshold=0.6, cluster="components"),
        Recipe(sketch="simhash", distance=7, verify="estimate"),
        Recipe(unit="token", ngram=1, threshold=0.6, sketch="weighted"),
    ],
    ids=["minhash", "components", "simhash", "weighted"],
)
@given(
    st.lists(st.tuples(st.sampled_from([FERRY, EDITED, "", "else"]), st.sampled_from(["en", "fr", None])), min_size=1)
)
def test_within_is_the_same_as_each_group_alone(recipe: Recipe, drawn: list[tuple[str, str | None]]) -> None:
    """What stays within equal values is what stays of each group by itself."""
    records = [{"id": n, "text": text, "lang": lang} for n, (text, lang) in enumerate(drawn)]
    alone = [
        kept
        for lang in ("en", "fr", None)
        if (group := [one for one in records if one["lang"] == lang])
        for kept in kept_ids(group, recipe)
    ]
    assert kept_ids(records, recipe, within="lang") == sorted(alone)


def test_values_are_equal_by_type_and_value(tmp_path: Path) -> None:
    """1 and "1" are two values, nulls and missing ones are one, over JSON lines of mixed types."""
    values = [1, "1", 1, None, "absent", "1"]
    lines = [{"id": n, "text": FERRY} | ({} if one == "absent" else {"day": one}) for n, one in enumerate(values)]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = neardup.dedup(source, id="id", within="day")
    assert [(pair["id_a"], pair["id_b"]) for pair in result.pairs.to_pylist()] == [(0, 2), (1, 5), (3, 4)]
    assert result.stats.to_dict()["within"] == "day"


def test_a_field_that_is_not_there_or_not_single_is_refused() -> None:
    """The sentence names the flag, or the type."""
    table = pa.table({"text": [FERRY], "tags": [["a"]]})
    with pytest.raises(neardup.InputError, match=r"column 'lang' is not in .* Choose one with --within\."):
        neardup.dedup(table, within="lang")
    with pytest.raises(neardup.UsageError, match="--within goes by single values"):
        neardup.dedup(table, within="tags")
    with pytest.raises(neardup.UsageError, match="a list of texts has no column 'lang'"):
        neardup.dedup([FERRY], within="lang")


def test_within_on_the_command_line(tmp_path: Path) -> None:
    """The first record of each value stays."""
    source = tmp_path / "in.jsonl"
    lines = [{"text": f"{FERRY} {n % 5}", "day": n % 3} for n in range(60)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "kept.jsonl"
    flags = ["--within", "day", "--threshold", "0.8"]
    subprocess.run([sys.executable, "-m", "neardup", "dedup", source, "-o", out, *flags], check=True)
    assert [json.loads(line)["day"] for line in out.read_text().splitlines()] == [0, 1, 2]


def test_a_tight_budget_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups hold where tables come in parts and keys in files."""
    table = pa.table({"text": [f"{FERRY} {n % 7} {n % 11}" for n in range(200)], "day": [n % 3 for n in range(200)]})
    roomy = neardup.dedup(table, within="day")
    monkeypatch.setattr(sys.modules["neardup.dedup"], "usual_memory_bytes", lambda: 1 << 12)
    tight = neardup.dedup(table, within="day")
    assert roomy.pairs.num_rows > 0
    assert roomy.pairs.equals(tight.pairs)
    assert tight.stats.temporary_bytes > 0
