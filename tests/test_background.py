"""What is known of all texts beforehand: frequencies, counted or from a file, and what a run tells of them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
import reference
from neardup import Recipe, UsageError
from neardup.errors import InputError
from neardup.steps import frequency

FOOTER = "all rights reserved by the harbor office and its heirs"
PAGES = [f"{name} {FOOTER}" for name in ("ferry times", "market day", "lost dog", "new bridge", "old mill")]
WEIGHTED = Recipe(sketch="weighted", weights="tfidf", unit="word", ngram=1, threshold=0.1, bands=128, rows=1)


def test_a_footer_ties_pages_together_until_it_does_not_count() -> None:
    """Pages that share most of their words are near-duplicates, and strangers once frequent shingles are left out."""
    recipe = Recipe(unit="word", ngram=1, threshold=0.5, bands=128, rows=1)

    tied = neardup.dedup(PAGES, recipe=recipe)
    free = neardup.dedup([*PAGES, PAGES[0]], recipe=recipe.replace(max_df=0.5))

    assert (1, 4) == (tied.stats.kept, tied.stats.removed)
    assert (5, 1, 1) == (free.stats.kept, free.stats.removed, free.stats.exact_copies)
    assert len(set(FOOTER.split())) == free.stats.shingles_dropped
    assert dict.fromkeys(FOOTER.split(), 5) == free.stats.dropped_examples


@pytest.mark.parametrize(("unit", "ngram"), [("char", 5), ("word", 2), ("token", 2)])
def test_examples_are_the_text_of_the_shingle(unit: Any, ngram: int) -> None:
    """What is shown of a dropped shingle is the part of a clean text that it is, for any unit; texts shorter than n too."""
    texts = [*(f"{n}号渡轮, the ferry No. {n}: 今日停航!" for n in range(9)), *["a"] * 3]
    recipe = Recipe(unit=unit, ngram=ngram, max_df=0.6)

    shown = neardup.dedup(texts, recipe=recipe).stats.dropped_examples

    counts, n_docs = reference.frequencies(texts, recipe)
    frequent = {"".join(window): count for window, count in counts.items() if count > 0.6 * n_docs}
    assert {text.replace(" ", ""): count for text, count in shown.items()} == {
        text.replace(" ", ""): count for text, count in frequent.items()
    }


def test_frequencies_of_an_earlier_run_are_used(tmp_path: Path) -> None:
    """A run saves them; another weighs by them as if its texts had been among those; two texts alone can too."""
    file = tmp_path / "f.parquet"
    first = neardup.dedup(PAGES, recipe=WEIGHTED, write={"frequencies": file})
    again = neardup.dedup(PAGES[:2], recipe=WEIGHTED.replace(frequencies=str(file)))

    alike = first.pairs["similarity"][0].as_py()
    assert [alike] == again.pairs["similarity"].to_pylist()
    assert [alike] != neardup.dedup(PAGES[:2], recipe=WEIGHTED).pairs["similarity"].to_pylist()
    assert alike == neardup.similarity(*PAGES[:2], WEIGHTED.replace(frequencies=str(file)))
    assert first.frequencies is not None
    assert first.frequencies.equals(pq.read_table(file))
    assert [5] * len(FOOTER.split()) == first.frequencies["documents"].to_pylist()


def test_frequencies_do_not_depend_on_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """However texts are cut and counts merged, the table is one."""
    whole = neardup.dedup(PAGES * 2, recipe=WEIGHTED, threads=1).frequencies
    monkeypatch.setattr("neardup.pipeline._SLICE_BYTES", 60)
    monkeypatch.setattr("neardup.background._COUNT_AT", 5)
    parts = neardup.dedup(PAGES * 2, recipe=WEIGHTED, threads=3).frequencies

    assert whole is not None
    assert whole.equals(parts, check_metadata=True)


def test_an_equal_hash_is_one_text() -> None:
    """Exact copies count once, however many there are."""
    result = neardup.dedup(PAGES[:1] * 1000 + PAGES[1:], recipe=WEIGHTED)

    assert result.frequencies is not None
    assert 5 == max(result.frequencies["documents"].to_pylist())


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (None, UsageError, "cannot read the file that frequencies names"),
        (b"PAR1", InputError, "not a file of frequencies"),
        (pa.table({"text": ["a"]}), InputError, "not a file of frequencies"),
    ],
)
def test_a_file_that_is_none_is_refused(content: Any, error: type[Exception], said: str, tmp_path: Path) -> None:
    """One line names the file."""
    file = tmp_path / "f.parquet"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        pq.write_table(content, file)

    with pytest.raises(error, match=f"{re.escape(str(file))}: .*{said}"):
        neardup.dedup(PAGES, recipe=WEIGHTED.replace(frequencies=str(file)))


def test_frequencies_of_other_shingles_are_refused(tmp_path: Path) -> None:
    """Shingles of another unit or cleaning have other hashes: their frequencies would all seem to be one."""
    file = tmp_path / "f.parquet"
    neardup.dedup(PAGES, recipe=WEIGHTED, write={"frequencies": file})

    with pytest.raises(UsageError, match="another unit, ngram or cleaning"):
        neardup.dedup(PAGES, recipe=WEIGHTED.replace(frequencies=str(file), ngram=2))


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    """An output that there is none of, one of another format, two texts that tell nothing of all."""
    with pytest.raises(UsageError, match="counted with weights = 'tfidf' or with max_df only"):
        neardup.dedup(PAGES, write={"frequencies": tmp_path / "f.parquet"})
    with pytest.raises(UsageError, match=r"written as Parquet; name it \*\.parquet"):
        neardup.dedup(PAGES, recipe=WEIGHTED, write={"frequencies": tmp_path / "f.jsonl"})
    with pytest.raises(UsageError, match="a few texts do not tell how common a shingle is"):
        neardup.similarity("a", "b", WEIGHTED)


def test_an_empty_input_has_no_frequencies() -> None:
    """Nothing in, nothing out."""
    result = neardup.dedup([], recipe=WEIGHTED.replace(max_df=0.5))

    assert (0, 0) == (result.stats.read, result.stats.shingles_dropped)
    assert frequency.frequent(frequency.count(np.empty(0, np.uint64), 0), 0.5).size == 0
