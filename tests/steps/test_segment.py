"""Where Chinese words begin: held against what the dictionary makes of each text alone, and against jieba itself."""

import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from helpers import as_strings, as_texts
from neardup.recipe import Recipe
from neardup.steps import segment
from neardup.steps.clean import clean
from neardup.steps.segment import segmenter, word_starts

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba

JIEBA: Final = segmenter(())
SENTENCES: Final = (
    "港口恢复通航后，渔民们纷纷把船开出了海湾。",
    "他来到了网易杭研大厦，和小李一起讨论云计算平台的价格。",
    "本条例自2024年1月1日起施行，原《集市管理办法》同时废止。",
    "研究生命起源的人，往往也研究生物化学和地质学。",
    "结婚的和尚未结婚的都要到乒乓球拍卖完之前来登记。",
    "AI模型在T恤上印了卡拉OK的歌词，3.14%的人没看懂。",
    "春天的港口很安靜，漁船在薄霧裏慢慢靠岸，岸上的人點著燈等他們回來。",
    "朝に漁師たちは海へ出て、夜遅くに港へ帰ってきました。",
    "아침에 漁夫들이 바다로 나갔다.",
    "二〇二四年五月，张三丰与欧阳明日在𠮷野家谈了个㐂事。",
)
ODD: Final = "ab1 .-%_+#&,。\u3000\ud800\U00020bb7〇々かカ한éя\u0301กั\x00\u200b㐂\u9fd6\u9ffb豈ﾃ"


def han() -> st.SearchStrategy[str]:
    """Return pieces of sentences, Han characters of all kinds, and odd code points, put together."""
    pieces = st.tuples(st.sampled_from(SENTENCES), st.integers(0, 30), st.integers(1, 12)).map(
        lambda cut: cut[0][cut[1] : cut[1] + cut[2]]
    )
    common = st.text("".join(sorted(set("".join(SENTENCES)))), max_size=8)
    anything = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=4)
    return st.lists(st.one_of(pieces, pieces, common, anything, st.text(ODD, max_size=4)), max_size=8).map("".join)


def is_han(point: str) -> bool:
    """Tell the characters that jieba makes words of."""
    return "\u4e00" <= point <= "\u9fd5"


def alone(text: str, cut: Callable[[str], Iterable[str]] = JIEBA.cut) -> list[bool]:
    """Return of each code point whether a word begins there; true where neither it nor the last one is Han.

    What is neither ASCII nor Han to jieba parts words, and takes no part in how likely a way to cut is.
    """
    known = "".join(point if is_han(point) or point.isascii() else "\n" for point in text)
    ends = np.cumsum([0, *map(len, cut(known))]).tolist()
    beside_han = [is_han(point) or is_han(before) for before, point in pairwise(f" {text}")]
    return [not beside or place in set(ends) for place, beside in enumerate(beside_han)]


def of_ours(texts: list[str], **fields: Any) -> tuple[list[str], list[list[bool]]]:
    """Return the clean texts, and the same of each of them as `word_starts` has it."""
    cleaned = clean(as_texts(texts), Recipe(unit="word", **fields))
    starts = word_starts(cleaned, lambda: JIEBA)
    strings = as_strings(cleaned)
    found = []
    for text, (a, b) in zip(strings, pairwise(cleaned.offsets), strict=True):
        beside_han = [is_han(point) or is_han(before) for before, point in pairwise(f" {text}")]
        found.append([not beside or start for beside, start in zip(beside_han, starts[a:b].tolist(), strict=True)])
    return strings, found


@given(st.lists(han(), max_size=6), st.booleans())
def test_words_begin_where_they_do_in_each_text_alone(texts: list[str], is_raw: bool) -> None:
    """Many texts in one call give the words that each gives alone; so do texts that cleaning leaves as they are."""
    raw = {"punct": "keep", "invisible": "keep", "normalize": "none", "case": "keep", "width": "keep"}

    strings, found = of_ours(texts, **(raw if is_raw else {}))

    assert [alone(text) for text in strings] == found


@given(st.lists(strategies.texts(), max_size=6))
def test_any_text_is_cut(texts: list[str]) -> None:
    """Lone surrogates, control characters and every script do no harm."""
    strings, found = of_ours(texts)

    assert [alone(text) for text in strings] == found


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_are_those_of_jieba(sentence: str) -> None:
    """Of real sentences; where two ways to cut are equally likely, as in 天天天, rounding decides, and may differ."""
    assert alone(sentence, jieba.cut) == alone(sentence)


def test_known_sentences() -> None:
    """Sentences that are famous for their words, and names that are in no dictionary."""
    expected = {
        "我来到北京清华大学": "我 来到 北京 清华大学",
        "他来到了网易杭研大厦": "他 来到 了 网易 杭研 大厦",
        "研究生命起源": "研究 生命 起源",
        "乒乓球拍卖完了": "乒乓球 拍卖 完 了",
    }
    for text, words in expected.items():
        assert words == " ".join(JIEBA.cut(text))


@pytest.mark.parametrize("size", [1, 7, 50])
def test_how_much_is_sent_in_a_call_is_of_no_account(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls end between runs, so that no word is cut."""
    texts = [sentence * 3 for sentence in SENTENCES] + ["", "abc", "港"]
    at_once = of_ours(texts)
    monkeypatch.setattr(segment, "_CALL", size)

    assert at_once == of_ours(texts)


def test_a_segmenter_is_asked_for_han_alone() -> None:
    """Texts in other scripts want none; kana and Hangul beside no Han neither."""

    def never() -> Any:
        raise AssertionError

    cleaned = clean(
        as_texts(["low tide", "ひらがな カタカナ", "한국어", "ไทย", "\U00020bb7㐂", ""]), Recipe(unit="word")
    )

    assert word_starts(cleaned, never).all()


def test_only_runs_with_han_are_sent() -> None:
    """A long English text with one Chinese word costs one word."""
    sent: list[str] = []

    class Listening:
        def cut(self, text: str) -> list[str]:
            sent.append(text)
            return JIEBA.cut(text)

    texts = ["the ferry " * 1000 + "渡轮 left" + " at nine" * 1000, "カラオケ店で", "ＡＩ在线"]
    word_starts(clean(as_texts(texts), Recipe(unit="word")), Listening)

    assert ["渡轮\n店\nai在线\n"] == sent


def test_a_run_without_an_end_is_cut() -> None:
    """A million characters without a space or stop between them are one run."""
    text = "港口恢复通航渔民出海研究生命起源" * 20_000

    strings, found = of_ours([text])

    assert [text] == strings
    assert found[0][:1600] == alone(text[:1600])
