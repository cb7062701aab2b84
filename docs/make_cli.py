"""Make docs/cli.md of what the commands say with --help; `make docs` runs it."""

import contextlib
import io
import os
from importlib.metadata import version
from pathlib import Path
from typing import Final

from neardup.cli import app

PAGE: Final = Path(__file__).with_name("cli.md")
COLUMNS: Final = "100"
INTRODUCTION: Final = """\
# Command line
Made from `--help` by `make docs`; typer {typer} laid it out. Edit the help in `src/neardup/cli/` instead.

How the commands read and write files stands in [formats](formats.md), what the recipe's flags do in \
[how it works](how-it-works.md), how a command ends in [errors](errors.md).
"""


def layout() -> str:
    """Return the release of typer, without its last number: another one writes the same flags another way."""
    return version("typer").rpartition(".")[0]


def commands() -> list[str]:
    """Return the names of the commands, in the order of the help."""
    return [one.name for one in app.registered_commands if one.name is not None]


def help_of(*words: str) -> str:
    """Return what `neardup WORDS --help` prints on a terminal of COLUMNS."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            app([*words, "--help"], prog_name="neardup", standalone_mode=False)
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return "".join(line.rstrip() + "\n" for line in out.getvalue().strip().splitlines())


def page() -> str:
    """Return the whole page."""
    sections = [f"\n## {' '.join(words)}\n```text\n{help_of(*words[1:])}```\n" for words in _titles()]
    return INTRODUCTION.format(typer=layout()) + "".join(sections)


def _titles() -> list[tuple[str, ...]]:
    return [("neardup",), *(("neardup", command) for command in commands())]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
