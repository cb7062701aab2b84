"""The systems measured: how each is started, and how what it wrote is read.

Every system reads the same JSONL file and runs in a process of its own; peers in virtual environments of their own.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from corpora import Corpus, Documents
from score import Outcome, read_neardup, read_peer

NUM_PERM: Final = 128
_HERE: Final = Path(__file__).resolve().parent


class System(NamedTuple):
    """A system that can be measured.

    cleaning: the name in truth.CLEANINGS of what it does to texts before it compares them.
    command: corpus, folder of its outputs, interpreter -> the command line.
    read: folder of its outputs, documents -> what it did.
    requirement: what pip installs; None for neardup, which runs in this environment.
    """

    cleaning: str
    command: Callable[[Corpus, Path, Path], list[str]]
    read: Callable[[Path, Documents], Outcome]
    requirement: str | None = None


def interpreter(name: str, peers_venv: Path) -> Path:
    """Return the Python that runs a system; it need not be there."""
    return Path(sys.executable) if SYSTEMS[name].requirement is None else peers_venv / name / "bin" / "python"


def version_of(name: str, python: Path) -> str:
    """Return the version of a system that an interpreter has, or "not installed"."""
    ask = f"import importlib.metadata as m; print(m.version({name!r}))"
    answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else "not installed"


def make_peers(peers_venv: Path) -> None:
    """Make a virtual environment for each peer that has none, and install the peer."""
    for name, system in SYSTEMS.items():
        python = interpreter(name, peers_venv)
        if system.requirement is None or (python.exists() and version_of(name, python) != "not installed"):
            continue
        subprocess.run([sys.executable, "-m", "venv", peers_venv / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", system.requirement], check=True)


def _neardup_command(corpus: Corpus, folder: Path, python: Path) -> list[str]:
    outputs = {
        "--removed": "removed.jsonl",
        "--pairs": "pairs.jsonl",
        "--clusters": "clusters.jsonl",
        "--stats": "stats.json",
    }
    command = [str(python), "-m", "neardup", "dedup", str(corpus.path), "-o", str(folder / "kept.jsonl")]
    for flag, file in outputs.items():
        command += [flag, str(folder / file)]
    if corpus.plan.id_field is not None:
        command += ["--id-field", corpus.plan.id_field]
    command += ["--unit", "char", "--ngram", str(corpus.plan.ngram), "--threshold", str(corpus.plan.threshold)]
    return [*command, "--num-perm", str(NUM_PERM), "--quiet"]


def _peer_command(adapter: str) -> Callable[[Corpus, Path, Path], list[str]]:
    def command(corpus: Corpus, folder: Path, python: Path) -> list[str]:
        settings = (corpus.plan.ngram, corpus.plan.threshold, NUM_PERM)
        script = _HERE / "peers" / adapter
        return [str(python), str(script), str(corpus.path), str(folder / "out.json"), *map(str, settings)]

    return command


def _read_neardup(folder: Path, documents: Documents) -> Outcome:
    return read_neardup(folder, documents.ids, len(documents.texts))


def _read_peer(folder: Path, _documents: Documents) -> Outcome:
    return read_peer(folder / "out.json")


SYSTEMS: Final[dict[str, System]] = {
    "neardup": System("neardup", _neardup_command, _read_neardup),
    "datasketch": System("peers", _peer_command("datasketch_adapter.py"), _read_peer, "datasketch>=2"),
    "rensa": System("peers", _peer_command("rensa_adapter.py"), _read_peer, "rensa>=0.5"),
    "gaoya": System("peers", _peer_command("gaoya_adapter.py"), _read_peer, "gaoya>=0.2.2"),
}
