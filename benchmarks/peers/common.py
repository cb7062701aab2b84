"""What the adapters of the peers share: the cleaning and the shingles usual among their users, JSONL in, clusters out.

An adapter is run as `adapter.py IN.jsonl OUT.json NGRAM THRESHOLD NUM_PERM` by the interpreter of its peer's own
environment, so it imports the standard library and its peer alone. OUT.json is `{"labels": [...], "pairs": [...]}`:
for each document the position of the first document of its cluster, which is the one kept, and the pairs found, as
positions.
"""

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple


class Job(NamedTuple):
    source: Path
    out: Path
    ngram: int
    threshold: float
    num_perm: int


def job() -> Job:
    source, out, ngram, threshold, num_perm = sys.argv[1:]
    return Job(Path(source), Path(out), int(ngram), float(threshold), int(num_perm))


def read_texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def clean(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s]", " ", text.lower())).strip()


def shingles(text: str, ngram: int) -> set[str]:
    return {text[start : start + ngram] for start in range(max(1, len(text) - ngram + 1))}


def write_outcome(out: Path, n_docs: int, pairs: list[tuple[int, int]]) -> None:
    with out.open("w", encoding="utf-8") as file:
        json.dump({"labels": _components(n_docs, pairs), "pairs": pairs}, file)


def _components(n_docs: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the first document of the connected component of each."""
    parent = list(range(n_docs))

    def root(doc: int) -> int:
        while parent[doc] != doc:
            parent[doc] = parent[parent[doc]]
            doc = parent[doc]
        return doc

    for a, b in pairs:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    return [root(doc) for doc in range(n_docs)]
