"""The door of the package: what it lets out, what it costs to come in, and that all of it is documented."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import neardup
from neardup import errors

DOCS = Path(__file__).parents[1] / "docs"
HEAVY = ("pandas", "polars", "datasets", "typer", "rich", "fsspec")
ERRORS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, neardup.NeardupError)]


def test_all_names_what_is_visible_in_order() -> None:
    """Nothing public is missing from the list, and nothing in it is private; submodules are no names of the API."""
    visible = [
        name for name, value in vars(neardup).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    ]

    assert sorted([*visible, "__version__"]) == neardup.__all__


def test_the_import_loads_nothing_heavy() -> None:
    """The libraries of frames, of the command line and of URLs are loaded by those who use them."""
    program = f"import json, sys, neardup; print(json.dumps([one for one in {HEAVY!r} if one in sys.modules]))"
    source = str(Path(neardup.__file__).parents[1])

    ended = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {program}"],
        check=True,
        capture_output=True,
        text=True,
    )

    assert [] == json.loads(ended.stdout)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_says_how_a_run_ends(error: type[neardup.NeardupError]) -> None:
    """By the code of a command and the status of a service; it goes out by the door."""
    assert error.exit_code in (1, 2)
    assert 400 <= error.http_status < 600
    assert error.__name__ in neardup.__all__


@pytest.mark.parametrize("error", [one for one in ERRORS if one is not neardup.NeardupError])
def test_an_error_is_documented_with_its_code(error: type[neardup.NeardupError]) -> None:
    """One row of the table: the class, what else it is, its code."""
    page = (DOCS / "errors.md").read_text(encoding="utf-8")

    row = re.search(rf"^\| `{error.__name__}` \|([^|]*)\| (\d) \|", page, re.MULTILINE)

    assert row is not None
    bases = {base.__name__ for base in error.__bases__} - {"NeardupError"}
    assert bases == set(re.findall(r"`(\w+)`", row[1]))
    assert error.exit_code == int(row[2])


@pytest.mark.parametrize("name", neardup.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    """In the page of the API, as code."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")

    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", page), f"docs/api.md does not name {name}"
