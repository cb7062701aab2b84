"""Counts that add up, seconds a stage, peak memory, versions: what a run says of itself."""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from neardup.recipe import Recipe

OnProgress: TypeAlias = Callable[[str, int, int | None], None]


def ignore(stage: str, done: int, total: int | None) -> None:
    """Take no notice of progress: `done` of `total` (None where unknown) of a stage."""


@dataclass(slots=True)
class Stats:
    """What a run says of itself; `to_dict` for machines.

    `dropped_examples`: shingles that did not count, most common first, with the number of texts that have them.
    Counts of records: read = kept + removed + rejected. `empty` documents have no shingle; they are among the kept.
    `crowded_examples`: beginnings of texts that share a bucket with so many that not all pairs were compared.
    `reference` documents were read of `against`, and `removed_against` were removed in the stead of one of them.
    `temporary_bytes` were written to temporary files, for want of memory. `seconds` each stage took; `bytes_by_stage`,
    what each keeps for the next ones.
    """

    recipe: dict[str, object]
    fingerprint: str
    bands: int
    rows: int
    promised_recall: float
    inputs: list[str] = field(default_factory=list)
    within: str | None = None
    against: list[str] = field(default_factory=list)
    reference: int = 0
    reference_rejected: int = 0
    removed_against: int = 0
    read: int = 0
    kept: int = 0
    removed: int = 0
    rejected: int = 0
    rejected_reasons: dict[str, int] = field(default_factory=dict)
    rejected_examples: dict[str, str] = field(default_factory=dict)
    empty: int = 0
    exact_copies: int = 0
    shingles_dropped: int = 0
    dropped_examples: dict[str, int] = field(default_factory=dict)
    candidates: int = 0
    verified: int = 0
    clusters: int = 0
    below_threshold: int = 0
    buckets: int = 0
    buckets_over_limit: int = 0
    pairs_not_compared: int = 0
    crowded_examples: dict[str, int] = field(default_factory=dict)
    text_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    bytes_by_stage: dict[str, int] = field(default_factory=dict)
    temporary_bytes: int = 0
    peak_memory_bytes: int = 0
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe) -> "Stats":
        """Return the statistics of a run that is about to begin."""
        return cls(asdict(recipe), recipe.fingerprint, *recipe.cut, round(recipe.promised_recall, 6))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds of a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 3)

    def finish(self) -> None:
        """Fill in what is known only at the end, and hold the counts against one another."""
        assert self.read == self.kept + self.removed + self.rejected, self
        self.peak_memory_bytes = peak_memory_bytes()
        names = ("neardup", "numpy", "numba", "pyarrow")
        self.versions = {"python": platform.python_version(), **{name: version(name) for name in names}}
        asked = {"rjieba": self.recipe["unit"] == "word", "OpenCC": self.recipe["han"] == "simplified"}
        for name in (name for name, is_asked in asked.items() if is_asked):
            with suppress(PackageNotFoundError):  # texts without Chinese do not need it
                self.versions[name] = version(name)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        return asdict(self)


def usual_memory_bytes() -> int:
    """Return half of the memory that the machine has, or 4 GB where it does not tell."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def peak_memory_bytes() -> int:
    """Return the most memory this process held at once, in bytes; 0 where the system does not tell."""
    try:
        import resource  # noqa: PLC0415  # not there on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
