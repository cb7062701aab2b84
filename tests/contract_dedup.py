"""What any engine must do: subclassed by the tests of each."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from neardup.recipe import Recipe
from neardup.result import Result
from strategies import corpora, recipe_fields

EXAMPLES = Path(__file__).parent.parent / "examples"
EXAMPLE_RECIPE = Recipe(unit="char", ngram=3, threshold=0.6)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def window_texts(count: int) -> list[str]:
    """Return texts of 20 made-up words, each shifted by two: neighbors .818, two apart .667, ten apart 0."""
    return [" ".join(f"w{word:03}" for word in range(2 * k, 2 * k + 20)) for k in range(count)]


def outcome(result: Result) -> list[tuple[int, float]]:
    """Return of each document the one kept in its stead, and the similarity to it."""
    return list(zip(result.kept_doc.tolist(), result.similarity.tolist(), strict=True))


class DedupContract:
    """Tests of an engine, given as `dedup(data, recipe, **options)`."""

    def dedup(self, data: Any, recipe: Recipe, **options: Any) -> Result:
        """Run the engine."""
        raise NotImplementedError

    @given(corpora(), recipe_fields())
    def test_outcome_equals_the_reference(self, corpus: list[str], fields: dict[str, Any]) -> None:
        """With bands that find every pair, pairs and outcome are those of the all-pairs reference."""
        recipe = Recipe(**fields | {"bands": 128, "rows": 1})
        found = reference.pairs(corpus, recipe)

        result = self.dedup(corpus, recipe)

        assert reference.CLUSTER[recipe.cluster](corpus, recipe) == outcome(result)
        pairs = {(row["id_a"], row["id_b"]): row["similarity"] for row in result.pairs.to_pylist()}
        assert all(found[pair] == similarity for pair, similarity in pairs.items())
        assert {frozenset(one) for one in expand(pairs)} == {frozenset(pair) for pair in found}

    @given(corpora(), recipe_fields(), st.sampled_from(["count", "tfidf"]))
    def test_weighted_pairs_equal_the_reference(self, corpus: list[str], fields: dict[str, Any], weights: Any) -> None:
        """By counts the similarities are those of the reference; by tf-idf weights too, but for their rounding."""
        recipe = Recipe(**fields | {"bands": 128, "rows": 1, "sketch": "weighted", "weights": weights})
        found = reference.weighted_pairs(corpus, recipe, tfidf=weights == "tfidf")
        at_threshold = {pair for pair, similarity in found.items() if similarity - recipe.threshold < 1e-5}

        result = self.dedup(corpus, recipe)

        pairs = {(row["id_a"], row["id_b"]): row["similarity"] for row in result.pairs.to_pylist()}
        assert all(found.get(pair, recipe.threshold) == pytest.approx(one, abs=1e-5) for pair, one in pairs.items())
        if weights == "count":
            assert all(found[pair] == similarity for pair, similarity in pairs.items())
            at_threshold = set()
        assert found.keys() - at_threshold <= expand(pairs) | {(b, a) for a, b in expand(pairs)}

    @given(corpora(), recipe_fields(), st.sampled_from([0.2, 0.5]))
    def test_frequent_shingles_do_not_count(self, corpus: list[str], fields: dict[str, Any], max_df: float) -> None:
        """With a limit of their frequency, pairs are those of the reference; exact copies are removed all the same."""
        recipe = Recipe(**fields | {"bands": 128, "rows": 1, "max_df": max_df})
        found = reference.pairs_without_frequent(corpus, recipe, max_df)

        result = self.dedup(corpus, recipe)

        pairs = {(row["id_a"], row["id_b"]): row["similarity"] for row in result.pairs.to_pylist()}
        assert all(found[pair] == similarity for pair, similarity in pairs.items())
        assert {frozenset(one) for one in expand(pairs)} == {frozenset(pair) for pair in found}

    @pytest.mark.parametrize("num_perm", [64, 128])
    @pytest.mark.parametrize("weights", ["none", "count", "tfidf"])
    def test_simhash_finds_every_pair_within_its_distance(self, num_perm: int, weights: Any) -> None:
        """By estimate, pairs are all those of which at most so many bits differ, with the share of bits in common."""
        texts = [f"{text} {k}" for text in window_texts(30) for k in range(3)]
        recipe = Recipe(sketch="simhash", num_perm=num_perm, distance=7, weights=weights, verify="estimate")
        chosen = self.dedup(texts, recipe)
        loose = self.dedup(texts, recipe.replace(verify="exact", threshold=0.01))

        assert chosen.pairs.num_rows > 0
        assert all(1 - 7 / num_perm <= one for one in chosen.pairs["similarity"].to_pylist())
        assert chosen.stats.promised_recall == 1.0
        assert set(zip(*chosen.pairs.select(["id_a", "id_b"]).to_pydict().values(), strict=True)) == set(
            zip(*loose.pairs.select(["id_a", "id_b"]).to_pydict().values(), strict=True)
        )

    @given(corpora(), st.sampled_from(["min:score", "max:score"]), st.data())
    def test_keep_by_field_equals_the_reference(self, corpus: list[str], keep: str, data: st.DataObject) -> None:
        """The preferred value of a field is kept, a null to nothing preferred, ties to the earlier."""
        recipe = Recipe(ngram=2, threshold=0.5, keep=keep, bands=128, rows=1)
        scores = data.draw(st.lists(st.none() | st.integers(0, 3), min_size=len(corpus), max_size=len(corpus)))

        result = self.dedup({"text": corpus, "score": scores}, recipe)

        assert reference.anchored(corpus, recipe, scores) == outcome(result)

    def test_examples_come_out_as_expected(self) -> None:
        """The bundled corpus gives the clusters that stand beside it."""
        result = self.dedup(EXAMPLES / "corpus.jsonl", EXAMPLE_RECIPE, id="id")

        assert read_jsonl(EXAMPLES / "clusters.jsonl") == result.clusters.to_pylist()

    def test_a_chain_is_not_one_cluster_when_anchored(self) -> None:
        """Of texts each of which is like the next only, every second stays, and none names a stranger."""
        result = self.dedup(window_texts(200), Recipe(unit="word", ngram=1, recall=0.9999))

        assert list(range(0, 200, 2)) == result.kept["id"].to_pylist()
        assert Counter([18 / 22] * 100) == Counter(result.removed["similarity"].to_pylist())
        assert all(row["id_b"] - row["id_a"] == 1 for row in result.pairs.to_pylist())

    def test_components_say_how_many_are_below_the_threshold(self) -> None:
        """The same chain is one component; 198 of its members are strangers to their representative or near so."""
        result = self.dedup(window_texts(200), Recipe(unit="word", ngram=1, recall=0.9999, cluster="components"))

        assert (1, 1, 199, 198) == (
            result.stats.kept, result.stats.clusters, result.stats.removed, result.stats.below_threshold
        )  # fmt: skip
        assert 0.0 == result.removed["similarity"][198].as_py()

    def test_texts_without_shingles_are_kept_and_counted(self) -> None:
        """Empty, blank, punctuation and emoji texts are similar to nothing, not even to their own copies."""
        texts = ["", "   ", "\u3000\u3000", "\u200b", "!!!", "……", "。。。", "😀", "-- --", "\n\n"]
        texts += ["港口恢复通航。", "集市推迟开放。"]
        for recipe in (Recipe(), Recipe(unit="word", ngram=3)):
            once = self.dedup(texts, recipe)
            twice = self.dedup(texts + texts, recipe)

            assert (12, 0, 10) == (once.stats.kept, once.stats.removed, once.stats.empty)
            assert (22, 2, 20) == (twice.stats.kept, twice.stats.removed, twice.stats.empty)

    def test_exact_copies_name_the_first(self) -> None:
        """Ten equal records and one equal after cleaning: ten removed, each naming record 0 with similarity 1."""
        names = [{"id": k, "name": "Sea wall"} for k in range(10)] + [{"id": 10, "name": "sea  wall!"}]
        data = {"id": [row["id"] for row in names], "name": [row["name"] for row in names]}

        result = self.dedup(data, Recipe(), text="name", id="id")

        assert [{"id": 0, "name": "Sea wall"}] == result.kept.to_pylist()
        assert [row | {"kept_id": 0, "similarity": 1.0} for row in names[1:]] == result.removed.to_pylist()
        assert [0] * 11 == result.clusters["cluster_id"].to_pylist()
        assert [(0, k) for k in range(1, 11)] == list(
            zip(result.pairs["id_a"].to_pylist(), result.pairs["id_b"].to_pylist(), strict=True)
        )

    @pytest.mark.parametrize("verify", ["exact", "estimate"])
    @pytest.mark.parametrize("cluster", ["anchored", "components"])
    @pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
    def test_each_cluster_keeps_one(self, verify: Any, cluster: Any, keep: str) -> None:
        """Three groups of three equal texts and four singles leave seven, by every combination."""
        texts = ["red kite over the bay"] * 3 + ["blue boat in the fog"] * 3 + ["old mill by the weir"] * 3
        texts += ["one fine day", "two left shoes", "three wet cats", "four tall pines"]

        result = self.dedup(texts, Recipe(verify=verify, cluster=cluster, keep=keep))

        assert (7, 6, 3) == (result.stats.kept, result.stats.removed, result.stats.clusters)
        assert 3 == sum(row["kept"] for row in result.clusters.to_pylist())

    def test_pairs_at_the_threshold_are_found_as_promised(self) -> None:
        """Of a thousand pairs exactly at the threshold at least .97 are found for a promise of .99; none is below."""
        texts = []
        for pair in range(1000):
            words = [f"p{pair}w{n}" for n in range(10)]
            texts += [" ".join(words[:9]), " ".join(words[:8] + words[9:])]

        result = self.dedup(texts, Recipe(unit="word", ngram=1, threshold=0.8))

        assert {0.8} == set(result.pairs["similarity"].to_pylist())
        assert result.pairs.num_rows >= 970

    def test_candidates_below_the_threshold_are_no_pairs(self) -> None:
        """3,000 texts that share a scaffold at .714 meet often and are never called similar at .8."""
        words = " ".join(f"w{n:03}" for n in range(60))
        texts = [f"{words} " + " ".join(f"t{k}x{n}" for n in range(12)) for k in range(3000)]

        result = self.dedup(texts, Recipe(unit="word", ngram=1, recall=0.999))

        assert (0, 0) == (result.pairs.num_rows, result.stats.removed)
        assert result.stats.candidates > 0 == result.stats.verified

    def test_one_word_texts_do_not_meet(self) -> None:
        """Ten thousand different texts of one shingle each: no pair, and hardly a candidate."""
        result = self.dedup([f"word{k}" for k in range(10_000)], Recipe(unit="word", ngram=1))

        assert 0 == result.pairs.num_rows
        assert result.stats.candidates < 10


def expand(pairs: dict[tuple[int, int], float]) -> set[tuple[int, int]]:
    """Return all pairs that stars of copies stand for: the copies of a document are in each of its pairs."""
    copies: dict[int, set[int]] = {}
    for (a, b), similarity in pairs.items():
        if similarity == 1.0:
            group = copies.get(a, {a}) | copies.get(b, {b})
            copies |= dict.fromkeys(group, group)
    return {(x, y) for a, b in pairs for x in copies.get(a, {a}) for y in copies.get(b, {b}) if x != y} | {
        (x, y) for group in copies.values() for x in group for y in group if x != y
    }
