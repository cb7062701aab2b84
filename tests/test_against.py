"""--against: what a reference has already is removed, named by its id there, and nothing of the reference ever is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.recipe import Recipe

FERRY = "the ferry leaves at nine and returns before dark"
EDITED = "the ferry leaves at nine and returns before dusk"
LOOSE = Recipe(ngram=3, threshold=0.5, bands=64, rows=1)
TEXTS = st.lists(
    st.sampled_from([FERRY, EDITED, f"{EDITED} and rain", "", "!!", "the market opens late", "the market opened late"])
)


def table(texts: list[str], **columns: Any) -> pa.Table:
    """Return a table of texts with ids from 0."""
    return pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())} | columns)


def model(reference: list[str], data: list[str], order: list[int]) -> dict[int, tuple[bool, int, float]]:
    """Return by brute force what goes: whether the kept one is in the reference, its place, the similarity."""
    kept: list[tuple[bool, int, str]] = [(True, place, text) for place, text in enumerate(reference)]
    gone = {}
    for place in order:
        near = [(neardup.similarity(data[place], text, LOOSE), *at) for *at, text in kept]
        best = max(near, key=lambda one: one[0], default=(0.0, False, 0))
        if best[0] >= LOOSE.threshold:
            gone[place] = (best[1], best[2], float(best[0]))
        else:
            kept.append((False, place, data[place]))
    return gone


@pytest.mark.parametrize("keep", ["first", "last"])
@given(TEXTS, TEXTS)
def test_against_is_what_brute_force_says(keep: str, reference: list[str], data: list[str]) -> None:
    """Each document of the data goes for the most similar one kept before it, those of the reference before all."""
    order = list(range(len(data)))
    expected = model(reference, data, order if keep == "first" else order[::-1])
    result = neardup.dedup(table(data), id="id", recipe=LOOSE.replace(keep=keep), against=table(reference))
    removed = {
        row["id"]: (row["in_reference"], row["kept_id"], pytest.approx(row["similarity"]))
        for row in result.removed.to_pylist()
    }
    assert removed == expected
    assert result.kept["id"].to_pylist() == [n for n in range(len(data)) if n not in expected]
    stats = result.stats
    assert (stats.read, stats.reference) == (len(data), len(reference))
    assert stats.removed_against == sum(in_reference for in_reference, _, _ in expected.values())
    in_clusters = {row["id"] for row in result.clusters.to_pylist()}
    assert in_clusters == set(expected) | {place for is_there, place, _ in expected.values() if not is_there}


@pytest.mark.parametrize("cluster", ["anchored", "components"])
def test_pairs_within_the_reference_are_not_looked_at(cluster: str) -> None:
    """A reference of copies costs no pair, and a document near several of them names the nearest or first."""
    reference = table([FERRY, FERRY, EDITED, EDITED])
    recipe = LOOSE.replace(cluster=cluster)
    result = neardup.dedup(table([EDITED, "else"]), id="id", recipe=recipe, against=reference)
    assert result.pairs.select(["id_a", "id_b", "in_reference"]).to_pylist() == [
        {"id_a": 2, "id_b": 0, "in_reference": True}
    ]
    assert [row["kept_id"] for row in result.removed.to_pylist()] == [2]
    assert result.stats.exact_copies == 1


def test_a_crowded_bucket_of_the_reference() -> None:
    """Thousands that are alike in the reference are met by a document of the data, and not by one another."""
    reference = table([f"{FERRY} {n}" for n in range(3000)])
    result = neardup.dedup(table([f"{FERRY} x", "else"]), id="id", recipe=LOOSE, against=reference)
    assert result.kept["id"].to_pylist() == [1]
    assert result.stats.candidates < 3000


def test_the_reference_keeps_what_it_may_not_have(tmp_path: Path) -> None:
    """Ids of another type, no field of the keep policy, a field of groups: each as it is."""
    reference = pa.table({"id": ["r0", "r1"], "text": [FERRY, FERRY], "lang": ["fr", "en"]})
    data = table([FERRY, FERRY, "else"], score=pa.array([1, 2, 3]), lang=pa.array(["en", "xx", "en"]))
    recipe = LOOSE.replace(keep="max:score")
    out = tmp_path / "removed.jsonl"
    result = neardup.dedup(data, id="id", recipe=recipe, against=reference, within="lang", write={"removed": out})
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"id": 0, "text": FERRY, "score": 1, "lang": "en", "kept_id": "r1", "similarity": 1.0, "in_reference": True}
    ]
    assert result.kept["id"].to_pylist() == [1, 2]


def test_row_numbers_are_told_apart_where_ids_repeat() -> None:
    """A repeated id brings row numbers, in the reference or in the data."""
    reference = pa.table({"id": [7, 7], "text": ["else", FERRY]})
    result = neardup.dedup(table([FERRY, "wholly new words", "wholly new words"]), id="id", against=reference)
    assert result.removed.select(["id", "kept_id", "kept_row", "in_reference"]).to_pylist() == [
        {"id": 0, "kept_id": 7, "kept_row": 1, "in_reference": True},
        {"id": 2, "kept_id": 1, "kept_row": 1, "in_reference": False},
    ]


@pytest.mark.parametrize(
    "recipe", [{"sketch": "simhash", "distance": 3, "verify": "estimate"}, {"unit": "token", "max_df": 0.9}]
)
def test_other_families_look_at_the_reference_too(recipe: dict[str, Any]) -> None:
    """Bits, and document frequencies over both."""
    others = [f"{word} wholly {n} of its own" for n, word in enumerate(["oak", "elm", "ash", "fir"])]
    result = neardup.dedup(table([FERRY, "else"]), id="id", recipe=Recipe(**recipe), against=table([*others, FERRY]))
    assert result.removed["kept_id"].to_pylist() == [4]


def test_vectors_have_the_dimension_of_the_reference() -> None:
    """A vector of another size is a bad record."""
    recipe = Recipe.preset("vector")
    reference = pa.table({"text": np.eye(4, dtype=np.float32).tolist()})
    data = pa.table({"text": [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.1]]})
    assert neardup.dedup(data, recipe=recipe, against=reference).removed["kept_id"].to_pylist() == [0]
    with pytest.raises(neardup.InputError, match="dimension|numbers"):
        neardup.dedup(pa.table({"text": [[1.0, 0.0]]}), recipe=recipe, against=reference)


def test_against_on_the_command_line(tmp_path: Path) -> None:
    """Two references, bad records of theirs counted apart, neither of them touched, and never an output."""
    seen, more, new, out = (tmp_path / name for name in ("seen.jsonl", "more.txt", "new.jsonl", "kept.jsonl"))
    seen.write_text(json.dumps({"text": FERRY}) + "\n{\n")
    more.write_text("the market opens late\n")
    new.write_text("".join(json.dumps({"text": text}) + "\n" for text in [EDITED, "the market opens late", "else"]))
    stats = tmp_path / "stats.json"
    flags = ["--against", seen, "--against", more, "--on-bad-record", "skip", "--stats", stats]
    command = [sys.executable, "-m", "neardup", "dedup", new]
    done = subprocess.run([*command, "-o", out, *flags], capture_output=True, text=True, check=True)
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == ["else"]
    told = json.loads(stats.read_text())
    assert (told["read"], told["rejected"], told["reference"], told["reference_rejected"]) == (3, 0, 2, 1)
    assert told["against"] == [str(seen), str(more)]
    assert "reference            2  documents; 2 of the removed are in it" in done.stderr
    refused = subprocess.run([*command, "-o", seen, *flags], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "is an input and an output" in refused.stderr
