"""Runs that go wrong elsewhere: options without effect, ids that clash, state left over, counts that do not add up."""

import dataclasses
import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import neardup
from contract_dedup import read_jsonl, window_texts
from neardup import cli
from neardup.recipe import Recipe

FERRY: Final = "the ferry leaves at nine and returns before dark"
EDITED: Final = FERRY.replace("nine", "ten")
EVERY_PAIR: Final = {"bands": 128, "rows": 1, "threshold": 0.05}


class Switch(NamedTuple):
    """A field of the recipe, two values of it that make a difference over these texts, and the fields beside it."""

    field: str
    one: Any
    other: Any
    texts: list[str]
    beside: dict[str, Any] = EVERY_PAIR


SWITCHES: Final = [
    Switch("unit", "char", "word", [FERRY, EDITED]),
    Switch("ngram", 5, 2, [FERRY, EDITED]),
    Switch("threshold", 0.95, 0.5, [FERRY, EDITED], {}),
    Switch("sketch", "minhash", "classic", [FERRY, EDITED], EVERY_PAIR | {"verify": "estimate"}),
    Switch("verify_threshold", 0.1, 0.99, [FERRY, EDITED]),
    Switch("weights", "count", "tfidf", [f"a a {FERRY}", f"a {EDITED}", "a"], EVERY_PAIR | {"sketch": "weighted"}),
    Switch("distance", 0, 14, [FERRY, f"{FERRY}."], {"sketch": "simhash", "punct": "keep", "verify": "estimate"}),
    Switch("max_df", 0.4, 0.9, [FERRY, EDITED, "else"]),
    Switch("num_perm", 128, 1024, [FERRY, EDITED], EVERY_PAIR | {"verify": "estimate"}),
    Switch("recall", 0.5, 0.9999, [FERRY, EDITED], {}),
    Switch("bands", 1, 16, [f"{FERRY} {n}" for n in range(40)], {"rows": 8}),
    Switch("rows", 8, 128, [f"{FERRY} {n}" for n in range(40)], {"bands": 1}),
    Switch("verify", "exact", "estimate", [FERRY, EDITED]),
    Switch("cluster", "anchored", "components", window_texts(9), {"unit": "word", "ngram": 1, "bands": 32, "rows": 2}),
    Switch("keep", "first", "last", [FERRY, FERRY]),
    Switch("normalize", "nfkc", "nfc", ["5² tiles", "52 tiles"]),
    Switch("width", "half", "keep", ["ＡＢＣ 12", "abc 12"], EVERY_PAIR | {"normalize": "none"}),
    Switch("case", "fold", "keep", [FERRY, FERRY.upper()]),
    Switch("punct", "space", "keep", ["a > b + c", "a < b + c"]),
    Switch("digits", "keep", "zero", ["route 41 north", "route 47 north"]),
    Switch("invisible", "drop", "keep", [FERRY, FERRY.replace("e", "e\u200b")]),
    Switch("space", "collapse", "drop", [FERRY, FERRY.replace(" ", "")]),
    Switch("han", "keep", "simplified", ["漁船在港口", "渔船在港口"]),
    Switch("strip_html", False, True, [FERRY, f"<p>{FERRY}</p><script>let a</script>"]),
]


class Outcome(NamedTuple):
    """What a run decided, and the recipe it says it had."""

    removed: list[Any]
    pairs: list[Any]
    bands: Any
    recipe: Any


def by_python(source: Path, fields: dict[str, Any]) -> Outcome:
    """Return the outcome of a call."""
    result = neardup.dedup(source, recipe=Recipe(**fields))
    stats = result.stats.to_dict()
    return Outcome(
        [{name: row[name] for name in ("kept_id", "similarity")} for row in result.removed.to_pylist()],
        result.pairs.to_pylist(), (stats["bands"], stats["rows"]), stats["recipe"],
    )  # fmt: skip


def by_command(source: Path, flags: list[str], monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Return the outcome of the command with these flags."""
    paths = {role: source.with_name(f"out-{role}.jsonl") for role in ("kept", "removed", "pairs", "stats")}
    outputs = [word for role, path in paths.items() for word in (f"--{role}", str(path))]
    monkeypatch.setattr(sys, "argv", ["neardup", "dedup", str(source), "--quiet", *outputs, *flags])
    assert 0 == cli._end()
    stats = json.loads(paths["stats"].read_text())
    return Outcome(
        [{name: row[name] for name in ("kept_id", "similarity")} for row in read_jsonl(paths["removed"])],
        read_jsonl(paths["pairs"]), (stats["bands"], stats["rows"]), stats["recipe"],
    )  # fmt: skip


def as_flags(fields: dict[str, Any]) -> list[str]:
    """Return the flags of these fields."""
    words = []
    for field, value in fields.items():
        name = field.replace("_", "-")
        words += [f"--{name}" if value else f"--no-{name}"] if isinstance(value, bool) else [f"--{name}", str(value)]
    return words


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    """Write records a line each; strings as the lines they are."""
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.field)
def test_every_option_changes_the_outcome_by_every_road(
    switch: Switch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two values of a field decide differently, and alike by call, recipe file and flag; the statistics echo them."""
    source = write_jsonl(tmp_path / "in.jsonl", [{"text": text} for text in switch.texts])
    file = tmp_path / "recipe.toml"
    found = []
    for value in (switch.one, switch.other):
        fields = switch.beside | {switch.field: value}
        expected = by_python(source, fields)
        file.write_text(Recipe(**fields).to_toml())

        assert expected == by_command(source, ["--recipe", str(file)], monkeypatch)
        assert expected == by_command(source, as_flags(fields), monkeypatch)
        assert value == expected.recipe[switch.field]
        found.append(expected[:3])
    assert found[0] != found[1]


def test_no_option_is_without_a_test() -> None:
    """The table above has every field of the recipe, but those that name files."""
    elsewhere = {"frequencies", "stopwords", "user_dict", "vectors"}  # in test_background, _lexicon, _vectors
    named = {switch.field for switch in SWITCHES} | elsewhere
    assert {field.name for field in dataclasses.fields(Recipe)} == named


def test_one_and_one_point_nought_are_one_recipe() -> None:
    """A whole number given as a share makes the same recipe, with the same fingerprint and file."""
    assert Recipe(threshold=1.0).fingerprint == Recipe(threshold=1).fingerprint
    assert Recipe(threshold=1.0).to_toml() == Recipe(threshold=1).to_toml()


def test_a_share_just_beyond_the_end_is_shown_with_all_its_digits() -> None:
    """The message does not say that 1 is not at most 1."""
    with pytest.raises(neardup.RecipeError, match=r"not 1\.0000001\."):
        Recipe(threshold=1.0000001)


def test_a_recipe_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    file = tmp_path / "recipe.toml"
    file.write_bytes(b"\xef\xbb\xbfngram = 3\n")

    assert Recipe(ngram=3) == Recipe.load(file)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"write": {"keept": "kept.jsonl"}}, neardup.UsageError, "write has no output 'keept'; the outputs are kept"),
        ({"threads": 0}, neardup.UsageError, "threads is at least 1, not 0"),
        ({"threads": -1}, neardup.UsageError, "threads is at least 1, not -1"),
        ({"on_bad_record": "ignore"}, neardup.UsageError, "on_bad_record is fail or skip, not 'ignore'"),
        ({"recipe": {"ngram": 3}}, TypeError, r"recipe is a neardup\.Recipe, not dict"),
        ({"treshold": 0.5}, TypeError, "treshold"),
    ],
)
def test_options_nobody_knows_are_refused(options: Any, error: type[Exception], said: str) -> None:
    """None is passed over in silence."""
    with pytest.raises(error, match=said):
        neardup.dedup(["a", "b"], **options)


def test_a_column_given_as_one_string_is_refused() -> None:
    """It is not taken for a column of letters."""
    with pytest.raises(neardup.UsageError, match="'text' is one str; give a column, a list of values"):
        neardup.dedup({"text": "abc"})


@pytest.mark.parametrize("text", [b"abc", None, 5])
def test_similarity_of_what_is_no_text_is_refused(text: Any) -> None:
    """The error names the type."""
    with pytest.raises(TypeError, match=f"a text is a str, not {type(text).__name__}"):
        neardup.similarity(text, "abc")


def test_records_that_share_ids_across_files_stay(tmp_path: Path) -> None:
    """Two files count from 0 each: the one copy goes, and its evidence names the row; without ids, rows count on."""
    north = [{"id": k, "text": f"north quay {k}: {'abcde'[k] * 9} {k * k}"} for k in range(5)]
    south = [{"id": k, "text": f"the southern mole {'vwxyz'[k] * 12}"} for k in range(5)]
    south[3]["text"] = north[1]["text"]
    paths = [write_jsonl(tmp_path / "north.jsonl", north), write_jsonl(tmp_path / "south.jsonl", south)]

    by_id = neardup.dedup(paths, id="id")
    by_number = neardup.dedup(paths)

    assert [*north, *south[:3], south[4]] == by_id.kept.to_pylist()
    assert [south[3] | {"kept_id": 1, "similarity": 1.0, "kept_row": 1}] == by_id.removed.to_pylist()
    assert ["id", "text", "kept_id", "similarity", "kept_row"] == by_id.removed.column_names
    assert [(1, 8)] == [(row["id_a"], row["id_b"]) for row in by_number.pairs.to_pylist()]


def test_null_ids_bring_row_numbers() -> None:
    """Two records without an id are not one: evidence says which is meant by its row."""
    data = {"id": [None, None, 3], "text": ["one story", "two stories", "One story!"]}

    result = neardup.dedup(data, id="id")

    assert [0, 1] == [("one story", "two stories").index(text) for text in result.kept["text"].to_pylist()]
    assert [(None, 0)] == [(row["kept_id"], row["kept_row"]) for row in result.removed.to_pylist()]


@pytest.mark.parametrize("ids", [[1, 2, 3], ["1", "2", "3"], [1, "1", 2]])
def test_ids_of_any_type_remove_one_copy(tmp_path: Path, ids: list[Any]) -> None:
    """Of two equal texts and another two are kept, and ids go out with their types."""
    rows = [{"id": one, "text": text} for one, text in zip(ids, ("low tide", "low tide", "high water"), strict=True)]
    paths = {role: tmp_path / f"{role}.jsonl" for role in ("kept", "removed", "clusters", "pairs")}

    neardup.dedup(write_jsonl(tmp_path / "in.jsonl", rows), id="id", write=paths)

    assert [rows[0], rows[2]] == read_jsonl(paths["kept"])
    assert [rows[1] | {"kept_id": ids[0], "similarity": 1.0}] == read_jsonl(paths["removed"])
    assert [{"id_a": ids[0], "id_b": ids[1], "similarity": 1.0}] == read_jsonl(paths["pairs"])
    assert ids[:2] == [row["id"] for row in read_jsonl(paths["clusters"])]


def test_an_audit_of_a_run_adds_up(tmp_path: Path) -> None:
    """Empty, null, broken, copied and edited records: each is counted once, under its own name."""
    plain = [" ".join(f"t{k}w{n}" for n in range(30)) for k in range(50)]
    texts = [*plain, *plain[:20], *(f"{text} end" for text in plain[20:32]), *[""] * 10]
    rows = [{"id": k, "text": text} for k, text in enumerate(texts)]
    rows += [{"id": 92, "text": None}] * 5
    path = write_jsonl(tmp_path / "in.jsonl", [*rows, *['{"cut'] * 3])

    stats = neardup.dedup(path, id="id", on_bad_record="skip").stats

    assert (100, 60, 32, 8) == (stats.read, stats.kept, stats.removed, stats.rejected)
    assert (10, 20, 12) == (stats.empty, stats.exact_copies, stats.verified)
    assert {"'text' is null": 5, "broken JSON": 3} == stats.rejected_reasons


def test_halves_of_a_surrogate_pair_go_through_a_file(tmp_path: Path) -> None:
    """Lines go out with the escapes they had, also in names; a format that cannot hold them says where."""
    lines = [r'{"id":1,"text":"flag \ud83c end"}', r'{"id":2,"text":"flag \udf78 end"}',
             r'{"id":3,"text":"flag \ud83c end","k\ud83c":0}']  # fmt: skip
    path = write_jsonl(tmp_path / "in.jsonl", lines)
    removed = tmp_path / "removed.jsonl"

    neardup.dedup(path, id="id", write={"removed": removed})

    assert lines[2][:-1] + ',"kept_id":1,"similarity":1.0}\n' == removed.read_text()
    with pytest.raises(neardup.NeardupError, match=r"in\.jsonl:1: 'text' holds a lone surrogate"):
        neardup.dedup(path, id="id", write={"kept": tmp_path / "kept.parquet"})


def test_what_looks_like_code_is_text(tmp_path: Path) -> None:
    """Markup, formulas, control characters and NUL come through as they were."""
    texts = ["<script>alert(1)</script>", "</textarea>", "=cmd|x", "nul \x00 in it", "\u202eabc", "ctrl \x1b[31m"]
    paths = {"kept": tmp_path / "kept.jsonl", "removed": tmp_path / "removed.parquet"}

    result = neardup.dedup(texts + texts, write=paths)

    assert texts == [json.loads(line)["text"] for line in paths["kept"].read_bytes().split(b"\n") if line]
    assert texts == neardup.dedup(paths["removed"]).kept["text"].to_pylist()
    assert texts == result.removed["text"].to_pylist()


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    """Nothing is remembered of a file: another content of the same size and time gives another result."""
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": "aaa bbb"}, {"text": "aaa bbb"}])
    state = path.stat()
    before = neardup.dedup(path).stats.removed
    write_jsonl(path, [{"text": "aaa bbb"}, {"text": "ccc ddd"}])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    assert (1, 0) == (before, neardup.dedup(path).stats.removed)


def test_threads_of_the_caller_do_not_disturb_one_another() -> None:
    """Runs with two recipes at once decide what each decides alone."""
    texts = [f"text {k // 2} of many words {(k // 2) * 7919}" for k in range(600)]
    recipes = [Recipe(), Recipe(ngram=2, threshold=0.5)] * 2
    expected = [neardup.dedup(texts, recipe=recipe).kept_doc.tolist() for recipe in recipes]
    found: dict[int, list[int]] = {}

    def run(place: int) -> None:
        found[place] = neardup.dedup(texts, recipe=recipes[place]).kept_doc.tolist()

    callers = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)

    assert expected == [found[place] for place in range(4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_works_after_its_parent_has() -> None:
    """Threads of a run that is over are not missed by a child."""
    texts = [f"text {k // 2} of many words" for k in range(200)]
    expected = neardup.dedup(texts, threads=2).kept_doc.tolist()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(neardup.dedup(texts, threads=2).kept_doc.tolist()))
    child.start()

    assert receiver.poll(30)
    assert expected == receiver.recv()
    child.join(10)


def test_a_script_without_a_main_guard_runs(tmp_path: Path) -> None:
    """No process is started that would run the script again."""
    script = tmp_path / "script.py"
    script.write_text("import neardup\nprint(neardup.dedup(['low tide', 'low tide', 'high water']).stats.removed)\n")

    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)

    assert "1\n" == ended.stdout


def test_a_generator_that_raises_leaves_nothing(tmp_path: Path) -> None:
    """Its own error comes out, and no output is there."""

    def texts() -> Iterator[str]:
        yield "low tide"
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        neardup.dedup(texts(), write={"kept": tmp_path / "kept.jsonl"})

    assert [] == list(tmp_path.iterdir())


def test_a_footer_ties_strangers_together_by_definition() -> None:
    """Pages of ten words over a long footer are alike at .857; with thirty of their own at .667 they are not."""
    footer = " ".join(f"footer{n}" for n in range(120))
    pages = [f"{footer} " + " ".join(f"a{k}x{n}" for n in range(10)) for k in range(50)]
    pages += [f"{footer} " + " ".join(f"b{k}x{n}" for n in range(30)) for k in range(50)]

    result = neardup.dedup(pages, recipe=Recipe(unit="word", ngram=1, recall=0.9999))

    assert [0, *range(50, 100)] == result.kept["id"].to_pylist()
    assert {120 / 140} == set(result.removed["similarity"].to_pylist())


def test_versions_of_a_notice_go_only_where_they_are_near_the_kept_one() -> None:
    """Six versions, each with nine of 300 words new: those that have drifted off the first start over."""
    rng = random.Random(1)
    words = [f"n{n}" for n in range(300)]
    versions = [" ".join(words)]
    for version in range(1, 6):
        for place in rng.sample(range(300), 9):
            words[place] = f"v{version}x{place}"
        versions.append(" ".join(words))
    recipe = Recipe(unit="word", ngram=1, recall=0.9999)

    result = neardup.dedup(versions, recipe=recipe)

    assert [0, 0, 0, 0, 4, 4] == result.kept_doc.tolist()
    assert [
        neardup.similarity(versions[kept], text, recipe) for kept, text in zip(result.kept_doc, versions, strict=True)
    ] == (result.similarity.tolist())


def test_an_identity_threshold_takes_equal_sets_only() -> None:
    """At 1 copies and texts of the same shingles go, at any other order of their repeats; all else stays."""
    texts = ["a b c d e f g h", "a b c d e f g i", "a  B c d e f g h!", "!!", "xyxyxyxy", "xyxyxyxyxy"]

    result = neardup.dedup(texts, recipe=Recipe(threshold=1))

    assert [0, 1, 0, 3, 4, 4] == result.kept_doc.tolist()


def test_wrong_fields_of_lines_are_told_with_the_flag_that_names_them(tmp_path: Path) -> None:
    """The nearest name by case is offered, and the flag is that of ids where an id is missing."""
    path = write_jsonl(tmp_path / "in.jsonl", [{"Text": "a", "key": 1, "text": "b"}])

    with pytest.raises(neardup.InputError, match=r"no field 'TEXT'; .*did you mean 'Text'.* --text-field"):
        neardup.dedup(path, text="TEXT")
    with pytest.raises(neardup.InputError, match=r"no field 'uid'; .* --id-field"):
        neardup.dedup(path, id="uid")


@pytest.mark.parametrize(
    ("values", "least", "most"),
    [
        (["9", "10.5"], 9, 10.5),
        (["10.5", "9", "null"], 9, 10.5),
        (["2e1", "9", "12345678901234567890123"], 9, 12345678901234567890123),
    ],
)
def test_keep_orders_numbers_of_any_kind_by_value(tmp_path: Path, values: list[str], least: float, most: float) -> None:
    """Integers beside fractions in lines of JSON are numbers, not words."""
    path = write_jsonl(tmp_path / "in.jsonl", [f'{{"text": "same words", "score": {value}}}' for value in values])
    kept = tmp_path / "kept.jsonl"

    for keep, expected in (("min:score", least), ("max:score", most)):
        neardup.dedup(path, recipe=Recipe(keep=keep), write={"kept": kept})

        assert [expected] == [row["score"] for row in read_jsonl(kept)]


def test_keep_refuses_values_that_have_no_order(tmp_path: Path) -> None:
    """Words beside numbers, and objects."""
    for value in ('"b"', "true", "[2]", '{"k": 1}'):
        path = write_jsonl(tmp_path / "in.jsonl", ['{"text": "a", "s": 1}', f'{{"text": "a", "s": {value}}}'])

        with pytest.raises(neardup.UsageError, match="keep = 'max:s' cannot order"):
            neardup.dedup(path, recipe=Recipe(keep="max:s"))


def test_evidence_beside_a_column_of_its_name_is_refused() -> None:
    """The table of removed records cannot hold both."""
    result = neardup.dedup({"text": ["a", "a"], "kept_id": [1, 2]})

    with pytest.raises(neardup.UsageError, match="already has a column 'kept_id'"):
        _ = result.removed


def test_a_keep_field_that_no_record_has_is_noted(tmp_path: Path) -> None:
    """A misspelt name in lines of JSON does not pass unnoticed."""
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": "a", "score": 1}, {"text": "a", "score": 2}])

    stats = neardup.dedup(path, recipe=Recipe(keep="max:scor")).stats

    assert ["keep = 'max:scor': no record has a value in that field; the first was kept."] == stats.notes
