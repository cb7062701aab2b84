"""A million generated titles through SimHash, and through MinHash beside it: prints a table in Markdown.

    python benchmarks/titles.py [N_TITLES]

Titles have 4 to 12 words of a vocabulary of 50,000 with a long tail; one in five is a copy of another with a word
changed, of which every family finds what its measure allows.
"""

import random
import sys
import time
from itertools import accumulate

import pyarrow as pa

import neardup
from neardup import Recipe

_RECIPES = {
    "simhash, 3 of 64": Recipe(unit="char", ngram=3, sketch="simhash", num_perm=64, verify="estimate"),
    "simhash, 7 of 64": Recipe(unit="char", ngram=3, sketch="simhash", num_perm=64, distance=7, verify="estimate"),
    "simhash, 6 of 128": Recipe(unit="char", ngram=3, sketch="simhash", verify="estimate"),
    "simhash, 7 of 64, then Jaccard": Recipe(
        unit="char", ngram=3, sketch="simhash", num_perm=64, distance=7, threshold=0.7
    ),
    "minhash at .7": Recipe(unit="char", ngram=3, threshold=0.7),
    "minhash at .5": Recipe(unit="char", ngram=3, threshold=0.5),
}


def main() -> None:
    n_titles = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    table = pa.table({"text": pa.array(titles(n_titles), pa.large_string())})
    print("| recipe | seconds | candidates | pairs | planted found |\n|---|---:|---:|---:|---:|")
    n_planted = n_titles // 5
    for name, recipe in _RECIPES.items():
        neardup.dedup(table[:1000], recipe=recipe)  # compiles
        start = time.perf_counter()
        result = neardup.dedup(table, recipe=recipe)
        seconds = time.perf_counter() - start
        found = zip(result.pairs["id_a"].to_pylist(), result.pairs["id_b"].to_pylist(), strict=True)
        planted = sum(b == a + n_titles - n_planted for a, b in found)
        print(
            f"| {name} | {seconds:.1f} | {result.stats.candidates:,} | {result.pairs.num_rows:,} | "
            f"{planted / n_planted:.3f} |",
            flush=True,
        )


def titles(n_titles: int) -> list[str]:
    """Return titles; the last fifth are copies of the first ones, in order, with a word changed."""
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(50_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    n_copies = n_titles // 5
    firsts = [rng.choices(words, cum_weights=weights, k=rng.randint(4, 12)) for _ in range(n_titles - n_copies)]
    copies = []
    for first in firsts[:n_copies]:
        copy = list(first)
        copy[rng.randrange(len(copy))] = rng.choice(words)
        copies.append(copy)
    return [" ".join(title) for title in firsts + copies]


if __name__ == "__main__":
    main()
