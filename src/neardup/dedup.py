"""The local engine: equal band keys meet by sorting, on one machine.

Pass 1 reads all documents and keeps their band keys; buckets give candidate pairs; pass 2 reads the documents of
candidate pairs again and compares them; pass 3 writes. What is not needed again is not kept.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from neardup.background import background, count_frequencies, examples_of_frequent
from neardup.errors import UsageError
from neardup.kernel import Threads, default_threads, read_ahead
from neardup.pipeline import Evidence, compare, evidence, evidence_of_words, settle, sign, tables
from neardup.recipe import Recipe
from neardup.records.frequencies import load_frequencies, to_table
from neardup.records.ids import concat_columns, in_order
from neardup.records.read import Documents, Reading, open_documents
from neardup.records.write import Outputs
from neardup.result import OUTPUTS, Result
from neardup.schema import I64, Background, Candidates, Signed
from neardup.stats import OnProgress, Stats, ignore
from neardup.steps.candidates import candidate_pairs, first_of_equal
from neardup.steps.keep import keep_order

StrPath: TypeAlias = str | os.PathLike[str]


_AHEAD: Final = 8  # batches read before they are needed


class Corpus(NamedTuple):
    """What pass 1 keeps of all documents: their signed arrays, ids, and the column of the keep policy."""

    signed: Signed
    ids: pa.Array
    field: pa.Array | None


def dedup(  # noqa: PLR0913  # the options of the command
    data: object,
    *,
    text: str = "text",
    id: str | None = None,
    recipe: Recipe = Recipe(),
    write: Mapping[str, StrPath] | None = None,
    on_bad_record: Literal["fail", "skip"] = "fail",
    format: str | None = None,
    encoding: str = "utf-8",
    threads: int | None = None,
    temp_dir: StrPath | None = None,
    on_progress: OnProgress = ignore,
) -> Result:
    """Keep one good copy of each text, with the evidence for each removal.

    Args:
        data: a list of texts; a pandas, polars or pyarrow table, or anything with `__arrow_c_stream__`; a Hugging Face
            dataset; a path, or a list of paths as `pathlib.Path` (files, folders, globs, `-`, URLs that fsspec knows).
        text: the column that holds the texts.
        id: the column that holds the ids, of any type; None numbers the records from 0.
        recipe: what counts as a near-duplicate, and which document is kept.
        write: files to write, by what they hold: kept, removed, clusters, pairs, stats. The format follows the name.
            They appear whole when all is done, or not at all.
        on_bad_record: a record that cannot be read stops the run, or is counted as rejected.
        format: the format of the input files where their names do not tell.
        encoding: the encoding of the text files among them.
        threads: threads to use; None takes one a processor.
        temp_dir: where standard input is spooled; None takes the system's place.
        on_progress: called as on_progress(stage, done, total).

    Raises:
        InputError: a file, column or record cannot be read.
        OutputError: a file cannot be written.
        UsageError: the options do not go together.
    """
    _check_options(recipe, write or {}, on_bad_record, threads)
    paths = {role: os.fspath(path) for role, path in (write or {}).items()}
    reading = Reading(
        text=text,
        id=id,
        field=recipe.keep_field,
        on_bad_record=on_bad_record,
        encoding=encoding,
        format=format,
        temp_dir=None if temp_dir is None else os.fspath(temp_dir),
    )
    stats = Stats.of(recipe)
    documents = open_documents(data, reading, outputs=list(paths.values()))
    try:
        with Outputs(paths, documents) as outputs, Threads(threads or default_threads()) as pool:
            result = _run(documents, recipe, pool, stats, on_progress)
            with stats.stage("write"):
                result.write(outputs, on_progress)
            stats.finish()
            outputs.text("stats", json.dumps(stats.to_dict(), ensure_ascii=False, indent=2) + "\n")
    except BaseException:
        documents.close()
        raise
    return result


def _check_options(recipe: object, write: Mapping[str, StrPath], on_bad_record: str, threads: int | None) -> None:
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe is a neardup.Recipe, not {type(recipe).__name__}.")
    for role in write:
        if role not in OUTPUTS:
            raise UsageError(f"write has no output {role!r}; the outputs are {', '.join(OUTPUTS)}.")
        if role == "frequencies" and not recipe.wants_frequencies:
            raise UsageError("frequencies are counted with weights = 'tfidf' or with max_df only; there is no output.")
        if role == "frequencies" and not os.fspath(write[role]).endswith(".parquet"):
            raise UsageError(f"{os.fspath(write[role])}: frequencies are written as Parquet; name it *.parquet.")
    if on_bad_record not in ("fail", "skip"):
        raise UsageError(f"on_bad_record is fail or skip, not {on_bad_record!r}.")
    if threads is not None and threads < 1:
        raise UsageError(f"threads is at least 1, not {threads}.")


def _run(documents: Documents, recipe: Recipe, pool: Threads, stats: Stats, on_progress: OnProgress) -> Result:
    known = None
    if recipe.wants_frequencies:
        with stats.stage("frequencies"):
            known = _know(documents, recipe, pool, stats, on_progress)
    with stats.stage("sign"):
        corpus = _sign_all(documents, recipe, known, pool, on_progress)
        stats.bytes_by_stage["sign"] = sum(array.nbytes for array in corpus.signed)
    with stats.stage("candidates"):
        on_progress("candidates", 0, None)
        firsts, candidates = _meet(corpus.signed, recipe, pool, stats)
        stats.bytes_by_stage["candidates"] = sum(array.nbytes for array in candidates)
    with stats.stage("verify"):
        held = _hold(documents, candidates, corpus.signed, recipe, known, pool, on_progress)
        stats.bytes_by_stage["verify"] = sum(array.nbytes for array in held.values)
        pairs = compare(candidates, held, recipe, pool, threshold=recipe.least_similarity)
    with stats.stage("cluster"):
        on_progress("cluster", 0, None)
        if corpus.field is not None and corpus.field.null_count == len(corpus.field) > 0:
            stats.notes.append(f"keep = {recipe.keep!r}: no record has a value in that field; the first was kept.")
        order = keep_order(corpus.signed.lengths, corpus.field, recipe)
        compare_all = partial(compare, held=held, recipe=recipe, threads=pool, threshold=0.0)
        clusters = settle(pairs, firsts, order, recipe, compare_all)
    result = Result(
        documents, corpus.ids, firsts, pairs, clusters, stats, known and to_table(known.frequencies, recipe)
    )
    _count(result, documents, corpus.signed, recipe)
    return result


def _know(documents: Documents, recipe: Recipe, pool: Threads, stats: Stats, on_progress: OnProgress) -> Background:
    """Pass 0, or a file in its stead. Return in how many texts each shingle is found."""

    def columns(stage: str | None) -> Iterator[pa.LargeBinaryArray]:
        for batch in read_ahead(documents.batches(), _AHEAD):
            if stage:
                on_progress(stage, batch.first_doc + len(batch.texts), documents.expected_records)
            yield batch.texts

    if recipe.frequencies is None:
        known = background(count_frequencies(columns("frequencies"), recipe, pool), recipe)
    else:
        known = background(load_frequencies(recipe.frequencies, recipe), recipe)
    stats.bytes_by_stage["frequencies"] = known.frequencies.hashes.nbytes + known.frequencies.counts.nbytes
    stats.shingles_dropped = int(known.frequent.size)
    stats.dropped_examples = examples_of_frequent(columns(None), known, recipe)
    return known


def _sign_all(
    documents: Documents, recipe: Recipe, known: Background | None, pool: Threads, on_progress: OnProgress
) -> Corpus:
    """Pass 1."""
    ids: list[pa.Array] = []
    fields: list[pa.Array] = []

    def columns() -> Iterator[pa.LargeBinaryArray]:
        for batch in read_ahead(documents.batches(), _AHEAD):
            ids.append(batch.ids)
            if batch.field is not None:
                fields.append(batch.field)
            on_progress("sign", batch.first_doc + len(batch.texts), documents.expected_records)
            yield batch.texts

    signed = sign(columns(), recipe, pool, known)
    return Corpus(signed, concat_columns(ids), in_order(concat_columns(fields)) if fields else None)


def _meet(signed: Signed, recipe: Recipe, pool: Threads, stats: Stats) -> tuple[I64, Candidates]:
    """Return the first exact copy of each document, and the candidate pairs among such firsts."""
    firsts = np.arange(signed.n_shingles.size, dtype=np.int64)
    live = np.flatnonzero(signed.n_shingles > 0)
    firsts[live] = first_of_equal(signed.content[:, live], live)
    unique = live[firsts[live] == live]
    counted = unique[signed.n_counted[unique] > 0]
    met = candidate_pairs(tables(signed.band_keys, counted, recipe), pool)
    stats.exact_copies = int(live.size - unique.size)
    stats.candidates = int(met.candidates.a.size)
    stats.buckets, stats.buckets_over_limit, stats.pairs_not_compared = met.buckets, met.crowded, met.uncompared
    return firsts, met.candidates


def _hold(  # what pass 2 goes by
    documents: Documents,
    candidates: Candidates,
    signed: Signed,
    recipe: Recipe,
    known: Background | None,
    pool: Threads,
    on_progress: OnProgress,
) -> Evidence:
    """Pass 2. Return what the documents of candidate pairs are compared by."""
    wanted = _present(candidates)
    if recipe.sketch == "simhash" and recipe.verify == "estimate":
        return evidence_of_words(wanted, signed.band_keys)

    def columns() -> Iterator[pa.LargeBinaryArray]:
        done = 0
        for column in read_ahead(documents.texts(wanted), _AHEAD) if wanted.size else ():
            done += len(column)
            on_progress("verify", done, wanted.size)
            yield column

    return evidence(wanted, columns(), int(signed.n_counted[wanted].sum()), recipe, pool, known)


def _present(candidates: Candidates) -> I64:
    """Return the documents of these pairs, ascending, each once."""
    is_present = np.zeros(max(int(ends.max(initial=-1)) for ends in candidates) + 1, np.bool_)
    for ends in candidates:
        is_present[ends] = True
    return np.flatnonzero(is_present)


def _count(result: Result, documents: Documents, signed: Signed, recipe: Recipe) -> None:
    """Fill in the counts of a run."""
    stats = result.stats
    stats.inputs = documents.inputs
    stats.read = documents.n_read
    stats.text_bytes = documents.text_bytes
    stats.rejected = documents.rejected.total
    stats.rejected_reasons = dict(documents.rejected.reasons)
    stats.rejected_examples = dict(documents.rejected.examples)
    stats.empty = int(np.count_nonzero(signed.n_shingles == 0))
    stats.kept = int(np.count_nonzero(result.is_kept))
    stats.removed = int(result.is_kept.size - stats.kept)
    stats.verified = result.n_near_pairs
    stats.clusters = int(np.unique(result.kept_doc[result.clustered]).size)
    stats.below_threshold = int(np.count_nonzero(result.similarity < recipe.least_similarity))
