"""The corpora: measuring ones out of a data folder, generated ones out of nothing but a seed. One JSONL file each.

In: a name of CORPORA, the data folder, the size of generated corpora. Out: a `Corpus`, whose file is made once and
found again. Knows nothing of the systems that will read it.
"""

import random
from collections.abc import Callable, Iterator
from itertools import accumulate, chain
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import orjson
import pyarrow.parquet as pq
from score import PairSets

Record: TypeAlias = dict[str, object]

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SEED: Final = 20_240_229
_VOCABULARY: Final = 200_000  # a long tail of rare words, as in real texts
_COPY_EVERY: Final = 5  # one planted document in five is a near-copy
_MOST_EDITS: Final = 14  # 0 edits is an exact copy; of 400 letters 8 leave a similarity of .82, 9 of .80, 14 of .70
_EDIT_GAP: Final = 12  # letters between edits, so that the five shingles each destroys are its own


class Plan(NamedTuple):
    """How a corpus is made and measured.

    records: the documents, from the data folder or of a size. files: what it wants from the data folder.
    n_docs: the usual size of a generated corpus, None where the data decide.
    known_truth: the truth by construction, None where it is to be counted.
    """

    records: Callable[[Path, int], Iterator[Record]]
    ngram: int
    threshold: float
    id_field: str | None = "id"
    files: tuple[str, ...] = ()
    n_docs: int | None = None
    known_truth: Callable[[list[str]], PairSets] | None = None


class Corpus(NamedTuple):
    """A corpus on disk. name: the plan's, with the size where it is not the usual one."""

    name: str
    path: Path
    plan: Plan


class Documents(NamedTuple):
    """What scoring needs of a corpus. ids: None where the corpus has none."""

    ids: list[str] | None
    texts: list[str]
    text_bytes: int


def open_corpus(name: str, data: Path, cache: Path, n_docs: int | None = None) -> Corpus:
    """Return a corpus, made now if it is not there yet or older than its data."""
    plan = CORPORA[name]
    size = plan.n_docs
    if size is not None and n_docs is not None:
        name, size = (name if n_docs == size else f"{name}-{n_docs}"), n_docs
    path = cache / f"{name}.jsonl"
    newest = max((_parquet(data, file).stat().st_mtime for file in plan.files), default=0.0)
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as out:
            out.writelines(orjson.dumps(record) + b"\n" for record in plan.records(data, size or 0))
        unfinished.replace(path)
    return Corpus(name, path, plan)


def missing_files(name: str, data: Path) -> list[Path]:
    """Return the files of the data folder that a corpus wants and that are not there."""
    return [path for path in (_parquet(data, file) for file in CORPORA[name].files) if not path.is_file()]


def read_documents(corpus: Corpus) -> Documents:
    """Return ids and texts of a corpus, in order."""
    ids, texts, text_bytes = [], [], 0
    with corpus.path.open("rb") as lines:
        for line in lines:
            record = orjson.loads(line)
            texts.append(record["text"])
            text_bytes += len(record["text"].encode())
            if corpus.plan.id_field is not None:
                ids.append(record[corpus.plan.id_field])
    return Documents(ids if corpus.plan.id_field is not None else None, texts, text_bytes)


def _parquet(data: Path, file: str) -> Path:
    return data / f"{file}.parquet"


def _rows(data: Path, file: str) -> Iterator[Record]:
    for batch in pq.ParquetFile(_parquet(data, file)).iter_batches(10_000):
        yield from batch.to_pylist()


def _licences(data: Path, _n_docs: int) -> Iterator[Record]:
    """Yield the full texts: no notices, no tags, and one license each (a label with spaces is an expression)."""
    for row in _rows(data, "licences"):
        label, words = row["label"], row["nwords"]
        is_full = row["kind"] in ("canonical", "text") and isinstance(words, int) and words >= 50
        if is_full and isinstance(label, str) and label and " " not in label:
            yield row


def _long(data: Path, n_docs: int) -> Iterator[Record]:
    return chain(_licences(data, n_docs), _rows(data, "cn_laws"), _rows(data, "tw_laws"))


def _poems(data: Path, _n_docs: int) -> Iterator[Record]:
    return _rows(data, "poems")


def _planted(_data: Path, n_docs: int) -> Iterator[Record]:
    """Yield documents of some 400 letters, in random order, of which one in five is an edited copy of another.

    Copy i has i mod 15 letters changed, so its similarity to its original in 5-grams is (S - 5e) / (S + 5e) for e
    edits of S shingles, as far as no shingle occurs twice; the truth is counted, not assumed.
    """
    rng = random.Random(_SEED)
    words = _words(rng)
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    n_originals = n_docs - n_docs // _COPY_EVERY
    texts = [" ".join(rng.choices(words, cum_weights=weights, k=63)) for _ in range(n_originals)]
    edits = [0] * n_originals
    originals = list(range(n_originals))
    for copy in range(n_docs - n_originals):
        original = rng.randrange(n_originals)
        n_edits = copy % (_MOST_EDITS + 1)
        texts.append(_edited(texts[original], n_edits, rng))
        edits.append(n_edits)
        originals.append(original)
    order = list(range(n_docs))
    rng.shuffle(order)
    for doc in order:
        yield {"id": f"d{doc}", "text": texts[doc], "copy_of": f"d{originals[doc]}", "edits": edits[doc]}


def _edited(text: str, n_edits: int, rng: random.Random) -> str:
    letters = list(text)
    places = range(_EDIT_GAP, len(text) - _EDIT_GAP, _EDIT_GAP)
    for place in rng.sample(places, n_edits):
        letters[place] = rng.choice(_LETTERS.replace(letters[place], ""))
    return "".join(letters)


def _copies(_data: Path, n_docs: int) -> Iterator[Record]:
    """Yield one text of 40 words half the time, and different ones of 40 words the other half; no ids."""
    rng = random.Random(_SEED)
    words = _words(rng)
    copied = " ".join(rng.choices(words, k=40))
    for doc in range(n_docs):
        yield {"text": copied if doc % 2 == 0 else " ".join(rng.choices(words, k=40))}


def _copies_truth(texts: list[str]) -> PairSets:
    """Return the pairs of equal texts: texts of words drawn at random never come near one another."""
    first: dict[str, int] = {}
    group = np.fromiter((first.setdefault(text, doc) for doc, text in enumerate(texts)), np.int64, len(texts))
    return PairSets(group, np.empty(0, np.int64), np.empty(0, np.int64))


def _words(rng: random.Random) -> list[str]:
    return ["".join(rng.choices(_LETTERS, k=rng.randint(3, 8))) for _ in range(_VOCABULARY)]


CORPORA: Final[dict[str, Plan]] = {
    "licences": Plan(_licences, 5, 0.8, files=("licences",)),
    "long": Plan(_long, 5, 0.8, files=("licences", "cn_laws", "tw_laws")),
    "poems": Plan(_poems, 2, 0.7, files=("poems",)),
    "planted": Plan(_planted, 5, 0.8, n_docs=100_000),
    "copies": Plan(_copies, 5, 0.8, n_docs=2_000_000, id_field=None, known_truth=_copies_truth),
}
