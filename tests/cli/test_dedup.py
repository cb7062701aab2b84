"""The command, as its users call it."""

import gc
import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import neardup
from neardup import cli

LINES = ['{"id": 7, "text": "The harbor reopened on Monday."}', '{"id": 8, "text": "the harbor  reopened on monday!"}',
         '{"id": 9, "text": "港口恢复通航。"}']  # fmt: skip


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Return a function that runs the command line with these words, in this process."""
    monkeypatch.setattr("neardup.cli.render.is_first_run", lambda: False)

    def call(*words: str | Path, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli._end()
        sys.stdout.flush()
        return Ended(code, *capfd.readouterr())

    return call


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a file of three records, two of them equal after cleaning."""
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_outputs_hold_what_they_promise(run: Any, source: Path, tmp_path: Path) -> None:
    """Kept lines are the bytes they were; the others are by the contract; the summary is on stderr."""
    paths = {role: tmp_path / f"{role}.jsonl" for role in ("kept", "removed", "clusters", "pairs")}
    stats = tmp_path / "stats.json"

    ended = run("dedup", source, "-o", paths["kept"], "--removed", paths["removed"], "--clusters", paths["clusters"],
                "--pairs", paths["pairs"], "--stats", stats, "--id-field", "id")  # fmt: skip

    assert (0, "") == (ended.code, ended.out)
    assert "read" in ended.err
    assert "removed" in ended.err
    assert [LINES[0], LINES[2]] == paths["kept"].read_text(encoding="utf-8").splitlines()
    assert LINES[1][:-1] + ',"kept_id":7,"similarity":1.0}\n' == paths["removed"].read_text(encoding="utf-8")
    assert [
        {"id": 7, "cluster_id": 7, "kept": True, "similarity": 1.0},
        {"id": 8, "cluster_id": 7, "kept": False, "similarity": 1.0},
    ] == [json.loads(line) for line in paths["clusters"].read_text().splitlines()]
    assert [{"id_a": 7, "id_b": 8, "similarity": 1.0}] == [
        json.loads(x) for x in paths["pairs"].read_text().splitlines()
    ]
    told = json.loads(stats.read_text())
    assert (3, 2, 1, 0, 1) == tuple(told[name] for name in ("read", "kept", "removed", "rejected", "exact_copies"))
    assert told["recipe"]["ngram"] == 5
    assert told["fingerprint"]
    assert told["peak_memory_bytes"] > 0
    assert {"sign", "candidates", "verify"} == set(told["bytes_by_stage"])
    assert {"sign", "candidates", "verify", "cluster", "write"} == set(told["seconds"])
    assert not list(tmp_path.glob(".*"))


def test_stdin_to_stdout_is_records_only(run: Any, tmp_path: Path) -> None:
    """A pipe gets records and nothing else; messages go to stderr; the format is that of the input; nothing is left."""
    ended = run("dedup", "-", "-o", "-", "--temp-dir", tmp_path, stdin="\n".join(LINES).encode())
    gc.collect()

    assert (0, f"{LINES[0]}\n{LINES[2]}\n") == (ended.code, ended.out)
    assert [] == list(tmp_path.iterdir())


def test_quiet_says_nothing(run: Any, source: Path, tmp_path: Path) -> None:
    """No summary, no progress."""
    assert Ended(0, "", "") == run("dedup", source, "-o", tmp_path / "kept.jsonl", "--quiet")


def test_a_recipe_file_is_overridden_by_flags(run: Any, source: Path, tmp_path: Path) -> None:
    """Flags win over the file, the file over the defaults; the statistics echo the outcome."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('unit = "word"\nngram = 2\nthreshold = 0.5\n')

    run("dedup", source, "-o", tmp_path / "k.jsonl", "--stats", tmp_path / "s.json", "--recipe", recipe, "--ngram", "3")

    told = json.loads((tmp_path / "s.json").read_text())["recipe"]
    assert ("word", 3, 0.5, 128) == (told["unit"], told["ngram"], told["threshold"], told["num_perm"])


def test_a_preset_is_overridden_by_flags(run: Any, source: Path, tmp_path: Path) -> None:
    """A preset stands where the defaults stood; the statistics echo the outcome."""
    run("dedup", source, "-o", tmp_path / "k.jsonl", "--stats", tmp_path / "s.json", "--preset", "code", "--ngram", "2")

    told = json.loads((tmp_path / "s.json").read_text())["recipe"]
    assert ("weighted", "keep", 2) == (told["sketch"], told["punct"], told["ngram"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--threshold", "80"], "threshold is a share above 0 and at most 1 (0.8, not 80), not 80."),
        (["--threshold", "0,8"], "'--threshold'"),
        (["--threshold", "nan"], "not nan."),
        (["--ngram", "5.5"], "'--ngram'"),
        (["--ngram", "33"], "ngram is a whole number from 1 to 32, not 33."),
        (["--bands", "13", "--rows", "60"], "13 x 60 = 780"),
        (["--unit", "letter"], "'letter' is not one of"),
        (["--treshold", "0.5"], "No such option"),
        (["--keep", "best"], "keep is one of"),
        (["--threads", "0"], "threads is at least 1, not 0."),
        (["--text-field", "Text"], "no field 'Text'; the record has id, text (did you mean 'text'?)."),
        (["--id-field", "key"], "no field 'key'; the record has id, text. Choose the field with --id-field,"),
        (["--format", "xml"], "--format is one of txt, jsonl, csv, tsv, parquet, arrow; not 'xml'."),
        (["--encoding", "latin99"], "there is no encoding 'latin99'"),
        (["--recipe", "nowhere.toml"], "nowhere.toml: cannot read the recipe"),
        (["--recipe", "nowhere.toml", "--preset", "code"], "--preset and --recipe each give a whole recipe; take one,"),
        (["--preset", "novel"], "'novel' is not one of 'title', 'article'"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(
    run: Any, source: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    """The line names what was wrong; nothing is written."""
    ended = run("dedup", source, "-o", tmp_path / "kept.jsonl", *words)

    assert 2 == ended.code
    assert said in ended.err
    assert 1 == len(ended.err.strip().splitlines()), ended.err
    assert ended.err.startswith("neardup: ")
    assert [source] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["in.jsonl", "./x/../in.jsonl", "link.jsonl", "hard.jsonl"])
def test_output_over_input_is_refused(run: Any, source: Path, tmp_path: Path, name: str) -> None:
    """The input by another name, by a link of either kind, is not written to."""
    before = source.read_bytes()
    (tmp_path / "x").mkdir()
    (tmp_path / "link.jsonl").symlink_to(source)
    os.link(source, tmp_path / "hard.jsonl")

    ended = run("dedup", source, "-o", f"{tmp_path}/{name}")

    assert 2 == ended.code
    assert "is an input and an output" in ended.err
    assert before == source.read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-o", "{}/kept.jsonl", "--removed", "{}/kept.jsonl"], 2, "is to hold both 'kept' and 'removed'"),
        (["-o", "{}/none/kept.jsonl"], 2, "there is no folder"),
        (["-o", "{}/kept"], 2, "cannot tell the format to write"),
        (["-o", "{}"], 2, "cannot tell the format"),
        (["-o", "{}/kept.jsonl", "--pairs", "{}/pairs.txt"], 2, "has no columns for what 'pairs' holds"),
    ],
)
def test_bad_outputs_are_refused_before_anything_is_read(
    run: Any, source: Path, tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    """One line, and no file."""
    ended = run("dedup", source, *(word.format(tmp_path) for word in words))

    assert code == ended.code
    assert said in ended.err
    assert [source] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: no such file."),
        (["{}/*.csv"], "matches no file."),
        (["{}/empty"], "no files to read in this folder"),
        (["{}/odd.xyz"], "cannot tell its format; known suffixes: .txt"),
        ([], "Missing argument"),
    ],
)
def test_nothing_to_read_is_code_2(run: Any, tmp_path: Path, words: list[str], said: str) -> None:
    """A missing file, an empty folder, a glob without match, an unknown suffix."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.xyz").touch()

    ended = run("dedup", *(word.format(tmp_path) for word in words), "-o", tmp_path / "kept.jsonl")

    assert 2 == ended.code
    assert said in ended.err


def test_the_same_folder_again_gives_the_same_counts(run: Any, tmp_path: Path) -> None:
    """An output in the folder that is read is not read; files named twice are read once; hidden ones not at all."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"text": "from file {name}"}}\n')
    (tmp_path / ".hidden.jsonl").write_text("broken")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    results = [
        run("dedup", tmp_path, f"{tmp_path}/*.jsonl", "-o", tmp_path / "kept.jsonl", "--stats", tmp_path / "s.json")
        for _ in range(3)
    ]

    assert [0, 0, 0] == [ended.code for ended in results]
    assert 2 == json.loads((tmp_path / "s.json").read_text())["read"]


def test_a_failed_run_leaves_nothing(run: Any, tmp_path: Path) -> None:
    """A bad record late in the input: code 2, the old output untouched, no temporary file."""
    source, kept = tmp_path / "in.jsonl", tmp_path / "kept.jsonl"
    source.write_text("\n".join([*LINES, '{"text": "cut']))
    kept.write_text("old")

    ended = run("dedup", source, "-o", kept)

    assert 2 == ended.code
    assert f"{source}:4: broken JSON: Unterminated string" in ended.err
    assert "old" == kept.read_text()
    assert {source, kept} == set(tmp_path.iterdir())


def test_output_to_a_full_disk_is_one_line(source: Path) -> None:
    """An output that cannot be written ends the run with code 1 and names it."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = [sys.executable, "-m", "neardup", "dedup", str(source), "-o", "-", "--quiet"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)

    assert 1 == ended.returncode
    assert "neardup: -: cannot be written: No space left on device." in ended.stderr


def test_a_closed_pipe_ends_quietly(source: Path) -> None:
    """No trace on stderr when the reader of the pipe has gone."""
    big = source.with_name("big.jsonl")
    big.write_text("".join(f'{{"text": "line {k} of many {k * k}"}}\n' for k in range(50_000)))
    command = f"{sys.executable} -m neardup dedup {big} -o - --quiet | head -1"

    ended = subprocess.run(["bash", "-c", command], capture_output=True, check=False, text=True)

    assert ('{"text": "line 0 of many 0"}\n', "") == (ended.stdout, ended.stderr)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_the_run_without_a_trace(tmp_path: Path, name: str, code: int) -> None:
    """Interrupted while it reads from a pipe: the code says so, no output, no temporary file."""
    import signal

    command = [sys.executable, "-m", "neardup", "dedup", "-", "-o", "kept.jsonl", "--temp-dir", "."]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b'{"text": "a"}\n')
    process.stdin.flush()
    for _ in range(200):
        if list(tmp_path.iterdir()):
            break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
    process.send_signal(getattr(signal, name))

    _, err = process.communicate(timeout=30)

    assert code == process.returncode, err
    assert [] == list(tmp_path.iterdir())


def test_gzip_goes_through(run: Any, tmp_path: Path) -> None:
    """Compressed in, compressed out, the same bytes each time."""
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(gzip.compress("\n".join(LINES).encode()))

    run("dedup", source, "-o", tmp_path / "kept.jsonl.gz")
    first = (tmp_path / "kept.jsonl.gz").read_bytes()
    run("dedup", source, "-o", tmp_path / "kept.jsonl.gz")

    assert f"{LINES[0]}\n{LINES[2]}\n" == gzip.decompress(first).decode()
    assert first == (tmp_path / "kept.jsonl.gz").read_bytes()


def test_curve_shows_the_promise(run: Any) -> None:
    """Bands, the promised recall by the formula, the textbook's threshold, a table and a plot."""
    ended = run("curve", "--threshold", "0.8", "--bands", "20", "--rows", "5")

    assert 0 == ended.code
    assert "bands 20, rows 5: 100 of 128 values, 28 unused" in ended.out
    assert f"promised recall {1 - (1 - 0.8**5) ** 20:.6f}" in ended.out
    assert "(1/b)^(1/r) = 0.5493" in ended.out
    assert "<- threshold" in ended.out
    assert "1.00 |" in ended.out


def test_a_first_run_says_that_it_compiles(source: Path, tmp_path: Path) -> None:
    """Where no kernel was kept yet, the wait is announced; where they are, it is not."""
    from neardup.kernel import is_first_run

    cache = tmp_path / "cache"
    cache.mkdir()
    command = [sys.executable, "-m", "neardup", "dedup", str(source), "-o", str(tmp_path / "kept.jsonl")]
    said = [
        subprocess.run(
            command, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, capture_output=True, check=True
        ).stderr
        for _ in range(2)
    ]

    assert [True, False] == [b"compiling" in one for one in said]
    assert isinstance(is_first_run(), bool)


def test_version_is_shown(run: Any) -> None:
    """The command knows which one it is."""
    assert (0, f"neardup {neardup.__version__}\n", "") == run("--version")


def test_help_comes_without_arguments(run: Any) -> None:
    """The bare command shows its help and ends with 2; --help ends with 0."""
    assert 2 == run().code
    assert 0 == run("--help").code
    assert 0 == run("dedup", "--help").code
