"""What each family of sketches finds and costs on whole corpora: prints tables in Markdown.

    python benchmarks/families.py [--data DIR] [--corpora NAME...]

Every family runs the whole job, twice, of which the second counts. What it should find are the pairs that exact
verification passes when the same recipe is run with 1,024 values and a promised recall of .9999; of simhash, whose
promise is another, those of its own measure.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from neardup import Recipe

_DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
_FAMILIES: Final[dict[str, dict[str, Any]]] = {
    "minhash": {"sketch": "minhash"},
    "oph": {"sketch": "oph"},
    "superminhash": {"sketch": "superminhash"},
    "classic": {"sketch": "classic"},
    "weighted by count": {"sketch": "weighted"},
    "weighted by TF-IDF": {"sketch": "weighted", "weights": "tfidf"},
    "simhash, 3 of 64": {"sketch": "simhash", "num_perm": 64},
    "simhash, 7 of 64": {"sketch": "simhash", "num_perm": 64, "distance": 7},
    "simhash, 6 of 128": {"sketch": "simhash", "num_perm": 128},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA))
    options = parser.parse_args()
    for name in options.corpora:
        preset, rows = CORPORA[name]
        texts = pa.array(rows(options.data), pa.large_string())
        recipe = Recipe.preset(preset)
        print(f"\n{name}: {len(texts):,} texts, `--preset {preset}`\n")
        print("| family | seconds | MB a second | candidates | pairs | recall |\n|---|---:|---:|---:|---:|---:|")
        measures: dict[str, set[tuple[int, int]]] = {}
        for title, choices in _FAMILIES.items():
            changed = recipe.replace(**choices)
            print(f"| {title} | {measure(texts, changed, measures)} |", flush=True)


def measure(texts: pa.Array, recipe: Recipe, measures: dict[str, set[tuple[int, int]]]) -> str:
    """Return the cells of a family; `measures` keeps what there is to find by each measure."""
    table = pa.table({"text": texts})
    neardup.dedup(table, recipe=recipe)
    start = time.perf_counter()
    result = neardup.dedup(table, recipe=recipe)
    seconds = time.perf_counter() - start
    if recipe.weighting not in measures:
        family = "minhash" if recipe.weighting == "none" else "weighted"
        plain = {"sketch": family, "distance": None, "num_perm": 1024, "recall": 0.9999}
        measures[recipe.weighting] = found(neardup.dedup(table, recipe=recipe.replace(**plain)))
    truth = measures[recipe.weighting]
    recall = len(found(result) & truth) / len(truth)
    rate = result.stats.text_bytes / 1e6 / seconds
    return f"{seconds:.2f} | {rate:.0f} | {result.stats.candidates:,} | {len(found(result)):,} | {recall:.4f}"


def found(result: neardup.Result) -> set[tuple[int, int]]:
    pairs = result.pairs
    return set(zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))


def _rows(data: Path, file: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    table = pq.read_table(data / f"{file}.parquet", columns=list(columns))
    yield from zip(*(table[name].to_pylist() for name in columns), strict=True)


def titles(data: Path) -> list[str]:
    """Return notices, tags and introductions of licenses."""
    return [text for text, kind in _rows(data, "licences", "text", "kind") if kind in ("notice", "tag", "intro")]


def licences(data: Path) -> list[str]:
    """Return full texts of licenses."""
    rows = _rows(data, "licences", "text", "kind", "nwords")
    return [text for text, kind, words in rows if kind in ("canonical", "text") and words >= 50]


def poems(data: Path) -> list[str]:
    """Return classical Chinese poems."""
    return [text for (text,) in _rows(data, "poems", "text")]


CORPORA: Final = {"titles": ("title", titles), "licences": ("document", licences), "poems": ("article", poems)}

if __name__ == "__main__":
    main()
