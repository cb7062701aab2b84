"""What a person sees: progress, the summary of a run, the S-curve. All on stderr, but for what was asked for."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from neardup.bands import approximate_threshold
from neardup.kernel import is_first_run
from neardup.recipe import Recipe
from neardup.stats import OnProgress, Stats, ignore

_STAGES: Final = {
    "frequencies": "count shingles",
    "sign": "read and sign",
    "candidates": "find candidates",
    "verify": "verify",
    "cluster": "cluster",
    "write": "write",
}
_PLOT_HEIGHT: Final = 12
_PLOT_WIDTH: Final = 61


@contextmanager
def progress(*, quiet: bool) -> Iterator[OnProgress]:
    """Give a callable that draws progress on a terminal; it does nothing where stderr is none, or with quiet."""
    if not quiet and is_first_run():
        print("neardup: first run on this machine: compiling, some ten seconds ...", file=sys.stderr)
    if quiet or not sys.stderr.isatty():
        yield ignore
        return
    # rich takes .1 s to load: only a run that is watched pays for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description:<16}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[done]:>14}"),
        TextColumn("{task.fields[rate]:>16}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, tuple[TaskID, float]] = {}

        def draw(stage: str, done: int, total: int | None) -> None:
            for other, (task, _) in tasks.items():
                if other != stage and not bars.tasks[task].finished:
                    bars.update(
                        task, total=max(1, bars.tasks[task].completed), completed=max(1, bars.tasks[task].completed)
                    )
            if stage not in tasks:
                tasks[stage] = bars.add_task(_STAGES[stage], total=None, done="", rate=""), time.monotonic()
            task, start = tasks[stage]
            rate = done / max(time.monotonic() - start, 1e-3)
            shown = {"done": f"{done:,} docs", "rate": f"{rate:,.0f} docs/s"} if done else {}
            bars.update(task, completed=done, total=total, **shown)  # type: ignore[arg-type]  # fields of our own

        yield draw


def summary(stats: Stats, outputs: Mapping[str, str]) -> None:
    """Print what a run did, for a person, on stderr."""
    seconds = sum(stats.seconds.values())
    near = stats.removed - stats.exact_copies if stats.exact_copies <= stats.removed else 0
    lines = [
        f"read      {stats.read:>12,}  records, {stats.text_bytes / 1e6:,.1f} MB of text, {seconds:,.1f} s",
        f"kept      {stats.kept:>12,}" + (f"  of them {stats.empty:,} without a shingle" if stats.empty else ""),
        f"removed   {stats.removed:>12,}  {stats.exact_copies:,} exact copies, {near:,} near-duplicates",
    ]
    if stats.against:
        lines.append(f"reference {stats.reference:>12,}  documents; {stats.removed_against:,} of the removed are in it")
    if stats.rejected:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in stats.rejected_reasons.items())
        lines.append(f"rejected  {stats.rejected:>12,}  {reasons}")
    lines.append(f"clusters  {stats.clusters:>12,}  {stats.candidates:,} candidate pairs, {stats.verified:,} verified")
    if stats.below_threshold:
        lines.append(f"below     {stats.below_threshold:>12,}  members below the threshold to their representative")
    if stats.pairs_not_compared:
        lines.append(
            f"left out  {stats.pairs_not_compared:>12,}  pairs in {stats.buckets_over_limit:,} crowded buckets, "
            "which the promised recall does not cover"
        )
        lines += [
            f"          {size:>12,}  like {text[:40]!r}" for text, size in list(stats.crowded_examples.items())[:3]
        ]
    if stats.shingles_dropped:
        common = ", ".join(repr(text) for text in list(stats.dropped_examples)[:3])
        lines.append(f"dropped   {stats.shingles_dropped:>12,}  shingles that too many texts have: {common}, ...")
    lines += [f"note      {note}" for note in stats.notes]
    lines += [f"{role:<9} -> {path}" for role, path in outputs.items() if path != "-"]
    print("\n".join(lines), file=sys.stderr)


def curve(recipe: Recipe) -> None:
    """Print the S-curve of a recipe as a table and a plot, on stdout."""
    bands, rows = recipe.cut
    unused = recipe.num_perm - bands * rows
    print(
        f"bands {bands}, rows {rows}: {bands * rows} of {recipe.num_perm} values"
        + (f", {unused} unused" if unused else "")
    )
    print(f"threshold {recipe.threshold:g}, promised recall {recipe.promised_recall:.6f}")
    what = "share of bits that agree" if recipe.sketch == "hyperplane" else "approximate threshold"
    print(f"{what} (1/b)^(1/r) = {approximate_threshold(bands, rows):.4f}")
    print("\nsimilarity  chance to be found")
    shown = sorted({step / 20 for step in range(21)} | {recipe.threshold})
    for similarity in shown:
        mark = "  <- threshold" if similarity == recipe.threshold else ""
        print(f"{similarity:>10.4g}  {recipe.chance(similarity):.6f}{mark}")
    print("\n" + "\n".join(_plot(recipe)))


def _plot(recipe: Recipe) -> Iterator[str]:
    chances = [recipe.chance(column / (_PLOT_WIDTH - 1)) for column in range(_PLOT_WIDTH)]
    at = round(recipe.threshold * (_PLOT_WIDTH - 1))
    for line in range(_PLOT_HEIGHT, -1, -1):
        cells = [
            "*" if round(chance * _PLOT_HEIGHT) == line else ":" if column == at else " "
            for column, chance in enumerate(chances)
        ]
        yield f"{line / _PLOT_HEIGHT:>5.2f} |{''.join(cells)}".rstrip()
    yield "      +" + "-" * _PLOT_WIDTH
    yield "       0" + "0.5".center(_PLOT_WIDTH - 2) + "1"
