"""How well each way to compare texts tells copies from strangers, and what it costs: prints tables in Markdown.

    python benchmarks/quality.py [--data DIR] [--code OLDER NEWER] [--sets NAME...]

Each set is texts with labels. All pairs of a sample are compared, exactly, and the threshold that tells texts of one
label best from others is looked for. It decides the presets; see README.md.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.background import background, count_frequencies
from neardup.kernel import Threads
from neardup.pipeline import compare, evidence, sign
from neardup.recipe import Recipe
from neardup.schema import Candidates, texts_of

_DATA: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
_SEED: Final = 20_240_229
_SAMPLE: Final = 1_500  # documents of which all pairs are compared
_STRANGERS: Final = 10  # pairs of strangers drawn for each labelled pair
_SHOWN: Final = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
_THRESHOLDS: Final = np.arange(0.04, 1.0, 0.02).round(2)


class Gold(NamedTuple):
    """Texts, and pairs of them of which it is known whether they are copies.

    a, b: int64[n_pairs]; a < b. is_copy: bool[n_pairs].
    """

    texts: list[str]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    is_copy: NDArray[np.bool_]


class Point(NamedTuple):
    """How a recipe tells copies from strangers.

    scores: (precision, recall, F1) at each of _THRESHOLDS. megabytes: text signed a second of processor time.
    """

    scores: list[tuple[float, float, float]]
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--code", type=Path, nargs=2, help="two versions of one source tree")
    parser.add_argument("--sets", nargs="+", default=[*SETS, "code"])
    parser.add_argument("--unit", nargs="+", default=["char", "word", "token"])
    options = parser.parse_args()
    for name in options.sets:
        if name == "code" and not options.code:
            print("code: left out, for want of --code OLDER NEWER.")
            continue
        gold = code(*options.code) if name == "code" else SETS[name](options.data)
        copies, strangers = np.count_nonzero(gold.is_copy), np.count_nonzero(~gold.is_copy)
        print(f"\n{name}: {len(gold.texts):,} texts, {copies:,} pairs of copies, {strangers:,} of strangers\n")
        print(f"| recipe | best F1 | at | as good | {' | '.join(f'{shown:.1f}' for shown in _SHOWN)} | MB a second |")
        print("|---|" + "---:|" * (len(_SHOWN) + 4))
        for title, recipe in recipes(name, options.unit):
            print(f"| {title} | {row(measure(gold, recipe))} |", flush=True)


def row(point: Point) -> str:
    f1 = np.array([score[2] for score in point.scores])
    best = int(f1.argmax())
    precision, recall, _ = point.scores[best]
    good = _THRESHOLDS[f1 >= f1[best] - 0.01]
    shown = " | ".join(f"{f1[np.abs(_THRESHOLDS - threshold).argmin()]:.3f}" for threshold in _SHOWN)
    return (
        f"{f1[best]:.3f} (P {precision:.3f}, R {recall:.3f}) | {_THRESHOLDS[best]:.2f} | "
        f"{good[0]:.2f} to {good[-1]:.2f} | {shown} | {point.megabytes:.0f}"
    )


def recipes(name: str, units: list[str]) -> Iterator[tuple[str, Recipe]]:
    """Yield what is tried on a set, with a name: every unit and n, then every measure with those of the preset."""
    preset = Recipe.preset(PRESET_OF[name])
    plain = preset.replace(sketch="minhash")
    for unit, sizes in {"char": (2, 3, 4, 5, 7), "word": (1, 2, 3, 5), "token": (1, 2, 3, 5)}.items():
        for ngram in sizes if unit in units else ():
            yield f"`{unit}` {ngram}", plain.replace(unit=unit, ngram=ngram)
    for title, choices in {
        "weighted by count": {"sketch": "weighted", "weights": "count"},
        "weighted by TF-IDF": {"sketch": "weighted", "weights": "tfidf"},
        "simhash of 64 bits": {"sketch": "simhash", "num_perm": 64, "distance": 7, "verify": "estimate"},
        "simhash of 128 bits": {"sketch": "simhash", "num_perm": 128, "distance": 14, "verify": "estimate"},
    }.items():
        yield f"`{plain.unit}` {plain.ngram}, {title}", plain.replace(**choices)


def measure(gold: Gold, recipe: Recipe) -> Point:
    """Return the best threshold of a recipe on labelled pairs."""
    column = pa.array([text.encode("utf-8", "surrogatepass") for text in gold.texts], pa.large_binary())
    with Threads(2) as threads:
        known = background(count_frequencies([column], recipe, threads), recipe) if recipe.wants_frequencies else None
        list(sign([column[:50]], recipe, threads, known))  # compiles
        start = time.process_time()
        n_counted = np.concatenate([part.n_counted for part in sign([column], recipe, threads, known)])
        seconds = time.process_time() - start
        held = evidence(np.arange(len(column)), [column], int(n_counted.sum()), recipe, threads, known)
        pairs = compare(Candidates(gold.a, gold.b), held, recipe, threads, threshold=0.0)
    similarity = np.where((n_counted[gold.a] > 0) & (n_counted[gold.b] > 0), pairs.similarity, 0.0)
    scores = [bcubed(gold, similarity >= threshold) for threshold in _THRESHOLDS]
    return Point(scores, texts_of(column).data.size / 1e6 / max(seconds, 1e-9))


def bcubed(gold: Gold, found: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the neighbors of a text, itself among them, on average over the texts."""
    n_docs = len(gold.texts)

    def degrees(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return 1 + np.bincount(gold.a[chosen], minlength=n_docs) + np.bincount(gold.b[chosen], minlength=n_docs)

    right = degrees(found & gold.is_copy)
    precision, recall = float(np.mean(right / degrees(found))), float(np.mean(right / degrees(gold.is_copy)))
    return precision, recall, 2 * precision * recall / (precision + recall)


def labelled(rows: Iterable[tuple[str, str]]) -> Gold:
    """Return all pairs of a sample of texts (label, text): whole labels, drawn at random until there are enough."""
    groups = defaultdict(list)
    for label, text in rows:
        groups[label].append(text)
    labels = sorted(groups)
    rng = random.Random(_SEED)
    rng.shuffle(labels)
    drawn: list[tuple[int, str]] = []
    for number, label in enumerate(labels):
        members = sorted(set(groups[label]))
        drawn += [(number, text) for text in rng.sample(members, min(len(members), 20))]
        if len(drawn) >= _SAMPLE:
            break
    numbers = np.array([number for number, _ in drawn])
    a, b = (ends.astype(np.int64) for ends in np.triu_indices(len(drawn), 1))
    return Gold([text for _, text in drawn], a, b, numbers[a] == numbers[b])


def _rows(data: Path, file: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    for batch in pq.ParquetFile(data / f"{file}.parquet").iter_batches(10_000, columns=columns):
        yield from zip(*(batch[name].to_pylist() for name in columns), strict=True)


def licences(data: Path) -> Gold:
    """Return full texts of licenses."""
    rows = _rows(data, "licences", ["label", "text", "kind", "nwords"])
    return labelled(
        (label, text)
        for label, text, kind, words in rows
        if kind in ("canonical", "text") and words >= 50 and label and " " not in label
    )


def titles(data: Path) -> Gold:
    """Return notices, tags and introductions of licenses: a line or a few."""
    rows = _rows(data, "licences", ["label", "text", "kind"])
    return labelled(
        (label, text) for label, text, kind in rows if kind in ("notice", "tag", "intro") and label and " " not in label
    )


def poems(data: Path) -> Gold:
    """Return poems in two editions, and strangers drawn at random."""
    editions = [row for row in _rows(data, "poem_editions", ["a", "b", "label", "identical"]) if not row[3]]
    random.Random(_SEED).shuffle(editions)
    editions = editions[: _SAMPLE * 4]
    place: dict[str, int] = {}
    ends = [[place.setdefault(id, len(place)) for id in row[:2]] for row in editions]
    texts = dict(_rows(data, "poems", ["id", "text"]))
    rng = np.random.default_rng(_SEED)
    strangers = rng.integers(0, len(place), (_STRANGERS * len(ends), 2))
    pairs = np.sort(np.concatenate((np.array(ends), strangers)), axis=1)
    is_copy = np.concatenate(([bool(row[2]) for row in editions], np.zeros(len(strangers), np.bool_)))
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    is_pair = pairs[:, 0] != pairs[:, 1]
    a, b = pairs[is_pair].T
    return Gold([texts[id] for id in place], a.copy(), b.copy(), is_copy[first][is_pair])


def laws(data: Path) -> Gold:
    """Return statutes: revisions of one law are copies, laws made after one template are strangers."""
    rows = list(_rows(data, "cn_laws", ["label", "text", "id"]))
    sizes = Counter(label for label, _, _ in rows)
    revised = [(label, text) for label, text, _ in rows if sizes[label] > 1]
    others = [(id, text) for label, text, id in rows if sizes[label] == 1]
    return labelled([*revised, *random.Random(_SEED).sample(others, _SAMPLE // 4)])


def code(*trees: Path) -> Gold:
    """Return Python files of two versions of one source tree; those at one path are copies."""
    files = [
        (str(path.relative_to(tree)), path.read_text(encoding="utf-8", errors="replace"))
        for tree in trees
        for path in sorted(tree.rglob("*.py"))
        if path.stat().st_size > 200
    ]
    return labelled(files)


PRESET_OF: Final = {"titles": "title", "licences": "document", "poems": "article", "laws": "document", "code": "code"}
SETS: Final = {"licences": licences, "titles": titles, "poems": poems, "laws": laws}

if __name__ == "__main__":
    main()
