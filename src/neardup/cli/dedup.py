"""neardup dedup: keep one good copy of each text."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from neardup.cli import options, render
from neardup.dedup import dedup
from neardup.recipe import Recipe
from neardup.records.read import Paths

NEEDS_ARGUMENTS: Final = True


@options.with_recipe
def run(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT", help="Files, folders, globs, URLs, or - for standard input.", show_default=False
        ),
    ],
    *,
    kept: Annotated[
        str, typer.Option("-o", "--kept", help="The records that stay; - for standard output.", show_default=False)
    ],
    removed: Annotated[str | None, typer.Option(help="The records that go, with kept_id and similarity.")] = None,
    clusters: Annotated[
        str | None, typer.Option(help="id, cluster_id, kept, similarity of clustered documents.")
    ] = None,
    pairs: Annotated[str | None, typer.Option(help="id_a, id_b, similarity of every verified pair.")] = None,
    save_frequencies: Annotated[
        str | None, typer.Option(help="In how many texts each shingle is found, as Parquet, for --frequencies.")
    ] = None,
    stats: Annotated[str | None, typer.Option(help="Counts, seconds, memory and the recipe, as JSON.")] = None,
    text_field: Annotated[str, typer.Option(help="The field that holds the texts.")] = "text",
    id_field: Annotated[
        str | None, typer.Option(help="The field that holds the ids; without it records are numbered from 0.")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REFERENCE",
            help="Files like INPUT; what they have already is removed, and nothing of them. May be repeated.",
            show_default=False,
        ),
    ] = None,
    within: Annotated[
        str | None, typer.Option(help="A field; only records with equal values of it are compared (language, day).")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the input where its name does not tell: jsonl, txt, csv, ...")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "utf-8",
    on_bad_record: Annotated[
        Literal["fail", "skip"], typer.Option(help="A record that cannot be read stops the run, or is counted.")
    ] = "fail",
    threads: Annotated[int | None, typer.Option(help="Threads; by default one a processor.")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory to use, about (4GB, 500MB); by default half of the machine's.")
    ] = None,
    temp_dir: Annotated[
        Path | None, typer.Option(help="Where temporary files go, and standard input is spooled.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    recipe: Recipe,
) -> None:
    """Keep one good copy of each text.

    Every removed text was compared with the kept one, shingle by shingle, and is written with its similarity.
    """
    named = {"kept": kept, "removed": removed, "clusters": clusters, "pairs": pairs, "stats": stats}
    named["frequencies"] = save_frequencies
    outputs = {role: path for role, path in named.items() if path is not None}
    with render.progress(quiet=quiet) as on_progress:
        result = dedup(
            Paths(inputs),
            text=text_field,
            id=id_field,
            recipe=recipe,
            within=within,
            against=Paths(against) if against else None,
            write=outputs,
            on_bad_record=on_bad_record,
            format=format,
            encoding=encoding,
            threads=threads,
            memory=None if memory is None else options.n_bytes(memory),
            temp_dir=temp_dir,
            on_progress=on_progress,
        )
    result.close()
    if not quiet:
        render.summary(result.stats, outputs)
