"""Measure neardup and its peers side by side, and print one table: `python benchmarks/run.py`.

Makes the corpora, runs every system in a fresh process, scores what it wrote against exact truth, and writes the
figures with machine, versions, commit and date to one file a corpus in benchmarks/results/. See README.md.
"""

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from corpora import CORPORA, Corpus, Documents, missing_files, open_corpus, read_documents
from score import PairSets, score
from systems import NUM_PERM, SYSTEMS, interpreter, make_peers, version_of
from truth import CLEANINGS, exact_truth

from neardup.recipe import Recipe

Row: TypeAlias = dict[str, Any]

_HERE: Final = Path(__file__).resolve().parent
_BUILD: Final = _HERE.parent / "build" / "benchmarks"  # made again at will, never committed
_RESULTS: Final = _HERE / "results"
_WARM_UP_DOCS: Final = 500


class Run(NamedTuple):
    """What a run was asked for."""

    corpora: list[str]
    systems: list[str]
    data: Path
    n_docs: int | None
    repeat: int
    timeout_seconds: float
    memory_bytes: int
    peers_venv: Path


class Result(NamedTuple):
    """The figures of a corpus, a row a system."""

    corpus: str
    rows: dict[str, Row]


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    if options.make_peers:
        make_peers(options.peers_venv)
    print(table(_stored(options.corpus) if options.show else _measure_all(_run_of(options))))


def _measure_all(run: Run) -> list[Result]:
    """Measure every corpus that can be had on every system that is there; store the figures and return them."""
    ready = [name for name in run.systems if _is_ready(name, run)]
    warm_up = open_corpus("planted", run.data, _BUILD / "corpora", _WARM_UP_DOCS)
    for system in ready:
        _say(f"{system}: once on {warm_up.name}, not counted: a first run compiles")
        _launch(system, warm_up, run)
    results: list[Result] = []
    for name in run.corpora:
        missing = missing_files(name, run.data)
        if missing:
            _say(f"{name}: left out, no {', '.join(map(str, missing))}; point --data at the folder that holds it")
            continue
        corpus = open_corpus(name, run.data, _BUILD / "corpora", run.n_docs)
        measured = {system: _best(system, corpus, run) for system in ready}
        results.append(Result(corpus.name, _score_all(corpus, measured)))
        _store(corpus, results[-1].rows)
    return results


def _is_ready(system: str, run: Run) -> bool:
    python = interpreter(system, run.peers_venv)
    if python.exists():
        return True
    _say(f"{system}: left out, no {python}; make it with --make-peers")
    return False


def _best(system: str, corpus: Corpus, run: Run) -> Row:
    """Return the figures of the fastest of the runs, or of the first that failed."""
    rows = []
    for turn in range(run.repeat):
        _say(f"{system}: {corpus.name}, run {turn + 1} of {run.repeat}")
        rows.append(_launch(system, corpus, run))
        if "failed" in rows[-1]:
            return rows[-1]
    best = min(rows, key=lambda row: float(row["seconds"]))
    python = interpreter(system, run.peers_venv)
    return {**best, "seconds_of_runs": [row["seconds"] for row in rows], "version": version_of(system, python)}


def _launch(system: str, corpus: Corpus, run: Run) -> Row:
    """Run a system on a corpus in a fresh process and an empty folder; return seconds, memory, or why it failed."""
    folder = _folder(system, corpus)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = SYSTEMS[system].command(corpus, folder, interpreter(system, run.peers_venv))
    measured, log = folder / "measured.json", folder / "log.txt"
    limits = (str(run.timeout_seconds), str(run.memory_bytes))
    subprocess.run([sys.executable, _HERE / "launch.py", measured, log, *limits, *command], check=True)
    row: Row = json.loads(measured.read_bytes())
    if row.pop("timed_out"):
        row["failed"] = f"longer than {run.timeout_seconds:g} s"
    elif row["exit_code"] != 0:
        last_lines = log.read_text(errors="replace").strip().splitlines()[-1:]
        row["failed"] = f"exit {row['exit_code']}: {' '.join(last_lines)[:200]}"
    if "failed" in row:
        _say(f"{system}: {corpus.name}: {row['failed']} ({log})")
    return row


def _score_all(corpus: Corpus, measured: dict[str, Row]) -> dict[str, Row]:
    """Return the rows of a corpus, the figures of what each system found beside those of its run."""
    documents = read_documents(corpus)
    truths: dict[str, PairSets] = {}
    rows = {}
    for system, row in measured.items():
        about = {"n_docs": len(documents.texts), "text_bytes": documents.text_bytes, "measured": _circumstances()}
        rows[system] = {**row, **about}
        if "failed" in row:
            continue
        cleaning = SYSTEMS[system].cleaning
        if cleaning not in truths:
            truths[cleaning] = _truth(corpus, documents, cleaning)
        try:
            outcome = SYSTEMS[system].read(_folder(system, corpus), documents)
        except (ValueError, LookupError, OSError) as error:  # one system's bad files must not cost the others' figures
            rows[system]["failed"] = f"outputs not understood: {error!r}"[:200]
            continue
        rows[system].update(score(outcome, truths[cleaning])._asdict())
    return rows


def _truth(corpus: Corpus, documents: Documents, cleaning: str) -> PairSets:
    plan = corpus.plan
    if plan.known_truth is not None:
        return plan.known_truth(documents.texts)
    _say(f"truth: {corpus.name} as {cleaning} cleans it, counted if it is not in {_BUILD / 'truths'}")
    recipe = Recipe(unit="char", ngram=plan.ngram, threshold=plan.threshold)
    return exact_truth(CLEANINGS[cleaning](documents.texts, recipe), plan.ngram, plan.threshold, _BUILD / "truths")


def _folder(system: str, corpus: Corpus) -> Path:
    return _BUILD / "runs" / corpus.name / system


def _store(corpus: Corpus, rows: dict[str, Row]) -> None:
    """Write the rows of a corpus, those of systems that were not run now left as they were."""
    path = _RESULTS / f"{corpus.name}.json"
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_bytes())["rows"] if path.exists() else {}
    settings = {"unit": "char", "ngram": corpus.plan.ngram, "threshold": corpus.plan.threshold, "num_perm": NUM_PERM}
    merged = {system: (before | rows)[system] for system in SYSTEMS if system in before | rows}
    written = {"corpus": corpus.name, "settings": settings, "rows": merged}
    path.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _stored(names: list[str]) -> list[Result]:
    """Return what is stored of these corpora, of all their sizes, in the order of CORPORA."""
    paths = [path for name in names for path in sorted(_RESULTS.glob(f"{name}*.json"))]
    stored = [json.loads(path.read_bytes()) for path in paths]
    return [Result(result["corpus"], result["rows"]) for result in stored]


def table(results: list[Result]) -> str:
    """Return results as one Markdown table."""
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + "---|" * 2 + "---:|" * (len(_COLUMNS) - 2)]
    for corpus, rows in results:
        lines += [f"| {corpus} | {_cells(system, row)} |" for system, row in rows.items()]
    return "\n".join(lines)


_COLUMNS: Final = (
    "corpus",
    "system",
    "seconds",
    "MB/s",
    "peak MB",
    "pair precision",
    "pair recall",
    "removed",
    "below threshold",
)


def _cells(system: str, row: Row) -> str:
    label = f"{system} {row.get('version', '')}".strip()
    if "failed" in row:
        return " | ".join((label, str(row["failed"]).replace("|", "/"), *[""] * (len(_COLUMNS) - 3)))
    return " | ".join(
        (
            label,
            f"{row['seconds']:.2f}",
            f"{row['text_bytes'] / 1e6 / row['seconds']:.1f}",
            f"{row['peak_memory_bytes'] / 1e6:,.0f}",
            f"{row['precision']:.4f}",
            f"{row['recall']:.4f}",
            f"{row['removed']:,}",
            f"{row['removed_below_threshold']:,}",
        )
    )


def _circumstances() -> Row:
    """Return machine, versions, commit and date, without which a figure says little."""
    packages = {name: version_of(name, Path(sys.executable)) for name in ("neardup", "numpy", "numba", "pyarrow")}
    return {
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "versions": {"python": platform.python_version(), **packages},
    }


def _commit() -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    describe = [git, "-C", str(_HERE), "describe", "--always", "--dirty", "--abbrev=12"]
    answer = subprocess.run(describe, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _run_of(options: argparse.Namespace) -> Run:
    memory_bytes = int(options.memory_gb * 1e9) if options.memory_gb else _memory_bytes() * 4 // 5
    return Run(
        options.corpus,
        options.systems,
        options.data,
        options.docs,
        options.repeat,
        options.timeout,
        memory_bytes,
        options.peers_venv,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure neardup and its peers side by side.")
    add = parser.add_argument
    add("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA), metavar="NAME", help=f"of {', '.join(CORPORA)}")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), metavar="NAME", help=f"of {', '.join(SYSTEMS)}")
    add("--repeat", type=int, default=1, metavar="N", help="runs of each, of which the fastest counts")
    add("--docs", type=int, metavar="N", help="documents in a generated corpus, instead of the usual number")
    add("--data", type=Path, default=_HERE.parent.parent / "shared" / "data", metavar="DIR", help="measuring corpora")
    add("--timeout", type=float, default=600, metavar="SECONDS", help="after which a run is ended and said to fail")
    add("--memory-gb", type=float, metavar="GB", help="a run may ask for; four fifths of the machine's if not given")
    add("--peers-venv", type=Path, default=_BUILD / "peers", metavar="DIR", help="one virtual environment a peer")
    add("--make-peers", action="store_true", help="make those environments first, with pip")
    add("--show", action="store_true", help="measure nothing, print the table of what is stored")
    return parser


if __name__ == "__main__":
    main()
