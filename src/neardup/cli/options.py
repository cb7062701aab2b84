"""Flags that mean the same in every command: one for each field of the recipe, made from the recipe itself."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

import typer

from neardup.errors import UsageError
from neardup.recipe import KEEP_POLICIES, PRESETS, Recipe

_HELP: Final = {
    "unit": "What a shingle is made of.",
    "ngram": "Consecutive units in a shingle, 1 to 32.",
    "threshold": "Least similarity that counts, above 0 and at most 1.",
    "verify_threshold": "A stricter threshold for the comparison; bands are chosen for --threshold.",
    "sketch": "Family of signatures.",
    "weights": "Shingles count alike, by how often they occur, or that times how rare they are.",
    "num_perm": "Values in a signature, 64 to 1,024; bits of simhash, 64 or 128.",
    "distance": "Most bits in which signatures of simhash differ; 3 of 64 where not given.",
    "recall": "Promised share of the pairs at the threshold that are found.",
    "bands": "Number of bands, with --rows; in place of --recall.",
    "rows": "Rows of a band, with --bands.",
    "verify": "Compare candidate pairs exactly, or trust the estimate.",
    "max_df": "Shingles in more than this share of the texts do not count.",
    "frequencies": "Document frequencies of an earlier run, in place of those of the input.",
    "cluster": "Every removed text verified against the kept one, or connected components.",
    "keep": f"Which document of a cluster stays: {', '.join(KEEP_POLICIES)}.",
    "normalize": "Unicode normalization form.",
    "width": "Full-width and half-width forms to the usual ones, or as they are.",
    "case": "Full case folding, or letters as they are.",
    "punct": "Punctuation and symbols: to a space, as they are, or dropped.",
    "digits": "Digits as they are, or each to 0.",
    "invisible": "Control, format and zero-width characters: dropped, or as they are.",
    "space": "Runs of white space: to one space, or dropped.",
    "strip_html": "Take the text out of HTML first.",
    "han": "Traditional Han characters: as they are, or to simplified ones (extra zh).",
    "stopwords": "File of words that do not count by themselves, one a line; default for ours.",
    "vectors": "Vectors of words: a word2vec text file, or a folder of Model2Vec, with --sketch hyperplane.",
    "user_dict": "File of further words for Chinese, as jieba reads them, with --unit word.",
}


def with_recipe(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the recipe flags in place of its `recipe` parameter; a flag overrides preset and recipe file."""
    plain = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    flags = [_preset(), _recipe_file(), *map(_flag, dataclasses.fields(Recipe))]

    @functools.wraps(command)
    def run(**values: Any) -> None:  # noqa: ANN401  # flags of every type
        path, preset = values.pop("recipe"), values.pop("preset")
        if path and preset:
            raise UsageError("--preset and --recipe each give a whole recipe; take one, and flags to change it.")
        given = {field.name: values.pop(field.name) for field in dataclasses.fields(Recipe)}
        recipe = Recipe.load(path) if path else Recipe.preset(preset) if preset else Recipe()
        changes = {name: value for name, value in given.items() if value is not None}
        command(recipe=recipe.replace(**changes), **values)

    own = [p.replace(annotation=hints[p.name]) for p in plain.parameters.values() if p.name != "recipe"]
    run.__signature__ = plain.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]  # what inspect reads
    run.__annotations__ = {p.name: p.annotation for p in (*own, *flags)}
    return run


def n_bytes(size: str) -> int:
    """Return the bytes of a size such as 4GB, 500 MB or 1.5g; units are powers of 1,024."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*", size.lower())
    if found is None:
        raise UsageError(f"a size is a number of bytes such as 4GB or 500MB, not {size!r}.")
    return int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " "))


def _preset() -> inspect.Parameter:
    option = typer.Option(
        "--preset",
        help="The recipe measured best for a kind of texts; flags override it.",
        show_default=False,
        rich_help_panel="Recipe",
    )
    kind: Any = Literal[tuple(PRESETS)]
    return inspect.Parameter(
        "preset", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _recipe_file() -> inspect.Parameter:
    option = typer.Option(
        "--recipe", help="A recipe file (TOML); flags override it.", show_default=False, rich_help_panel="Recipe"
    )
    return inspect.Parameter(
        "recipe", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Path | None, option]
    )


def _flag(field: "dataclasses.Field[object]") -> inspect.Parameter:
    name = "--" + field.name.replace("_", "-")
    default = getattr(Recipe(), field.name)
    shown = "" if default is None or default is False else f" [default: {default}]"
    option = typer.Option(
        f"{name}/--no-{name[2:]}" if isinstance(default, bool) else name,
        help=_HELP[field.name] + shown,
        show_default=False,
        rich_help_panel="Recipe",
    )
    kind: Any = get_type_hints(Recipe)[field.name]
    annotation = Annotated[kind | None, option]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
