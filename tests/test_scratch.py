"""What a memory budget has no room for: temporary files hold what memory would have held, and go with the run."""

import json
import shutil
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import Recipe, UsageError
from neardup.errors import OutputError
from neardup.scratch import Rows, Scratch, SortedSet, TextFile

TINY = 1 << 12  # bytes: next to nothing has room


@pytest.fixture(scope="module")
def scratch() -> Iterator[Scratch]:
    """Return a scratch folder for many tests."""
    with Scratch(None, TINY) as made:
        yield made


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=8), max_size=6), st.sampled_from([0, 64, 1 << 20]))
def test_rows_come_back_as_they_were_appended(columns: list[list[int]], room: int) -> None:
    """Whatever went to files, and whatever did not."""
    parts = [np.array([column, column[::-1]], np.uint64).reshape(2, -1) for column in columns]
    with Scratch(None, TINY) as scratch:
        rows = Rows(2, scratch, room)
        for part in parts:
            rows.append(part)

        actual = [np.concatenate(list(rows.pieces(row))).tolist() for row in (0, 1)]

    assert [list(chain(*columns)), list(chain(*(column[::-1] for column in columns)))] == actual
    assert rows.n_columns == sum(map(len, columns))


@given(st.lists(st.lists(st.integers(0, 3000), max_size=700), max_size=12))
def test_a_sorted_set_is_a_set_in_order(parts: list[list[int]]) -> None:
    """Each value once, ascending over all pieces, with runs on disk and without."""
    expected = sorted({value << 30 for part in parts for value in part})
    with Scratch(None, TINY) as scratch:
        for room in (1, 1 << 20):
            values = SortedSet(scratch, room)
            for part in parts:
                values.add(np.array(part, np.uint64) << np.uint64(30))

            actual = [value for piece in values.pieces() for value in piece.tolist()]
            again = [value for piece in values.pieces() for value in piece.tolist()]

            assert expected == actual == again


def test_a_sorted_set_of_many_runs_comes_in_pieces() -> None:
    """More than there is room for is never in one piece."""
    values = np.random.default_rng(1).permutation(np.arange(50_000, dtype=np.uint64))
    with Scratch(None, TINY) as scratch:
        held = SortedSet(scratch, 1)
        for some in np.array_split(values, 90):
            held.add(some)

        pieces = list(held.pieces())

    assert np.array_equal(np.arange(50_000), np.concatenate(pieces))
    assert max(piece.size for piece in pieces) <= 1024


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=30), st.data())
def test_texts_of_a_file_are_those_that_went_in(texts: list[bytes], data: st.DataObject) -> None:
    """Any of them, from columns that are slices of others."""
    places = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1))))
    columns = [pa.array([b"x", *texts[:4]], pa.large_binary())[1:], pa.array(texts[4:], pa.large_binary())]
    with Scratch(None, TINY) as scratch:
        taken = list(TextFile(columns, scratch).take(np.array(places, np.int64)))

    assert [texts[place] for place in places] == [one for column in taken for one in column.to_pylist()]


@pytest.mark.parametrize(
    "choices",
    [
        {"ngram": 3, "threshold": 0.4},
        {"ngram": 3, "threshold": 0.4, "cluster": "components"},
        {"ngram": 3, "threshold": 0.4, "verify": "estimate", "keep": "longest"},
        {"ngram": 3, "threshold": 0.4, "sketch": "weighted", "weights": "tfidf"},
        {"sketch": "simhash", "num_perm": 64, "distance": 7, "verify": "estimate"},
        {"sketch": "simhash", "num_perm": 64, "distance": 7, "threshold": 0.3},
    ],
)
def test_the_budget_changes_nothing_but_files(
    choices: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs, clusters and kept records are the same, temporary files are told of, and gone."""
    lines = (Path(__file__).parents[1] / "examples" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    recipe = Recipe(**choices)
    roomy = neardup.dedup(texts, recipe=recipe, temp_dir=tmp_path)
    monkeypatch.setattr(sys.modules["neardup.dedup"], "usual_memory_bytes", lambda: TINY)

    tight = neardup.dedup(texts, recipe=recipe, temp_dir=tmp_path)

    assert roomy.pairs.num_rows > 0
    assert roomy.pairs.equals(tight.pairs)
    assert roomy.clusters.equals(tight.clusters)
    assert roomy.kept.equals(tight.kept)
    assert (roomy.stats.candidates, roomy.stats.buckets) == (tight.stats.candidates, tight.stats.buckets)
    assert 0 == roomy.stats.temporary_bytes < tight.stats.temporary_bytes
    assert [] == list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """The line names it, and what to do."""
    with Scratch(str(tmp_path / "none"), TINY) as scratch, pytest.raises(OutputError, match="none: cannot write .*dir"):
        scratch.file()


def test_what_is_expected_to_find_no_room_is_refused(scratch: Scratch) -> None:
    """Both sizes are told; what fits is let through."""
    scratch.check_room(1, 0)
    scratch.check_room(10**15, 10**15)
    with pytest.raises(OutputError, match="are expected to take 1,000,000.0 GB, and .* GB are free.*--temp-dir"):
        scratch.check_room(10**15, 10**15 - 1)


@pytest.mark.parametrize(("free", "last_stage"), [(0, "sign"), (20_000, "candidates")])
def test_a_disk_without_room_ends_the_run_before_it_is_full(
    free: int, last_stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, an output of an earlier run untouched, no temporary file left."""
    source, kept, temp = tmp_path / "in.jsonl", tmp_path / "kept.jsonl", tmp_path / "temp"
    source.write_text("".join(json.dumps({"text": f"{n} the ferry leaves at nine" * 30}) + "\n" for n in range(90)))
    kept.write_text("earlier")
    temp.mkdir()
    monkeypatch.setattr(sys.modules["neardup.dedup"], "usual_memory_bytes", lambda: TINY)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(free, 0, free))
    stages: list[str] = []
    with pytest.raises(OutputError, match="are expected to take .* GB are free"):
        neardup.dedup(source, write={"kept": kept}, temp_dir=temp, on_progress=lambda name, *_: stages.append(name))
    assert stages[-1] == last_stage
    assert kept.read_text() == "earlier"
    assert not list(temp.iterdir())
    assert sorted(tmp_path.iterdir()) == sorted([source, kept, temp])


def test_too_little_memory_is_refused() -> None:
    """A budget in which nothing could be done."""
    with pytest.raises(UsageError, match="memory is at least 256 MB, not 1 MB"):
        neardup.dedup(["a"], memory=1 << 20)
