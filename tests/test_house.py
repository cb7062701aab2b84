"""The rules of this project that linters do not know: sizes, defaults, words, the form of kernels, who may do what."""

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import neardup

PACKAGE: Final = Path(neardup.__file__).parent
MOST_BODY_LINES: Final = 60
MOST_FILE_LINES: Final = 500
MOST_PARAMETERS: Final = 8
LONG_BODIES: Final = {"steps/clean.py:_clean_texts": "a UTF-8 decoder and its five outcomes are one loop"}
MANY_PARAMETERS: Final = {
    "dedup.py:dedup": "the options of the command, all of them keywords",
    "cli/dedup.py:run": "a flag is a parameter",
}
FORBIDDEN: Final = {
    "doc_count": "n_docs",
    "num_docs": "n_docs",
    "doc_id": "id, or doc for a position",
    "uid": "id",
    "ksize": "ngram",
    "cutoff": "threshold",
}


class Function(NamedTuple):
    """A function of the package: its place as file:name, the names its module imports and defines, and its tree."""

    place: str
    module: ast.Module
    tree: ast.FunctionDef

    @property
    def parameters(self) -> list[ast.arg]:
        """All parameters but self and cls."""
        given = self.tree.args
        rest = [one for one in (given.vararg, given.kwarg) if one is not None]
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        return [one for one in (*named, *rest) if one.arg not in ("self", "cls")]

    @property
    def has_defaults(self) -> bool:
        """Whether some argument may be left out."""
        return any(one is not None for one in (*self.tree.args.defaults, *self.tree.args.kw_defaults))

    @property
    def is_kernel(self) -> bool:
        """Whether it is compiled."""
        return any(isinstance(one, ast.Name) and one.id == "kernel" for one in self.tree.decorator_list)

    @property
    def n_body_lines(self) -> int:
        """Lines from the first statement to the last, the docstring left out."""
        body = self.tree.body[ast.get_docstring(self.tree) is not None :]
        return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield each file of the package, by its path in it, and its tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def functions() -> list[Function]:
    """Return every function of the package, methods and inner ones too."""
    return [
        Function(f"{name}:{node.name}", module, node)
        for name, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
    ]


def kernels() -> list[Function]:
    """Return every kernel of the package."""
    return [one for one in functions() if one.is_kernel]


def identifiers(module: ast.Module) -> set[str]:
    """Return every name a module gives or uses."""
    fields = ("id", "attr", "arg", "name", "asname")
    found = (getattr(node, field, None) for node in ast.walk(module) for field in fields)
    return {name for name in found if isinstance(name, str)}


def imported(module: ast.Module) -> set[str]:
    """Return the full names of what a module imports, wherever it does."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{one.name}" for one in node.names}
    return names


def strange_calls(kernel: Function) -> set[str]:
    """Return what a kernel calls that is neither of its module, nor of neardup.kernel, NumPy, math or the language."""
    own = {node.name for node in kernel.module.body if isinstance(node, ast.FunctionDef)}
    shared = {name.rpartition(".")[2] for name in imported(kernel.module) if name.startswith("neardup.kernel.")}
    known = own | shared | set(dir(builtins))
    calls = {ast.unparse(node.func) for node in ast.walk(kernel.tree) if isinstance(node, ast.Call)}
    return {call for call in calls - known if not call.startswith(("np.", "math."))}


def ends(module: ast.Module) -> set[str]:
    """Return the calls by which a module prints or ends the process."""
    calls = {ast.unparse(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}
    raised = {
        ast.unparse(node.exc).partition("(")[0] for node in ast.walk(module) if isinstance(node, ast.Raise) and node.exc
    }
    return (calls | raised) & {"print", "sys.exit", "os._exit", "exit", "quit", "SystemExit"}


def test_there_is_something_to_look_at() -> None:
    """The other tests here hold for nothing, too; so that none of them looks at nothing."""
    assert {"dedup.py", "steps/clean.py", "cli/dedup.py"} <= dict(modules()).keys()
    assert {"kernel.py:mix", "steps/clean.py:_clean_texts"} <= {one.place for one in kernels()}


def test_bodies_are_short() -> None:
    """A body is seen at once, the listed ones excepted."""
    found = {one.place: one.n_body_lines for one in functions() if one.n_body_lines > MOST_BODY_LINES}

    assert LONG_BODIES.keys() == found.keys(), found


def test_files_are_short() -> None:
    """A file answers one question."""
    sizes = {name: len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) for name, _ in modules()}

    assert {} == {name: size for name, size in sizes.items() if size > MOST_FILE_LINES}


def test_parameters_are_few() -> None:
    """More of them want a name together, the listed ones excepted."""
    found = {one.place: len(one.parameters) for one in functions() if len(one.parameters) > MOST_PARAMETERS}

    assert MANY_PARAMETERS.keys() == found.keys(), found


def test_every_function_is_annotated() -> None:
    """Each parameter and the return."""
    bare = [
        one.place
        for one in functions()
        if one.tree.returns is None or any(parameter.annotation is None for parameter in one.parameters)
    ]

    assert [] == bare


def test_steps_have_no_defaults() -> None:
    """Defaults live in the recipe alone."""
    assert [] == [one.place for one in functions() if one.place.startswith("steps/") and one.has_defaults]


def test_kernels_have_no_defaults() -> None:
    """What a kernel does is said where it is called."""
    assert [] == [one.place for one in kernels() if one.has_defaults]


def test_kernels_take_no_recipe() -> None:
    """A kernel takes arrays and scalars."""
    hints = {one.place: [ast.unparse(p.annotation) for p in one.parameters if p.annotation] for one in kernels()}

    assert [] == [place for place, types in hints.items() if any("Recipe" in hint for hint in types)]


def test_kernels_call_only_what_the_cache_sees() -> None:
    """The cache on disk does not notice a change in another file: only the frozen kernels of kernel.py are shared."""
    assert {} == {one.place: calls for one in kernels() if (calls := strange_calls(one))}


@pytest.mark.parametrize(("word", "instead"), FORBIDDEN.items())
def test_names_use_the_words_of_the_glossary(word: str, instead: str) -> None:
    """One word for one thing, in the names of everything."""
    is_in = re.compile(rf"(^|_){word}s?(_|$)").search
    found = {name: words for name, module in modules() if (words := set(filter(is_in, identifiers(module))))}

    assert {} == found, f"say {instead}"


def test_numba_has_one_home() -> None:
    """All that is compiled goes through the decorator of kernel.py."""
    users = [name for name, module in modules() if any(re.match(r"numba\b", one) for one in imported(module))]

    assert ["kernel.py"] == users


def test_only_the_command_line_prints_or_ends_the_process() -> None:
    """A library says what it has to say by what it returns and raises."""
    assert {} == {name: found for name, module in modules() if (found := ends(module)) and not name.startswith("cli/")}
