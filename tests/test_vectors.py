"""Texts compared as vectors: a column of them, or those of words added up; held against plain cosines."""

import gzip
import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import Recipe
from neardup.errors import InputError, RecipeError, UsageError
from neardup.kernel import Threads
from neardup.schema import Candidates
from neardup.steps.sketch import hyperplane
from neardup.steps.verify import verify_vectors

# A pair at any angle below a right one shares one of 1,024 single bits, but for one chance in 10^300.
SURE: Final = {"bands": 1024, "rows": 1}


def recipe_of(**changes: Any) -> Recipe:
    """Return the preset for vectors, with bands that miss no pair."""
    return Recipe.preset("vector").replace(**SURE).replace(**changes)


def cosine(a: list[float], b: list[float]) -> float:
    """Return the cosine of two vectors, 0 of a zero vector."""
    norm = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm if norm else 0.0


def pairs_of(result: neardup.Result) -> dict[tuple[int, int], float]:
    """Return the pairs of a result with their similarities."""
    table = result.pairs.to_pydict()
    return {(a, b): s for a, b, s in zip(*(table[name] for name in ("id_a", "id_b", "similarity")), strict=True)}


small = st.integers(-3, 3).map(float)


@given(st.lists(st.lists(small, min_size=3, max_size=3), max_size=12), st.sampled_from([0.3, 0.6, 0.9, 0.99]))
def test_pairs_are_those_of_plain_cosines(vectors: list[list[float]], threshold: float) -> None:
    """Every pair at or above the threshold, copies as a star from the first; a zero vector is similar to nothing."""
    expected = {}
    firsts: dict[tuple[float, ...], int] = {}
    live = [at for at, vector in enumerate(vectors) if any(vector)]
    for b in live:
        first = firsts.setdefault(tuple(vectors[b]), b)
        if first != b:
            expected[first, b] = 1.0
    for a in firsts.values():
        for b in firsts.values():
            similarity = cosine(vectors[a], vectors[b])
            if a < b and similarity >= threshold + 1e-9:
                expected[a, b] = similarity

    found = pairs_of(neardup.dedup({"text": vectors}, recipe=recipe_of(threshold=threshold)))

    at_threshold = {pair for pair, one in found.items() if one - threshold < 1e-9}
    assert expected.keys() == found.keys() - (at_threshold - expected.keys())
    assert all(found[pair] == pytest.approx(one, abs=1e-12) for pair, one in expected.items())


def test_bits_agree_as_the_angle_says() -> None:
    """The share of equal bits is 1 - angle / pi within five deviations, in few dimensions and many."""
    rng = np.random.default_rng(8)
    for dimension in (2, 3, 20, 300):
        for angle in (0.2, 0.6, 1.2, 2.0):
            a, other = np.linalg.qr(rng.normal(size=(dimension, 2)))[0].T
            b = math.cos(angle) * a + math.sin(angle) * other
            trials = 1024
            bits = hyperplane.sketch(np.stack((a, b)).astype(np.float32), trials)

            share = float(np.mean(bits[0] == bits[1]))

            expected = 1 - angle / math.pi
            assert share == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / trials))


def test_bands_find_what_was_promised() -> None:
    """Of pairs at the threshold, the promised share is found, within three deviations."""
    rng = np.random.default_rng(9)
    n_pairs, dimension, threshold = 2000, 64, 0.9
    recipe = Recipe.preset("vector").replace(threshold=threshold, recall=0.9)
    a = rng.normal(size=(n_pairs, dimension))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    other = rng.normal(size=a.shape)
    other -= np.sum(other * a, axis=1, keepdims=True) * a
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    b = (threshold + 1e-4) * a + math.sqrt(1 - (threshold + 1e-4) ** 2) * other
    vectors = np.stack((a, b), axis=1).reshape(-1, dimension)

    found = pairs_of(neardup.dedup({"text": vectors.tolist()}, recipe=recipe))

    share = sum((2 * n, 2 * n + 1) in found for n in range(n_pairs)) / n_pairs
    assert recipe.promised_recall >= 0.9
    assert share == pytest.approx(recipe.promised_recall, abs=3 * math.sqrt(0.09 / n_pairs))


def test_a_vector_is_signed_alike_in_any_company() -> None:
    """Threads, batches, neighbours and length are of no account."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(50, 33)).astype(np.float32)

    whole = hyperplane.sketch(vectors, 256)

    assert np.array_equal(whole[7:9], hyperplane.sketch(vectors[7:9], 256))
    assert np.array_equal(whole, hyperplane.sketch(vectors * np.float32(2.0**100), 256))
    assert np.array_equal(whole, hyperplane.sketch(vectors * np.float32(2.0**-100), 256))
    data = {"text": (rng.integers(-2, 3, (3000, 5))).tolist()}
    results = [neardup.dedup(data, recipe=Recipe.preset("vector"), threads=threads) for threads in (1, 2)]
    assert results[0].pairs.equals(results[1].pairs)


@pytest.mark.parametrize("scale", [1e-38, 1.0, 1e38])
def test_equal_vectors_have_cosine_one(scale: float) -> None:
    """Exactly, however large or small their numbers are."""
    rng = np.random.default_rng(4)
    one = (rng.uniform(-1, 1, 100) * scale).astype(np.float32)
    pair = Candidates(np.array([0]), np.array([1]))
    with Threads(1) as threads:
        pairs = verify_vectors(pair, np.stack((one, one)), threshold=1.0, threads=threads)
    assert [1.0] == pairs.similarity.tolist()


NUMBERS: Final = [[1.0, 2.0], [1.0, 2.1], [-1.0, 0.5], [1.0, 2.0], [0.0, -0.0]]


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 2)])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl"])
def test_columns_of_vectors_are_read(tmp_path: Path, kind: pa.DataType, suffix: str) -> None:
    """From each kind of file that holds lists, all columns through."""
    path = tmp_path / f"in.{suffix}"
    ids = list("abcde")
    table = pa.table({"key": ids, "v": pa.array(NUMBERS, kind)})
    if suffix == "parquet":
        pq.write_table(table, path)
    elif suffix == "arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))

    result = neardup.dedup(path, text="v", id="key", recipe=recipe_of(), write={"kept": tmp_path / f"out.{suffix}"})

    assert ["a", "c", "e"] == result.kept["key"].to_pylist()
    assert [[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]] == result.kept["v"].to_pylist()
    assert ["a", "a"] == result.removed["kept_id"].to_pylist()
    assert 1 == result.stats.empty


BAD: Final = [
    (None, "'text' is null"),
    ([1.0, None], "'text' holds a number that is null or not finite"),
    ([], "'text' is an empty vector"),
    ([1.0, 2.0, 3.0], "'text' is a vector of another length: 3 numbers, where the first has 2"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_bad_vectors_are_named_or_counted(tmp_path: Path, suffix: str, bad: Any, reason: str) -> None:
    """A record without a vector like the others stops the run, or is rejected and counted."""
    path = tmp_path / f"in.{suffix}"
    rows = [{"text": [1.0, 2.0]}, {"text": bad}, {"text": [2.0, 4.1]}]
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    with pytest.raises(InputError) as caught:
        neardup.dedup(path, recipe=recipe_of())
    result = neardup.dedup(path, recipe=recipe_of(), on_bad_record="skip")

    assert reason in str(caught.value)
    assert (3, 1, 1, 1) == (result.stats.read, result.stats.kept, result.stats.removed, result.stats.rejected)


def test_what_is_no_vector_in_jsonl_is_named(tmp_path: Path) -> None:
    """Texts, truth values and broken lines among vectors are bad records."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": [1, 2]}\n{"text": "no"}\n{"text": [true, 1]}\n{"text": [1, \n{"other": 1}\n')
    result = neardup.dedup(path, recipe=recipe_of(), on_bad_record="skip")
    assert (5, 1, 4) == (result.stats.read, result.stats.kept, result.stats.rejected)


def test_a_column_of_texts_is_refused(tmp_path: Path) -> None:
    """The line names what it holds; a text file holds no vectors at all."""
    with pytest.raises(InputError, match="holds string, not vectors"):
        neardup.dedup(pa.table({"text": ["a"]}), recipe=recipe_of())
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(InputError, match="holds no vectors"):
        neardup.dedup(tmp_path / "in.txt", recipe=recipe_of())


WORDS: Final = "4 2\nHarbor 1 0\nport 0.9 0.1\nferry 0 1\nco-op 5 5\n"
TEXTS: Final = ["the harbor", "The PORT!", "a ferry", "nothing known", "harbor ferry", "ferry, harbor"]


def word_vectors(folder: Path, name: str = "words.vec") -> Path:
    """Return a file of vectors of words."""
    path = folder / name
    path.write_bytes(gzip.compress(WORDS.encode()) if name.endswith("gz") else WORDS.encode())
    return path


@pytest.mark.parametrize("unit", ["word", "token"])
@pytest.mark.parametrize("name", ["words.vec", "words.txt.gz"])
def test_vectors_of_words_add_up(tmp_path: Path, unit: str, name: str) -> None:
    """Words are cleaned as texts are; a text without known words is similar to nothing."""
    recipe = recipe_of(unit=unit, vectors=str(word_vectors(tmp_path, name)))

    found = pairs_of(neardup.dedup(TEXTS, recipe=recipe))

    assert {(0, 1): pytest.approx(cosine([1, 0], [0.9, 0.1])), (4, 5): 1.0} == found


def test_an_edited_file_of_vectors_is_read_anew(tmp_path: Path) -> None:
    """The fingerprint and the outcome follow the content, not the name."""
    path = word_vectors(tmp_path)
    recipe = recipe_of(unit="token", vectors=str(path))
    before = recipe.fingerprint
    assert 2 == len(pairs_of(neardup.dedup(TEXTS, recipe=recipe)))
    path.write_text("harbor 1 0\nport 0 1\n")
    assert before != recipe.fingerprint
    assert {(4, 5): 1.0, (0, 4): 1.0, (0, 5): 1.0}.items() >= pairs_of(neardup.dedup(TEXTS, recipe=recipe)).items()


def test_a_folder_of_model2vec_is_read(tmp_path: Path) -> None:
    """Its own tokens and weights make the vectors, as its own package makes them."""
    tokenizers = pytest.importorskip("tokenizers")
    model2vec = pytest.importorskip("model2vec")
    vocabulary = {"[UNK]": 0, "harbor": 1, "port": 2, "ferry": 3}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rows = np.array([[0, 0.1, 0], [1, 0, 0], [0.9, 0.1, 0], [0, 0, 1]], np.float32)
    model = model2vec.StaticModel(rows, tokenizer)
    model.save_pretrained(tmp_path / "model")
    texts = ["harbor", "port", "ferry", "harbor ferry", "port ferry", ""]
    expected = model.encode(texts)

    found = pairs_of(neardup.dedup(texts, recipe=recipe_of(unit="token", vectors=str(tmp_path / "model"))))

    for a in range(5):
        for b in range(a + 1, 5):
            similarity = cosine(expected[a].tolist(), expected[b].tolist())
            assert ((a, b) in found) == (similarity >= 0.9)
            assert found.get((a, b), similarity) == pytest.approx(similarity, abs=1e-6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no vectors"),
        ("harbor 1 0\nport 1\n", "line 2: not a word and 2 numbers"),
        ("harbor 1 x\n", "line 1: not a word and numbers"),
        ("harbor 1 nan\n", "line 1: not a word and numbers"),
        ("a-b 1 2\n", "none of its 1 words is one word"),
    ],
)
def test_files_of_vectors_that_cannot_be_used_are_named(tmp_path: Path, content: str, message: str) -> None:
    """File, line and what was expected."""
    path = tmp_path / "words.vec"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        neardup.dedup(TEXTS, recipe=recipe_of(unit="token", vectors=str(path)))


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    """Whatever its reader says, the line names the folder."""
    pytest.importorskip("model2vec")
    with pytest.raises(InputError, match="not a folder that Model2Vec saved"):
        neardup.dedup(TEXTS, recipe=recipe_of(unit="token", vectors=str(tmp_path)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sketch": "minhash"}, "unit = 'vector' goes with sketch = 'hyperplane'"),
        ({"unit": "token"}, "goes with unit = 'vector' .*, or with unit = 'word' or 'token'"),
        ({"vectors": "words.vec"}, "goes with unit = 'vector' .*, or with unit = 'word' or 'token'"),
        ({"unit": "char", "vectors": "words.vec"}, "or with unit = 'word' or 'token'"),
        ({"ngram": 2}, "goes with ngram = 1"),
        ({"verify": "estimate"}, "goes with verify = 'exact'"),
        ({"max_df": 0.1}, "goes with max_df = None"),
        ({"strip_html": True}, "strip_html cleans texts"),
        ({"keep": "longest"}, "looks at texts"),
        ({"weights": "tfidf"}, "goes with sketch = 'weighted' or 'simhash'"),
    ],
)
def test_what_does_not_go_with_vectors_is_refused(changes: dict[str, Any], message: str) -> None:
    """A sentence says what does."""
    with pytest.raises(RecipeError, match=message):
        recipe_of(**changes)


def test_parts_of_shingles_are_refused() -> None:
    """There are none to show."""
    with pytest.raises(UsageError, match="compares vectors, not shingles"):
        neardup.similarity("a", "b", recipe_of())
