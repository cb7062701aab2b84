"""The local engine: equal band keys meet by sorting, on one machine.

Pass 1 reads all documents and keeps their band keys; buckets give candidate pairs; pass 2 reads the documents of
candidate pairs again and compares them; pass 3 writes. What is not needed again is not kept, and what a budget of
memory has no room for goes to temporary files.
"""

import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from neardup.background import background, count_frequencies, examples_of_frequent
from neardup.errors import UsageError
from neardup.holding import Holding, present
from neardup.kernel import Threads, default_threads, read_ahead
from neardup.pipeline import evidence_of_words, n_keys, parted, settle, sign, tables, words_of
from neardup.recipe import Recipe
from neardup.records.frequencies import load_frequencies, to_table
from neardup.records.ids import concat_columns, groups_of, in_order
from neardup.records.joined import Joined
from neardup.records.read import Reading, open_documents
from neardup.records.write import Outputs
from neardup.result import OUTPUTS, Result
from neardup.schema import I64, U32, U64, Background, Candidates, Clusters, Pairs
from neardup.scratch import Rows, Scratch, SortedSet
from neardup.stats import OnProgress, Stats, ignore, usual_memory_bytes
from neardup.steps.candidates import candidate_pairs, first_of_equal
from neardup.steps.keep import keep_order

StrPath: TypeAlias = str | os.PathLike[str]


_AHEAD: Final = 8  # batches read before they are needed


_BUFFER_BYTES: Final = 64  # of memory a document of a table takes, with the pairs it meets
_LEAST_MEMORY: Final = 256 << 20
_EXCERPT_BYTES: Final = 120


class Corpus(NamedTuple):
    """What pass 1 keeps of all documents. n_shingles, n_counted, lengths: as in Signed.

    keys: rows of uint64[n_docs], the band keys. firsts: int64[n_docs]; the first exact copy of each. ids, and the
    column of the keep policy or None. groups: uint64[n_docs], equal where documents may be compared; None where all
    may, whatever they are.
    """

    keys: Rows
    firsts: I64
    n_shingles: U32
    n_counted: U32
    lengths: U32
    ids: pa.Array
    field: pa.Array | None
    groups: U64 | None


class Run(NamedTuple):
    """What every stage of a run goes by."""

    documents: Joined
    recipe: Recipe
    pool: Threads
    scratch: Scratch
    stats: Stats
    on_progress: OnProgress


def dedup(  # noqa: PLR0913  # the options of the command
    data: object,
    *,
    text: str = "text",
    id: str | None = None,
    recipe: Recipe = Recipe(),
    within: str | None = None,
    against: object = None,
    write: Mapping[str, StrPath] | None = None,
    on_bad_record: Literal["fail", "skip"] = "fail",
    format: str | None = None,
    encoding: str = "utf-8",
    threads: int | None = None,
    memory: int | None = None,
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
        within: a column; only documents with equal values of it are compared, those without a value among themselves.
        against: a reference, data like the first ones; what is in it already is removed from the data, and nothing of
            it ever is. None for none.
        write: files to write, by what they hold: kept, removed, clusters, pairs, stats. The format follows the name.
            They appear whole when all is done, or not at all.
        on_bad_record: a record that cannot be read stops the run, or is counted as rejected.
        format: the format of the input files where their names do not tell.
        encoding: the encoding of the text files among them.
        threads: threads to use; None takes one a processor.
        memory: bytes that the run may hold at once, about; what has no room goes to temporary files. None takes half
            of what the machine has. It changes nothing but memory and time.
        temp_dir: where temporary files go, and standard input is spooled; None takes the system's place.
        on_progress: called as on_progress(stage, done, total).

    Raises:
        InputError: a file, column or record cannot be read.
        OutputError: a file cannot be written.
        UsageError: the options do not go together.
    """
    _check_options(recipe, write or {}, on_bad_record, threads, memory)
    paths = {role: os.fspath(path) for role, path in (write or {}).items()}
    reading = Reading(
        text=text,
        id=id,
        field=recipe.keep_field,
        within=within,
        on_bad_record=on_bad_record,
        encoding=encoding,
        format=format,
        vectors=recipe.unit == "vector",
        temp_dir=None if temp_dir is None else os.fspath(temp_dir),
    )
    stats = Stats.of(recipe)
    stats.within = within
    documents = open_documents(data, reading, outputs=list(paths.values()))
    reference = None
    try:
        if against is not None:
            reference = open_documents(against, dataclasses.replace(reading, field=None), outputs=list(paths.values()))
        with (
            Outputs(paths, documents) as outputs,
            Threads(threads or default_threads()) as pool,
            Scratch(reading.temp_dir, memory or usual_memory_bytes()) as scratch,
        ):
            result = _run(Run(Joined(reference, documents), recipe, pool, scratch, stats, on_progress))
            with stats.stage("write"):
                result.write(outputs, on_progress)
            stats.finish()
            outputs.text("stats", json.dumps(stats.to_dict(), ensure_ascii=False, indent=2) + "\n")
    except BaseException:
        documents.close()
        raise
    finally:
        if reference is not None:
            reference.close()
    return result


def _check_options(
    recipe: object, write: Mapping[str, StrPath], on_bad_record: str, threads: int | None, memory: int | None
) -> None:
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
    if memory is not None and memory < _LEAST_MEMORY:
        raise UsageError(f"memory is at least {_LEAST_MEMORY >> 20} MB, not {memory / (1 << 20):,.0f} MB.")


def _run(run: Run) -> Result:
    documents, recipe, _, _, stats, on_progress = run
    known = None
    if recipe.wants_frequencies:
        with stats.stage("frequencies"):
            known = _know(run)
    with stats.stage("sign"):
        corpus = _sign_all(run, known)
    with stats.stage("candidates"):
        on_progress("candidates", 0, None)
        candidates = _meet(run, corpus)
    with stats.stage("verify"):
        pairs, holding = _verify(run, corpus, candidates, known)
    with stats.stage("cluster"):
        on_progress("cluster", 0, None)
        clusters = _settle(run, corpus, pairs, holding)
    frequencies = known and to_table(known.frequencies, recipe)
    n_reference = None if documents.reference is None else documents.n_reference
    result = Result(documents.data, corpus.ids, corpus.firsts, pairs, clusters, stats, frequencies, n_reference)
    _count(result, documents, corpus, recipe)
    stats.temporary_bytes = run.scratch.n_bytes
    return result


def _know(run: Run) -> Background:
    """Pass 0, or a file in its stead. Return in how many texts each shingle is found."""
    documents, recipe, pool, _, stats, on_progress = run

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


def _sign_all(run: Run, known: Background | None) -> Corpus:
    """Pass 1."""
    documents, recipe, pool, scratch, stats, on_progress = run
    ids: list[pa.Array] = []
    fields: list[pa.Array] = []
    withins: list[pa.Array] = []

    def columns() -> Iterator[pa.LargeBinaryArray]:
        for batch in read_ahead(documents.batches(), _AHEAD):
            ids.append(batch.ids)
            if recipe.keep_field is not None:  # a reference has none, and needs none
                fields.append(pa.nulls(len(batch.texts)) if batch.field is None else batch.field)
            if batch.within is not None:
                withins.append(batch.within)
            on_progress("sign", batch.first_doc + len(batch.texts), documents.expected_records)
            if batch.first_doc == 0:
                scratch.check_room(8 * n_keys(recipe) * (documents.expected_records or 0), keys.room)
            yield batch.texts

    keys = Rows(n_keys(recipe), scratch, scratch.memory // 4)
    contents = [np.empty((2, 0), np.uint64)]
    counts = [np.empty((3, 0), np.uint32)]
    for part in sign(columns(), recipe, pool, known):
        keys.append(part.band_keys)
        contents.append(part.content)
        counts.append(np.stack(part[2:]))
    n_shingles, n_counted, lengths = np.concatenate(counts, axis=1)
    groups = groups_of(concat_columns(withins)) if withins else None
    content = np.concatenate(contents, axis=1)
    firsts = _firsts(content if groups is None else content ^ groups, n_shingles)
    stats.bytes_by_stage["sign"] = 8 * n_keys(recipe) * firsts.size + 36 * firsts.size
    field = in_order(concat_columns(fields)) if fields else None
    return Corpus(keys, firsts, n_shingles, n_counted, lengths, concat_columns(ids), field, groups)


def _firsts(content: U64, n_shingles: U32) -> I64:
    """Return int64[n_docs]: the first exact copy of each document, itself where it has no shingle."""
    firsts = np.arange(n_shingles.size, dtype=np.int64)
    live = np.flatnonzero(n_shingles > 0)
    firsts[live] = first_of_equal(content[:, live], live)
    return firsts


def _meet(run: Run, corpus: Corpus) -> Callable[[], Iterator[Candidates]]:
    """Return a way to the candidate pairs among first exact copies, some at a time, ascending."""
    scratch, stats = run.scratch, run.stats
    is_first = corpus.firsts == np.arange(corpus.firsts.size)
    docs = np.flatnonzero(is_first & (corpus.n_counted > 0))
    room = scratch.memory // 4
    n_parts = 1 + docs.size * _BUFFER_BYTES * run.pool.count // room
    found = SortedSet(scratch, scratch.memory // 32)
    groups = None if corpus.groups is None else corpus.groups[docs]
    by_keys = tables(corpus.keys.pieces, docs, run.recipe, n_parts)
    by_keys = by_keys._replace(n_reference=int(np.searchsorted(docs, run.documents.n_reference)))
    met = candidate_pairs(by_keys if groups is None else parted(by_keys, groups), run.pool, found.add)
    stats.exact_copies = int(np.count_nonzero(~is_first[run.documents.n_reference :]))
    stats.buckets, stats.buckets_over_limit, stats.pairs_not_compared, templates = met
    if stats.pairs_not_compared and run.recipe.unit != "vector":
        stats.crowded_examples = _excerpts({int(docs[place]): size for place, size in templates}, run.documents)

    def candidates() -> Iterator[Candidates]:
        for pairs in found.pieces():
            a, b = pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)
            if groups is not None:  # keys of two groups can be equal by chance
                a, b = a[groups[a] == groups[b]], b[groups[a] == groups[b]]
            yield Candidates(docs[a], docs[b])

    return candidates


def _excerpts(sizes: dict[int, int], documents: Joined) -> dict[str, int]:
    """Return the beginnings of the texts of documents with what is told of each."""
    wanted = np.array(sorted(sizes), np.int64)
    texts = [text for column in documents.texts(wanted) for text in column.to_pylist()]
    told = zip(texts, (sizes[doc] for doc in wanted.tolist()), strict=True)
    return {text[:_EXCERPT_BYTES].decode("utf-8", "ignore"): size for text, size in told}


def _verify(
    run: Run, corpus: Corpus, candidates: Callable[[], Iterator[Candidates]], known: Background | None
) -> tuple[Pairs, Holding]:
    """Pass 2. Return the pairs at or above the threshold, and what they were compared by."""
    recipe, stats = run.recipe, run.stats
    is_wanted = np.zeros(corpus.firsts.size, np.bool_)
    for some in candidates():
        stats.candidates += some.a.size
        is_wanted[present(some)] = True
    holding = _hold(run, corpus, np.flatnonzero(is_wanted), known)
    stats.bytes_by_stage |= {"candidates": 16 * stats.candidates, "verify": holding.n_bytes}
    passed = [Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))]
    passed += [holding.compare(some, threshold=recipe.least_similarity) for some in candidates()]
    return Pairs(*map(np.concatenate, zip(*passed, strict=True))), holding


def _hold(run: Run, corpus: Corpus, wanted: I64, known: Background | None) -> Holding:
    documents, recipe, pool, scratch, _, on_progress = run
    if recipe.sketch == "simhash" and recipe.verify == "estimate":
        words = words_of(corpus.keys.pieces, wanted, recipe)
        return Holding.of(evidence_of_words(wanted, words), recipe, pool, scratch)

    def columns() -> Iterator[pa.LargeBinaryArray]:
        done = 0
        for column in read_ahead(documents.texts(wanted), _AHEAD) if wanted.size else ():
            done += len(column)
            on_progress("verify", done, wanted.size)
            yield column

    n_counted = corpus.n_counted[wanted].astype(np.int64)
    share = n_counted.sum() / max(corpus.n_counted.sum(dtype=np.int64), 1)
    return Holding(wanted, columns(), n_counted, recipe, pool, known, scratch, round(documents.text_bytes * share))


def _settle(run: Run, corpus: Corpus, pairs: Pairs, holding: Holding) -> Clusters:
    recipe, field = run.recipe, corpus.field
    if field is not None and field.null_count == len(field) > 0:
        run.stats.notes.append(f"keep = {recipe.keep!r}: no record has a value in that field; the first was kept.")
    order = keep_order(corpus.lengths, field, recipe)
    n_reference = run.documents.n_reference
    order = np.concatenate((np.arange(n_reference), order[order >= n_reference]))
    return settle(pairs, corpus.firsts, order, recipe, partial(holding.compare, threshold=0.0))


def _count(result: Result, joined: Joined, corpus: Corpus, recipe: Recipe) -> None:
    """Fill in the counts of a run."""
    stats, documents, first_doc = result.stats, joined.data, joined.n_reference
    is_kept = result.is_kept[first_doc:]
    if joined.reference is not None:
        stats.against = joined.reference.inputs
        stats.reference = joined.n_reference
        stats.reference_rejected = joined.reference.rejected.total
        stats.removed_against = int(np.count_nonzero(result.kept_doc[first_doc:] < first_doc))
    stats.inputs = documents.inputs
    stats.read = documents.n_read
    stats.text_bytes = documents.text_bytes
    stats.rejected = documents.rejected.total
    stats.rejected_reasons = dict(documents.rejected.reasons)
    stats.rejected_examples = dict(documents.rejected.examples)
    stats.empty = int(np.count_nonzero(corpus.n_shingles[first_doc:] == 0))
    stats.kept = int(np.count_nonzero(is_kept))
    stats.removed = int(is_kept.size - stats.kept)
    stats.verified = result.n_near_pairs
    stats.clusters = int(np.unique(result.kept_doc[result.clustered]).size)
    stats.below_threshold = int(np.count_nonzero(result.similarity[first_doc:] < recipe.least_similarity))
