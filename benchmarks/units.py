"""Speed of every unit on English and Chinese: prints a table in Markdown, megabytes of UTF-8 a second.

    python benchmarks/units.py [DATA]

From texts in memory to band keys, in two threads, the best of three; DATA is the folder of the measuring corpora.
"""

import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import Recipe
from neardup.kernel import Threads
from neardup.pipeline import sign

DATA = Path(__file__).parents[2] / "shared" / "data"
CORPORA = {"licences": "licences", "cn_laws": "statutes, simplified", "tw_laws": "statutes, traditional"}
RECIPES = {
    "`char`": {"ngram": 5},
    "`char`, `--han simplified`": {"ngram": 5, "han": "simplified"},
    "`token`": {"unit": "token", "ngram": 5},
    "`word`": {"unit": "word", "ngram": 3},
    "`word`, `--stopwords default`": {"unit": "word", "ngram": 3, "stopwords": "default"},
}
MOST_BYTES = 32 << 20
N_RUNS = 3


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    columns = {name: column(data / f"{name}.parquet") for name in CORPORA}
    print(f"| unit | {' | '.join(CORPORA.values())} |")
    print("|---|" + "---:|" * len(CORPORA))
    with Threads(2) as threads:
        for name, fields in RECIPES.items():
            speeds = [f"{speed(texts, Recipe(**fields), threads):.0f}" for texts in columns.values()]
            print(f"| {name} | {' | '.join(speeds)} |", flush=True)


def column(path):
    """Return the first texts of a corpus, some 32 MB of them."""
    texts = pq.read_table(path, columns=["text"])["text"].cast(pa.large_binary()).combine_chunks()
    lengths = pc.cumulative_sum(pc.binary_length(texts)).to_numpy()
    return texts[: int((lengths < MOST_BYTES).sum())]


def speed(texts, recipe, threads):
    sign([texts[:10]], recipe, threads)  # compiles, and loads dictionaries
    best = float("inf")
    for _ in range(N_RUNS):
        start = time.perf_counter()
        sign([texts], recipe, threads)
        best = min(best, time.perf_counter() - start)
    return pc.sum(pc.binary_length(texts)).as_py() / 1e6 / best


if __name__ == "__main__":
    main()
