"""The local engine."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup
from contract_dedup import EXAMPLE_RECIPE, EXAMPLES, DedupContract
from neardup.recipe import Recipe
from neardup.result import Result

ROLES = ("kept", "removed", "clusters", "pairs")


class TestLocal(DedupContract):
    """The local engine does what any engine must."""

    def dedup(self, data: Any, recipe: Recipe, **options: Any) -> Result:
        """Run the local engine."""
        return neardup.dedup(data, recipe=recipe, **options)


def outputs_of(folder: Path, **options: Any) -> dict[str, bytes]:
    """Return what a run over the examples writes."""
    folder.mkdir()
    paths = {role: folder / f"{role}.jsonl" for role in ROLES}
    neardup.dedup(EXAMPLES / "corpus.jsonl", id="id", recipe=EXAMPLE_RECIPE, write=paths, **options)
    return {role: path.read_bytes() for role, path in paths.items()}


def test_outputs_are_the_same_for_any_threads_and_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One, two and four threads, and batches and slices of any size, write the same bytes."""
    expected = outputs_of(tmp_path / "1", threads=1)

    assert expected == outputs_of(tmp_path / "2", threads=2)
    monkeypatch.setattr("neardup.records.encoding.BLOCK_BYTES", 1000)
    monkeypatch.setattr("neardup.pipeline._SLICE_BYTES", 300)
    monkeypatch.setattr("neardup.steps.verify.slices.SLICE", 3)
    assert expected == outputs_of(tmp_path / "4", threads=4)


def test_outputs_are_the_same_in_any_process(tmp_path: Path) -> None:
    """Hash seeds, locale and folder of the process change nothing."""
    expected = outputs_of(tmp_path / "here")
    command = [sys.executable, "-m", "neardup", "dedup", str(EXAMPLES / "corpus.jsonl"), "--id-field", "id", "--quiet"]
    command += ["--ngram", "3", "--threshold", "0.6", "-o", "kept.jsonl"]
    command += [word for role in ROLES[1:] for word in (f"--{role}", f"{role}.jsonl")]
    for seed, locale in (("0", "C"), ("1", "tr_TR.UTF-8")):
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale}

        subprocess.run(command, cwd=folder, env=environment, check=True)

        assert expected == {role: (folder / f"{role}.jsonl").read_bytes() for role in ROLES}


def test_nothing_is_left_over_from_one_call_to_the_next() -> None:
    """A run on other data in between, or one that fails, changes no result."""
    first = ["a b c d e f g", "a b c d e f g!", "港口恢复通航。"]
    before = neardup.dedup(first).removed.to_pylist()

    neardup.dedup(["x y z"] * 50, recipe=Recipe(unit="word", ngram=2))
    with pytest.raises(neardup.InputError):
        neardup.dedup({"text": ["a", None]})

    assert before == neardup.dedup(first).removed.to_pylist()


def test_copies_across_files_are_found(tmp_path: Path) -> None:
    """Each text of the first file is removed from the second, whatever files and batches they are in."""
    for name in ("a", "b"):
        lines = (f'{{"text": "text number {k} of a thousand"}}\n' for k in range(1000))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))

    result = neardup.dedup([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], recipe=Recipe(threshold=1.0), threads=2)

    assert list(range(1000)) == result.kept_doc[1000:].tolist()


def test_copies_are_linear() -> None:
    """Two hundred thousand copies are a star, not all their pairs."""
    texts = ["the very same text again"] * 200_000 + [f"text {k} is its own, {k * k}" for k in range(1000)]

    result = neardup.dedup(texts, recipe=Recipe(threshold=0.95))

    assert 199_999 == result.stats.exact_copies
    assert 199_999 <= result.pairs.num_rows < 201_000
    assert result.stats.candidates < 10_000


def test_a_crowded_bucket_is_told() -> None:
    """Near-copies beyond the limit of a bucket are compared in windows, and what is left out is counted."""
    words = " ".join(f"w{n}" for n in range(60))
    texts = [f"{words} own{k}" for k in range(3000)]

    result = neardup.dedup(texts, recipe=Recipe(unit="word", ngram=1))

    assert 1 == result.stats.kept
    assert result.stats.buckets_over_limit > 0 < result.stats.pairs_not_compared


def test_counts_add_up(tmp_path: Path) -> None:
    """Read is kept and removed and rejected, each reason counted."""
    records = ['{"text": ""}'] * 10 + ['{"text": null}'] * 5 + ['{"text": "cut'] * 3
    records += ['{"text": "an exact copy of this"}'] * 21 + [f'{{"text": "single {k} {"xyz" * k}"}}' for k in range(61)]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(records))

    stats = neardup.dedup(path, on_bad_record="skip", recipe=Recipe(threshold=1.0)).stats

    assert (100, 72, 20, 8) == (stats.read, stats.kept, stats.removed, stats.rejected)
    assert {"'text' is null": 5, "broken JSON": 3} == stats.rejected_reasons
    assert (10, 20) == (stats.empty, stats.exact_copies)
    assert f"{path}:11: 'text' is null" == stats.rejected_examples["'text' is null"]


def test_ids_that_repeat_bring_row_numbers() -> None:
    """Where an id names two records, evidence gives the number of the record beside it."""
    data = {"id": [0, 1, 0, 1], "text": ["north gate", "south gate", "west gate", "South gate!"]}

    result = neardup.dedup(data, id="id")

    assert [
        {"id": 1, "text": "South gate!", "kept_id": 1, "similarity": 1.0, "kept_row": 1}
    ] == result.removed.to_pylist()
    assert [1, 1] == result.clusters["cluster_row"].to_pylist()


@pytest.mark.parametrize("keep", ["min:when", "max:when"])
def test_keep_orders_text_too(keep: str) -> None:
    """Dates as text are put in order."""
    data = {"text": ["same text here"] * 3, "when": ["2024-02-01", "2023-12-31", "2024-01-15"]}

    kept = neardup.dedup(data, recipe=Recipe(keep=keep)).kept["when"].to_pylist()

    assert [min(data["when"]) if keep == "min:when" else max(data["when"])] == kept


def test_keep_by_a_field_of_lists_is_refused() -> None:
    """What cannot be put in order is one clear error."""
    with pytest.raises(neardup.UsageError, match="keep = 'max:tags' cannot order values of type list"):
        neardup.dedup({"text": ["a", "b"], "tags": [[1], [2]]}, recipe=Recipe(keep="max:tags"))


def test_similarity_is_exact_beside_its_estimate() -> None:
    """The number is Jaccard to the last bit; the estimate is near; a text without shingles is similar to nothing."""
    found = neardup.similarity("今天去爬山", "今天去爬山了")

    assert 0.5 == found
    assert abs(found.estimate - 0.5) < 0.2
    assert 0.0 == neardup.similarity("", "")
    assert 1.0 == neardup.similarity("Cat!", "cat").estimate


def test_shingles_and_signatures_are_arrays() -> None:
    """Ragged hashes, distinct and ascending, and a matrix of values."""
    shingles = neardup.shingles(["abcabcabc", "", "ab"], Recipe(ngram=3))
    signatures = neardup.signatures(["abcabcabc", "cabcab"], Recipe(ngram=3, num_perm=64))

    assert [0, 3, 3, 4] == shingles.offsets.tolist()
    assert np.all(np.diff(shingles.hashes[:3].astype(object)) > 0)
    assert ((2, 64), np.uint32) == (signatures.shape, signatures.dtype)
    assert np.array_equal(signatures[0], signatures[1])
    with pytest.raises(TypeError, match="a list of str"):
        neardup.shingles("abc")


def test_progress_tells_stages_documents_and_how_many_are_left(tmp_path: Path) -> None:
    """Each stage is told with what is done; where a file's size tells, how much there will be."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"text": "text {k % 90} of some"}}\n' for k in range(100)))
    told: list[tuple[str, int, int | None]] = []

    neardup.dedup(
        path,
        write={"kept": tmp_path / "out.jsonl"},
        on_progress=lambda stage, done, total: told.append((stage, done, total)),
    )

    assert ["sign", "candidates", "verify", "cluster", "write"] == list(dict.fromkeys(stage for stage, _, _ in told))
    assert ("sign", 100, 100) in told
    assert ("write", 100, 100) in told
