"""Error and speed of every family of sketches by the size of the sets: prints a table in Markdown.

    python benchmarks/sketches.py [NUM_PERM]

For each size 2,000 pairs of random sets at similarity .8 (of which the smallest can only come near), the root mean
square error of the estimate over the binomial bound sqrt(J(1 - J) / k), its bias, and the time a shingle takes.
"""

import sys
import time

import numpy as np

from neardup.schema import Shingles
from neardup.steps.sketch import FAMILIES

SIZES = (3, 10, 30, 100, 300, 1000, 3000)
N_PAIRS = 2000


def main() -> None:
    num_perm = int(sys.argv[1]) if len(sys.argv) > 1 else 128
    print(f"| family | {' | '.join(f'{size:,}' for size in SIZES)} |")
    print("|---|" + "---:|" * len(SIZES))
    for name, sketch in FAMILIES.items():
        cells = []
        for size in SIZES:
            error, bias, nanoseconds = measure(sketch, size, num_perm)
            cells.append(f"{error:.2f}, {bias:+.4f}, {nanoseconds:,.1f} ns")
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def measure(sketch, size, num_perm):
    shared = min(size - 1, round(size * 8 / 9))
    rng = np.random.default_rng(size)
    draws = rng.integers(1, 1 << 64, (N_PAIRS, 2 * size - shared), np.uint64)
    one, other = draws[:, :size], np.concatenate((draws[:, :shared], draws[:, size:]), axis=1)
    rows = np.stack((one, other), axis=1).reshape(2 * N_PAIRS, size)
    shingles = Shingles(rows.ravel(), np.arange(0, rows.size + 1, size))
    similarity = shared / (2 * size - shared)
    sketch(Shingles(rows[0], np.array([0, size])), num_perm)  # compiles
    start = time.perf_counter()
    signatures = sketch(shingles, num_perm)
    seconds = time.perf_counter() - start
    errors = (signatures[::2] == signatures[1::2]).mean(axis=1) - similarity
    bound = np.sqrt(similarity * (1 - similarity) / num_perm)
    return np.sqrt(np.mean(errors**2)) / max(bound, 1e-9), errors.mean(), seconds / rows.size * 1e9


if __name__ == "__main__":
    main()
