"""The documents: examples run, links lead somewhere, and the page of the command line is what the commands say."""

import ast
import importlib.util
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from neardup.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(ROOT.glob("docs/*.md"))
USER_PAGES = [ROOT / "README.md", *(page for page in sorted(ROOT.glob("docs/*.md")) if page.name != "cli.md")]
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def make_cli() -> ModuleType:
    """Return docs/make_cli.py as a module."""
    spec = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


def flags_of(text: str) -> set[str]:
    """Return the flags a text speaks of."""
    return set(FLAG.findall(text))


def comments_of(block: str) -> dict[int, Any]:
    """Return by line the values that stand behind statements as comments; a comment in words is none."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(block).readline):
        if token.type == tokenize.COMMENT:
            try:
                found[token.start[0]] = ast.literal_eval(token.string[1:].strip())
            except (ValueError, SyntaxError):
                continue
    return found


def outcomes(block: str, names: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Run a block; yield what its comments expect, and what came of the expression before each."""
    expected = comments_of(block)
    for statement in ast.parse(block).body:
        line = statement.end_lineno
        if not isinstance(statement, ast.Expr) or line not in expected:
            exec(compile(ast.Module([statement], []), "block", "exec"), names)
            continue
        value = statement.value
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "print":
            value = value.args[0]
        yield expected[line], eval(compile(ast.Expression(value), "block", "eval"), names)


def test_the_page_of_the_command_line_is_what_the_commands_say(make_cli: ModuleType) -> None:
    """Word for word; `make docs` writes it anew."""
    if f"typer {make_cli.layout()} " not in read(make_cli.PAGE):
        pytest.skip(f"docs/cli.md was laid out by another typer than the one installed, {make_cli.layout()}")

    assert make_cli.page() == read(make_cli.PAGE)


def test_the_page_of_the_command_line_has_every_flag(make_cli: ModuleType) -> None:
    """Whichever release of typer lays the help out."""
    for command in make_cli.commands():
        section = read(make_cli.PAGE).partition(f"\n## neardup {command}\n")[2].partition("\n## ")[0]

        assert flags_of(make_cli.help_of(command)) == flags_of(section)


def test_every_command_has_help_and_a_section(make_cli: ModuleType) -> None:
    """Its help says in a sentence what it does."""
    for command in app.registered_commands:
        assert command.callback is not None
        assert command.callback.__doc__
        assert f"\n## neardup {command.name}\n" in read(make_cli.PAGE)


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.name)
def test_flags_that_pages_speak_of_exist(page: Path, make_cli: ModuleType) -> None:
    """A flag that was renamed is noticed."""
    assert set() == flags_of(read(page)) - flags_of(read(make_cli.PAGE))


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "api.md"], ids=lambda page: page.name)
def test_examples_give_what_they_say(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    found = [pair for block in BLOCK.findall(read(page)) for pair in outcomes(block, names)]

    assert found, "no example says what it gives"
    assert [expected for expected, _ in found] == [actual for _, actual in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    """Those to files beside the page; others are not followed."""
    links = [link for link in LINK.findall(read(page)) if ":" not in link]

    assert [] == [link for link in links if not (page.parent / link).exists()]
