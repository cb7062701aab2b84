"""Vectors with planted near-copies through random hyperplanes, beside all cosines: prints a table in Markdown.

    python benchmarks/vectors.py [N_VECTORS] [DIMENSION]

One in five vectors is a copy of another, turned by an angle whose cosine is from .8 to 1; the others are strangers.
What there is to find is told by comparing all with all, in blocks, as a user with NumPy would.
"""

import sys
import time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import neardup
from neardup import Recipe

_BLOCK = 2000


def main() -> None:
    n_vectors = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    dimension = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    vectors = planted(n_vectors, dimension)
    table = pa.table({"text": pa.FixedSizeListArray.from_arrays(vectors.ravel(), dimension)})
    print(f"\n{n_vectors:,} vectors of {dimension} numbers\n")
    print("| way | threshold | seconds | candidates | pairs | recall |\n|---|---:|---:|---:|---:|---:|")
    start = time.perf_counter()
    close = all_pairs(vectors, 0.8)
    print(f"| all with all, NumPy | 0.8 | {time.perf_counter() - start:.1f} | | {len(close):,} | |")
    neardup.dedup(table.slice(0, 1000), recipe=Recipe.preset("vector"))
    for threshold in (0.8, 0.9, 0.95):
        recipe = Recipe.preset("vector").replace(threshold=threshold)
        start = time.perf_counter()
        result = neardup.dedup(table, recipe=recipe)
        seconds = time.perf_counter() - start
        pairs = result.pairs.to_pydict()
        found = set(zip(pairs["id_a"], pairs["id_b"], strict=True))
        there = {pair for pair, similarity in close.items() if similarity >= threshold}
        print(
            f"| neardup, {recipe.cut.bands} bands of {recipe.cut.rows} | {threshold} | {seconds:.1f} | "
            f"{result.stats.candidates:,} | {len(found):,} | {len(found & there) / len(there):.4f} |",
            flush=True,
        )


def planted(n_vectors: int, dimension: int) -> NDArray[np.float32]:
    """Return vectors, the last fifth near-copies of the first."""
    rng = np.random.default_rng(20_240_229)
    vectors = rng.normal(size=(n_vectors, dimension))
    n_copies = n_vectors // 5
    cosines = rng.uniform(0.8, 1.0, n_copies)
    originals = vectors[:n_copies]
    noise = vectors[-n_copies:] * (np.sqrt(1 - cosines**2) / cosines)[:, None]
    vectors[-n_copies:] = originals + noise  # nearly at a right angle, as strangers in many dimensions are
    return vectors.astype(np.float32)


def all_pairs(vectors: NDArray[np.float32], threshold: float) -> dict[tuple[int, int], float]:
    """Return the pairs at or above the threshold with their cosines."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: dict[tuple[int, int], float] = {}
    for first in range(0, len(unit), _BLOCK):
        cosines = unit[first : first + _BLOCK] @ unit[first:].T
        for a, b in np.argwhere(cosines >= threshold).tolist():
            if a < b:
                found[first + a, first + b] = float(cosines[a, b])
    return found


if __name__ == "__main__":
    main()
