"""Words that a recipe brings: Chinese by a dictionary, the user's own, stop words, and simplified characters."""

import json
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
import reference
from contract_dedup import read_jsonl
from helpers import as_sets, as_strings, as_texts
from neardup import cli, lexicon, records
from neardup.errors import InputError, MissingExtraError, UsageError
from neardup.kernel import Threads
from neardup.pipeline import sign
from neardup.recipe import Recipe, stopwords_path
from neardup.steps import clean as cleaning
from neardup.steps.clean import clean
from strategies import texts as any_texts

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba

PORT: Final = "春天的港口很安静，渔船在薄雾里慢慢靠岸，岸上的人点着灯等他们回来，孩子们在石阶上数着贝壳。"
PORT_TAIWAN: Final = "春天的港口很安靜，漁船在薄霧裡慢慢靠岸，岸上的人點著燈等他們回來，孩子們在石階上數著貝殼。"
PORT_HONG_KONG: Final = "春天的港口很安靜，漁船在薄霧裏慢慢靠岸，岸上的人點着燈等他們回來，孩子們在石階上數着貝殼。"
WORDS: Final = Recipe(unit="word", ngram=1)
FUNCTION_WORDS: Final = ("the", "of", "to", "be", "的", "了", "在")


def units(text: str, recipe: Recipe) -> list[str]:
    """Return the units of a text, by how its code points go together under the recipe."""
    cleaned = clean(as_texts([text]), recipe)
    starts = lexicon.starts_of(cleaned, recipe)
    whole = as_strings(cleaned)[0]
    ends = [0]
    for end in range(1, len(whole) + 1):  # a unit ends where one more code point changes the hash of the last
        part = type(cleaned)(cleaned.points[:end], np.array([0, end]))
        after = type(cleaned)(cleaned.points[: end + 1], np.array([0, min(end + 1, len(whole))]))
        n_units = lexicon.units_of(part, starts[:end], recipe).values.size
        if end == len(whole) or lexicon.units_of(after, starts[: end + 1], recipe).values.size > n_units:
            ends.append(end)
    return [part.strip() for a, b in pairwise(ends) if (part := whole[a:b]).strip()]


def write(path: Path, text: str) -> str:
    """Write a list of words, and return its name."""
    path.write_text(text, encoding="utf-8")
    return str(path)


def count(text: str, recipe: Recipe) -> int:
    """Return how many shingles a text has."""
    return int(neardup.shingles([text], recipe).hashes.size)


# Chinese words


def test_chinese_makes_words_with_the_letters_beside_it() -> None:
    """Han characters make the words of the dictionary; letters, digits, marks and other scripts keep their rule."""
    assert ["港口", "恢复", "通航", "the", "port", "reopened"] == units("港口恢复通航, the port reopened", WORDS)
    assert ["ai", "在线", "b2", "店"] == units("AI在线b2店", WORDS)
    assert ["二", "〇", "二", "四年"] == units("二〇二四年", WORDS)
    assert ["\U00020bb7", "野家"] == units("\U00020bb7野家", WORDS)


def test_other_scripts_are_cut_by_their_own_rule() -> None:
    """Kana and Thai letters stand alone, Hangul makes words between spaces, and `token` takes its syllables."""
    assert ["東", "京都", "に", "住", "む"] == units("東京都に住む", WORDS)
    assert ["東", "京", "都", "に", "住", "む"] == units("東京都に住む", Recipe(unit="token"))
    assert ["항구가", "다시", "열렸다"] == units("항구가 다시 열렸다", WORDS)
    assert ["항", "구", "가"] == units("항구가", Recipe(unit="token"))
    assert ["ก", "ลั", "บ"] == units("กลับ", WORDS)


@pytest.mark.parametrize("fields", [{"unit": "word", "ngram": 2}, {"unit": "token", "ngram": 3}, {"ngram": 4}])
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("朝に漁師たちは海へ出て、夜遅くに港へ帰ってきました。それから網を干して、酒を飲みました。", "海", "沖"),
        ("아침에 어부들이 바다로 나갔다가 저녁 늦게 항구로 돌아와서 그물을 말리고 술을 마셨다", "바다로", "먼바다로"),
        ("ตอนเช้าชาวประมงออกทะเลและกลับมาถึงท่าเรือตอนค่ำ", "เช้า", "สาย"),
    ],
)
def test_an_edited_sentence_stays_similar(text: str, old: str, new: str, fields: dict[str, Any]) -> None:
    """Japanese, Korean and Thai with a word changed are alike in every unit, and not equal."""
    assert 0.4 < neardup.similarity(text, text.replace(old, new), Recipe(**fields)) < 1.0


@given(st.lists(any_texts(), max_size=8), st.sampled_from(["default", None]))
def test_a_text_has_the_shingles_it_has_alone(texts: list[str], stopwords: str | None) -> None:
    """Whatever is cut beside it."""
    recipe = Recipe(unit="word", ngram=2, han="simplified", stopwords=stopwords)

    alone = [as_sets(neardup.shingles([text], recipe))[0] for text in texts]

    assert alone == as_sets(neardup.shingles(texts, recipe))


def test_a_run_says_whose_dictionary_it_used() -> None:
    """The versions of what decided beside the recipe stand in the statistics."""
    ours = neardup.dedup([PORT], recipe=WORDS.replace(han="simplified")).stats.versions
    plain = neardup.dedup([PORT]).stats.versions

    assert {"rjieba", "OpenCC"} == ours.keys() - plain.keys()


def test_threads_and_batches_are_of_no_account() -> None:
    """The same documents are signed the same, by one thread or two, in one batch or many."""
    rng = Random(4)
    texts = ["".join(rng.sample(PORT + PORT_TAIWAN + " the ferry", 40)) for _ in range(9000)]
    recipe = Recipe(unit="word", ngram=2, han="simplified", stopwords="default")
    found = []
    for n_threads, step in ((1, 9000), (2, 9000), (2, 700)):
        columns = [neardup.parts._column(texts[at : at + step]) for at in range(0, len(texts), step)]
        with Threads(n_threads) as threads:
            found.append(
                [np.concatenate(arrays, axis=-1) for arrays in zip(*sign(columns, recipe, threads), strict=True)]
            )

    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_examples_of_dropped_words_are_cut_as_the_text_is() -> None:
    """A prefix such as 研究生 is another word; what is shown are the words of the whole."""
    texts = [f"研究生命起源 {n}" for n in range(9)]

    result = neardup.dedup(texts, recipe=WORDS.replace(max_df=0.5))

    assert {"研究": 9, "生命": 9, "起源": 9} == result.stats.dropped_examples


# The user's dictionary


def test_words_of_the_user_stay_whole(tmp_path: Path) -> None:
    """With a frequency or without, with a tag or without, in any line ends; cleaned as texts are."""
    text = "李小福是创新办主任，也是雲計算专家，穿Ｔ恤唱卡拉OK"
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeff李小福 2 nr\r\n创新办 3 i\r\n\r\n云计算\n卡拉OK 9\nT恤\n".encode())

    before = units(text, WORDS)
    after = units(text, WORDS.replace(user_dict=str(file), han="simplified"))

    assert ["李小福", "是", "创新", "办", "主任"] == before[:5]
    expected = "李小福 是 创新办 主任 也 是 云计算 专家 穿 t恤 唱 卡拉ok"
    assert expected.split() == after


def test_a_dictionary_does_what_it_does_in_jieba(tmp_path: Path) -> None:
    """Random words, with frequencies and without, over random texts."""
    rng = Random(7)
    points = "中国人民法院行政机关的在了是一二不有大小上下东西海港口渔船云计算办公室主任创新"
    for trial in range(4):
        words = ["".join(rng.choices(points, k=rng.randint(2, 4))) for _ in range(12)]
        lines = [f"{word}{rng.choice(['', ' 5', ' 2000', ' 90000 n', ' nz'])}\n" for word in words]
        file = write(tmp_path / f"{trial}.txt", "".join(lines))
        theirs = jieba.Tokenizer()
        theirs.initialize()
        with open(file, "rb") as stream:
            theirs.load_userdict(stream)
        ours = lexicon._segmenter_of(WORDS.replace(user_dict=file))
        for _ in range(100):
            text = "".join(rng.choice([rng.choice(points), rng.choice(words)]) for _ in range(rng.randint(1, 12)))
            assert theirs.lcut(text) == ours.cut(text)


def test_an_edited_dictionary_is_read_anew(tmp_path: Path) -> None:
    """In the same process, for a recipe of the same name; and it makes another recipe."""
    file = write(tmp_path / "words.txt", "海湾路\n")
    recipe = WORDS.replace(user_dict=file)
    before = (units("创新办在海湾路", recipe), recipe.shingle_fingerprint)
    write(tmp_path / "words.txt", "创新办\n")

    after = (units("创新办在海湾路", recipe), recipe.shingle_fingerprint)

    assert (["创新", "办", "在", "海湾路"], ["创新办", "在"]) == (before[0], after[0][:2])
    assert before[1] != after[1]


@pytest.mark.parametrize(
    ("field", "content", "message"),
    [
        ("user_dict", "港口\n\xff".encode("latin-1", "replace") + b"\xff", "line 2: not UTF-8: invalid start byte at"),
        ("user_dict", "海湾路 1234567890123\n".encode(), "line 1: the frequency of '海湾路' has more than 12 digits."),
        (
            "user_dict",
            "海湾路\t5\n创新办,3\niPhone 5\n".encode(),
            "none of its 3 lines has a Chinese word; the form is",
        ),
        ("stopwords", "的\nNew York\n".encode(), "line 2: 'New York' is more than one word; give each a line."),
        ("stopwords", "的\n".encode("gb18030"), "line 1: not UTF-8"),
        ("stopwords", None, "cannot read the stop words: No such file or directory."),
        ("user_dict", None, "cannot read the user dictionary: No such file or directory."),
    ],
)
def test_a_list_that_cannot_be_read_is_named(field: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    """With the line, and what to do."""
    file = tmp_path / "list.txt"
    if content is not None:
        file.write_bytes(content)
    recipe = WORDS.replace(**{field: str(file)})

    with pytest.raises(InputError, match=re.escape(f"{file}") + ".*" + re.escape(message)):
        neardup.shingles(["港口"], recipe)
    if content is None:
        with pytest.raises(UsageError, match=f"cannot read the file that {field} names"):
            neardup.dedup(["港口"], recipe=recipe)


def test_lines_that_can_be_no_word_have_no_effect(tmp_path: Path) -> None:
    """Dictionaries that are about have Latin words, spaces and dots between names; an empty one is none."""
    file = write(tmp_path / "words.txt", "Edu Trust认证 2000\n列夫·托尔斯泰 3 nr\niPhone 5\n\U00020bb7野家\n海湾路 5\n")
    empty = write(tmp_path / "empty.txt", "\n")

    assert ["海湾路", "iphone"] == units("海湾路iPhone", WORDS.replace(user_dict=file))
    assert ["海湾", "路"] == units("海湾路", WORDS.replace(user_dict=empty))


# Stop words


@given(st.lists(st.sampled_from((*FUNCTION_WORDS, "harbor", "港口", "!", ",")), max_size=10), st.integers(1, 4))
def test_shingles_of_stop_words_alone_do_not_count(parts: list[str], ngram: int) -> None:
    """Held against windows of words in plain Python; with no other words in a text, they count."""
    text = " ".join(parts)
    recipe = Recipe(unit="word", ngram=ngram, punct="keep")
    words = reference.units(text, recipe)
    n_windows = max(1, len(words) - ngram + 1)
    windows = {tuple(words[at : at + ngram]) for at in range(n_windows)}
    passed_over = {"!", ","} | (set(FUNCTION_WORDS) if {"harbor", "港口"} & set(words) else set())

    expected = sum(not set(window) <= passed_over for window in windows)

    assert expected == count(text, recipe.replace(stopwords="default"))


def test_a_text_of_stop_words_alone_is_compared_by_them() -> None:
    """It is no empty text: its copies are found, and its near-copies; what has other words is a stranger to it."""
    recipe = Recipe(unit="word", ngram=2, stopwords="default", threshold=0.5)
    texts = ["To be, or not to be!", "to be or not to be", "to be or not be", "to be or not to be a harbor", "的的的"]

    result = neardup.dedup(texts, recipe=recipe)

    assert [0, 0, 0, 3, 4] == result.kept_doc.tolist()
    assert (1, 0) == (result.stats.exact_copies, result.stats.empty)
    assert 0.0 == neardup.similarity(texts[0], texts[3], recipe)


def test_strangers_that_share_function_words_are_told_apart() -> None:
    """What holds sentences together makes them alike no more."""
    one, other = "在我们的港口里，也有一个很大的集市", "在我们的学校里，也有一个很大的操场"
    plain = neardup.similarity(one, other, Recipe(unit="word", ngram=2))
    without = neardup.similarity(one, other, Recipe(unit="word", ngram=2, stopwords="default"))

    assert without < plain


def test_a_list_of_the_user(tmp_path: Path) -> None:
    """Comments and blank lines are passed over, words cleaned as texts are, and parted where cleaning parts them."""
    file = write(tmp_path / "stop.txt", "\ufeff# mine\n\nＦＥＲＲＹ  # the boat\nshan't\nC#\n漁船\n")
    recipe = WORDS.replace(stopwords=file, han="simplified")

    assert 1 == count("ferry harbor", recipe)
    assert 1 == count("I shan't", recipe)
    assert 1 == count("C harbor", recipe)
    assert 1 == count("渔船港口", recipe)
    assert 2 == count("mine harbor", recipe)


def test_words_of_several_units_are_no_stop_words_of_token(tmp_path: Path) -> None:
    """我们 in a list does not make 我 and 们 stop words, where each character stands alone; 的 does."""
    file = write(tmp_path / "stop.txt", "我们\n的\nboat\n")
    recipe = Recipe(unit="token", ngram=1, stopwords=file)

    assert 3 == count("我们的港", recipe)
    assert 1 == count("boat港", recipe)


@pytest.mark.parametrize("content", ["", "# nothing\n", "。\n"])
def test_an_empty_list_is_none(content: str, tmp_path: Path) -> None:
    """Nothing is passed over."""
    recipe = WORDS.replace(stopwords=write(tmp_path / "stop.txt", content))

    assert as_sets(neardup.shingles([PORT], WORDS)) == as_sets(neardup.shingles([PORT], recipe))


def test_our_list_is_in_order() -> None:
    """Each word once, in clean form, one unit, as `word` has them; the file goes with the package."""
    words = records.wordlists.load_stopwords(stopwords_path("default"))

    assert len(words) == len(set(words)) > 200
    assert words == as_strings(clean(as_texts(words), WORDS))
    assert {"the", "of", "的", "我们", "我們"} <= set(words)
    assert stopwords_path("default").parent == Path(neardup.__file__).parent


def test_lists_go_by_call_recipe_file_and_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All three find the same pairs, others than without the lists; the statistics name the files."""
    lists = {"stopwords": write(tmp_path / "stop.txt", "的\n"), "user_dict": write(tmp_path / "words.txt", "海湾路\n")}
    recipe = WORDS.replace(**lists, threshold=0.1, ngram=2)
    texts = ["海湾路的港口", "海湾路的的学校", "海湾路的"]
    source = write(tmp_path / "in.txt", "\n".join(texts) + "\n")
    file = write(tmp_path / "recipe.toml", recipe.to_toml())
    expected = neardup.dedup(texts, recipe=recipe).pairs.to_pylist()
    roads = [["--recipe", file], ["--unit", "word", "--ngram", "2", "--threshold", "0.1", "--stopwords",
             lists["stopwords"], "--user-dict", lists["user_dict"]]]  # fmt: skip

    for road in roads:
        outputs = ["--pairs", str(tmp_path / "pairs.jsonl"), "--stats", str(tmp_path / "stats.json")]
        monkeypatch.setattr(sys, "argv", ["neardup", "dedup", source, "-o", os.devnull, "--quiet", *outputs, *road])
        assert 0 == cli._end()

        assert expected == read_jsonl(tmp_path / "pairs.jsonl")
        echoed = json.loads((tmp_path / "stats.json").read_text(encoding="utf-8"))["recipe"]
        assert lists == {name: echoed[name] for name in lists}
    plain = neardup.dedup(texts, recipe=recipe.replace(stopwords=None, user_dict=None)).pairs.to_pylist()
    assert expected != plain


# Simplified characters


@pytest.mark.parametrize("text", [PORT_TAIWAN, PORT_HONG_KONG])
@pytest.mark.parametrize("fields", [{"ngram": 2}, {"unit": "word", "ngram": 2}, {"unit": "token", "ngram": 2}])
def test_traditional_and_simplified_are_one_text(text: str, fields: dict[str, Any]) -> None:
    """Exact copies where it is asked for, and different texts otherwise."""
    result = neardup.dedup([text, PORT], recipe=Recipe(**fields, han="simplified"))

    assert (1, 1) == (result.stats.kept, result.stats.exact_copies)
    assert 1.0 == neardup.similarity(text, PORT, Recipe(**fields, han="simplified"))
    assert neardup.similarity(text, PORT, Recipe(**fields)) < 0.5


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("看著", "看着", True),
        ("後面", "后面", True),
        ("皇后", "皇後", True),
        ("乾杯", "干杯", True),
        ("乾杯", "干部", False),
        ("什麼", "什么", True),
        ("么", "幺", False),
        ("薴", "苎", True),
        ("計畫", "计划", False),
        ("広い", "广い", False),
        ("カ", "か", False),
    ],
)
def test_simplified_forms(one: str, other: str, is_same: bool) -> None:
    """A character becomes one character, whatever stands beside it; Japanese forms are none of its business."""
    found = as_strings(clean(as_texts([one, other]), Recipe(han="simplified")))

    assert is_same == (found[0] == found[1])


@pytest.mark.parametrize("normalize", ["nfkc", "nfc", "none"])
def test_the_table_of_simplified_forms(normalize: Any) -> None:
    """Folding twice is folding once; nothing but Han changes; compatibility forms follow where they are normalized."""
    points = [chr(code) for code in (*range(0x3400, 0xA000), *range(0xF900, 0x10000), *range(0x20000, 0x32400))]
    kept = as_strings(clean(as_texts(["x" + point for point in points]), Recipe(normalize=normalize)))
    folded = as_strings(clean(as_texts(kept), Recipe(normalize=normalize, han="simplified")))

    again = as_strings(clean(as_texts(folded), Recipe(normalize=normalize, han="simplified")))

    changed = {
        (a, b) for one, other in zip(kept, folded, strict=True) for a, b in zip(one, other, strict=True) if a != b
    }
    assert folded == again
    assert 4000 < len(changed) < 6000
    assert all(unicodedata.name(point, "").startswith("CJK UNIFIED") for pair in changed for point in pair)
    assert ("龍", "龙") in changed
    if normalize != "none":
        assert "x岂" == folded[points.index("\uf900")]


def test_simplified_text_stays_as_it_is() -> None:
    """But for characters that are traditional in some of their uses."""
    assert as_strings(clean(as_texts([PORT]), Recipe())) == as_strings(
        clean(as_texts([PORT]), Recipe(han="simplified"))
    )


# What is not installed


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make as if the extra were not installed."""
    caches = (lexicon._segmenter, lexicon._segmenter_with, cleaning.table, cleaning._simplified)
    for cache in caches:
        cache.cache_clear()
    for module in ("rjieba", "opencc"):
        monkeypatch.setitem(sys.modules, module, None)
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("bare")
def test_chinese_words_want_the_extra_and_nothing_else_does() -> None:
    """The error names the pip line and the unit that needs nothing; other texts and units work without."""
    message = r"pip install 'neardup\[zh\]', or take unit = 'token' \(--unit token\), which needs nothing"
    with pytest.raises(MissingExtraError, match=message):
        neardup.dedup(["the ferry", "港口恢复通航"], recipe=WORDS, threads=2)

    assert 2 == count("the ferry", WORDS)
    assert 6 == count("港口恢复通航", Recipe(unit="token", ngram=1))


@pytest.mark.usefixtures("bare")
def test_simplified_forms_want_the_extra() -> None:
    """Not a silent no-op."""
    with pytest.raises(MissingExtraError, match=r"tables of OpenCC, which is not installed: pip install 'neardup\[zh"):
        neardup.dedup(["the ferry"], recipe=Recipe(han="simplified"), threads=2)
