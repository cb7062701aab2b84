"""Texts that fool a comparison: scripts, marks, spaces, emoji, numbers, code, markup, and what is too short."""

import html
import random
import unicodedata
from typing import Any, Final

import pytest

import neardup
from helpers import as_texts
from neardup.recipe import Recipe
from neardup.steps.markup import strip_markup

FERRY: Final = "the ferry leaves at nine and returns before dark"
PORT: Final = "春天的港口很安静，渔船在薄雾里慢慢靠岸，岸上的人点着灯等他们回来，孩子们在石阶上数着贝壳。"
PORT_CHANGED: Final = PORT.replace("港口", "海港").replace("回来", "回家").replace("数着", "数")
PORT_TRADITIONAL: Final = "春天的港口很安靜，漁船在薄霧裏慢慢靠岸，岸上的人點着燈等他們回來，孩子們在石階上數着貝殼。"
MEETING: Final = (
    "会议定于２０２４年５月３日在ＡＢＣ大厦举行，请带ＩＤ卡。",
    "会议定于2024年5月3日在ABC大厦举行,请带ID卡.",
)
BARE: Final = "كتب الولد الدرس في البيت الكبير"
VOWELLED: Final = "كَتَبَ الوَلَدُ الدَّرْسَ فِي البَيْتِ الكَبِيرِ"
MORNING_AND_NIGHT: Final = [
    ("Утром рыбаки вышли в море и вернулись только поздно вечером", "Утром", "Ночью"),
    ("Το πρωί οι ψαράδες βγήκαν στη θάλασσα και γύρισαν αργά το βράδυ", "πρωί", "απόγευμα"),
    ("خرج الصيادون إلى البحر صباحا وعادوا إلى الميناء في المساء", "صباحا", "ليلا"),
    ("בבוקר יצאו הדייגים לים וחזרו לנמל רק מאוחר בערב", "בבוקר", "בלילה"),
    ("सुबह मछुआरे समुद्र में गए और शाम को देर से लौटे थे", "सुबह", "रात"),
    ("காலையில் மீனவர்கள் கடலுக்குச் சென்று மாலையில் திரும்பினர் என்று சொன்னார்கள்", "காலையில்", "இரவில்"),
    ("ตอนเช้าชาวประมงออกทะเลและกลับมาถึงท่าเรือตอนค่ำ", "เช้า", "สาย"),
    ("ពេលព្រឹកអ្នកនេសាទចេញទៅសមុទ្រហើយត្រឡប់មកវិញនៅពេលល្ងាច", "ព្រឹក", "យប់"),
    ("아침에 어부들이 바다로 나갔다가 저녁 늦게 항구로 돌아왔습니다", "아침에", "새벽에"),
    ("朝に漁師たちは海へ出て、夜遅くに港へ帰ってきました。", "朝", "昼"),
    ("დილით მეთევზეები ზღვაში გავიდნენ და გვიან საღამოს დაბრუნდნენ ნავსადგურში", "დილით", "ღამით"),
    ("ጠዋት ዓሣ አጥማጆች ወደ ባሕር ወጥተው ማታ ዘግይተው ተመለሱ", "ጠዋት", "ሌሊት"),
    ("ᏑᎾᎴᎢ ᎠᎾᎦᏘᏍᎩ ᎠᎺᏉᎯ ᎤᏁᏅᏒ ᎠᎴ ᎤᏒᎢ ᏭᏂᎷᏨ ᎦᏚᎲᎢ", "ᏑᎾᎴᎢ", "ᏒᏃᏱ"),
]


def bus(number: int) -> str:
    """Return one of many texts that differ in a number."""
    return f"Bus route {number} (service {number}) calls at Mill Lane, Stone Bridge and the Old Town Hall on weekdays."


def words(prefix: str, count: int) -> str:
    """Return made-up words."""
    return " ".join(f"{prefix}{n}" for n in range(count))


def check(a: str, b: str, expected: float, **fields: Any) -> None:
    """Compare both ways, to three digits."""
    found = neardup.similarity(a, b, Recipe(**fields))

    assert found == neardup.similarity(b, a, Recipe(**fields))
    assert expected == pytest.approx(found, abs=5e-4)


@pytest.mark.parametrize("fields", [{}, {"unit": "word"}, {"unit": "token"}, {"ngram": 32}])
def test_texts_shorter_than_a_shingle_are_whole_shingles(fields: dict[str, Any]) -> None:
    """Equal short texts are copies and different ones are not, whatever n is."""
    texts = ["cat", "dog", "cat", "Cat!", "max", "不", "好", "不", "今天去爬山", "今天去爬山了"]

    result = neardup.dedup(texts, recipe=Recipe(**fields))

    assert [0, 1, 0, 0, 4, 5, 6, 5, 8, 9] == result.kept_doc.tolist()
    assert 0 == result.stats.empty


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"ngram": 2}, 0.735),
        ({"ngram": 3}, 0.627),
        ({"unit": "word", "ngram": 1}, 0.778),
        ({"unit": "token", "ngram": 2}, 0.717),
    ],
)
def test_chinese_is_never_one_word_a_clause(fields: dict[str, Any], expected: float) -> None:
    """Three changed words leave two sentences much alike in every unit."""
    check(PORT, PORT_CHANGED, expected, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"ngram": 2, "threshold": 0.5},
        {"ngram": 3, "threshold": 0.5},
        {"ngram": 5, "threshold": 0.5},
        {"unit": "word", "ngram": 1, "threshold": 0.5},
        {"unit": "token", "ngram": 1, "threshold": 0.5},
    ],
)
def test_every_script_is_compared(fields: dict[str, Any]) -> None:
    """A sentence is found by the copy with another word, by no stranger, and is never empty."""
    texts = [text for one, old, new in MORNING_AND_NIGHT for text in (one, one.replace(old, new))]

    result = neardup.dedup(texts, recipe=Recipe(**fields))

    assert [doc - doc % 2 for doc in range(len(texts))] == result.kept_doc.tolist()
    assert (0, len(MORNING_AND_NIGHT)) == (result.stats.empty, result.pairs.num_rows)


@pytest.mark.parametrize(
    ("a", "b", "fields", "expected"),
    [
        ("【转让】九成新儿童自行车", "转让：九成新儿童自行车！！", {}, 1.0),
        ("红灯停，绿灯行。", "绿灯停，红灯行。", {"ngram": 2}, 0.714),
        ("红灯停，绿灯行。", "绿灯停，红灯行。", {"ngram": 3}, 0.111),
        (PORT, PORT_TRADITIONAL, {"ngram": 2}, 0.303),
        ("的的的的的的", "了了了了了了", {"ngram": 2}, 0.0),
    ],
)
def test_short_and_other_chinese(a: str, b: str, fields: dict[str, Any], expected: float) -> None:
    """Brackets are no difference, the order of words is, and so is the other way to write."""
    check(a, b, expected, **fields)


@pytest.mark.parametrize(
    ("a", "b", "fields", "expected"),
    [
        (41, 47, {}, 0.806),
        (41, 47, {"ngram": 8}, 0.673),
        (41, 47, {"unit": "word", "ngram": 2}, 0.619),
        (41, 47, {"unit": "word", "ngram": 3}, 0.524),
        (41, 905, {}, 0.760),
        (41, 47, {"digits": "zero"}, 1.0),
        (41, 905, {"digits": "zero"}, 0.920),
    ],
)
def test_texts_that_differ_in_a_number(a: int, b: int, fields: dict[str, Any], expected: float) -> None:
    """They are alike as far as their shingles are, and equal only where digits are set to zero."""
    check(bus(a), bus(b), expected, **fields)


def test_halves_of_a_surrogate_pair_are_texts() -> None:
    """Equal halves are copies; the other half and the whole pair are different texts."""
    texts = ["flag \ud83c end", "flag \udf78 end", "flag \ud83c\udf78 end", "flag \ud83c end"]

    assert [0, 1, 2, 0] == neardup.dedup(texts, recipe=Recipe(threshold=1.0)).kept_doc.tolist()


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("Tôi đang học tiếng Việt ở Hà Nội mỗi buổi sáng", 0.0526),
        ("오늘은 바다에 안개가 짙게 끼었습니다", 0.0),
    ],
)
def test_composed_and_decomposed_texts_are_equal(text: str, raw: float) -> None:
    """Normalization makes them one; without it next to nothing is common. What is kept is as it came."""
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)

    check(composed, decomposed, 1.0)
    check(composed, decomposed, 1.0, normalize="nfc")
    check(composed, decomposed, raw, normalize="none")
    assert [decomposed] == neardup.dedup([decomposed, composed]).kept["text"].to_pylist()


@pytest.mark.parametrize(
    ("a", "b", "nfkc", "nfc"),
    [
        ("5² tiles", "52 tiles", 1.0, 1 / 3),
        ("x₂", "x2", 1.0, 0.0),
        ("½", "1/2", 1.0, 0.0),
        ("①", "1", 1.0, 0.0),
        ("\uf900", "\u8c48", 1.0, 1.0),
        ("ｶﾞｷﾞ", "ガギ", 1.0, 1.0),
        (*MEETING, 1.0, 1.0),
    ],
)
def test_compatibility_forms_fold_as_far_as_asked(a: str, b: str, nfkc: float, nfc: float) -> None:
    """NFKC makes one of superscripts and fractions, NFC with folded width of full-width forms only."""
    check(a, b, nfkc)
    check(a, b, nfc, normalize="nfc")


def test_full_width_forms_stay_where_nothing_folds_them() -> None:
    """Each switch works without the other."""
    check(*MEETING, 0.163, ngram=3, normalize="none", width="keep")
    check(*MEETING, 1.0, ngram=3, normalize="none")


@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028", "\x85", "\v", "\f", "\n\n", " ", "\t"])
def test_line_ends_and_tabs_are_spaces(end: str) -> None:
    """Texts from any system are equal, and a line end at the end is nothing."""
    lines = ["one fine line", "two lines here", "the third", "the fourth", "and the last"]

    check("\n".join(lines), end.join(lines) + end, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        FERRY.replace("e", "e\u200b"),
        FERRY.replace("ferry", "fer\u00adry"),
        FERRY.replace("nine", "ni\ufeffne"),
        f"\u202b{FERRY}\u202c",
        FERRY.replace("at", "a\u2060t"),
        FERRY.replace(" ", "\u00a0"),
        FERRY.replace(" ", "\u3000"),
    ],
)
def test_what_cannot_be_seen_is_no_difference(text: str) -> None:
    """Zero-width, soft, directional characters and other spaces; the text that stays is as it came."""
    check(FERRY, text, 1.0)
    assert [text] == neardup.dedup([text, FERRY]).kept["text"].to_pylist()


def test_a_zero_width_space_in_place_of_a_space_joins_words() -> None:
    """The texts are close, and equal where white space is dropped; kept, such characters count."""
    check(FERRY, FERRY.replace("leaves at", "leaves\u200bat"), 0.8125)
    check(FERRY, FERRY.replace("leaves at", "leaves\u200bat"), 1.0, space="drop")
    check(FERRY, FERRY.replace("e", "e\u200b"), 0.185, invisible="keep")
    check("می\u200cروم", "میروم", 1.0)


@pytest.mark.parametrize(
    ("a", "b", "default", "kept"),
    [
        ("Great match today 😀😀", "Great match today 😡😡", 1.0, 7 / 9),
        ("👍", "👎", 0.0, 0.0),
        ("👍", "👍", 0.0, 1.0),
        ("C", "C++", 1.0, 0.0),
        ("C++", "C#", 1.0, 0.0),
        ("¥5", "$5", 1.0, 0.0),
        ("if (speed > limit) stop(); else go();", "if (speed < limit) stop(); else go();", 1.0, 0.737),
        ("return 3 * r * r", "# return 3 * r * r", 1.0, 12 / 14),
        ("……，，，。。。" * 20 + "春江花月", "……，，，。。。" * 20 + "秋水长天", 0.0, 0.0),
        ("……，，，。。。" * 20, "……，，，。。。" * 20, 0.0, 0.0),
    ],
)
def test_symbols_count_when_kept(a: str, b: str, default: float, kept: float) -> None:
    """By default emoji and operators are spaces, and a text of them is empty; punctuation alone never counts."""
    check(a, b, default)
    check(a, b, kept, punct="keep")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("DIE STRASSE IST GESPERRT", "Die Straße ist gesperrt", 1.0),
        ("GROẞ", "gross", 1.0),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ", 1.0),
        ("İSTANBUL LİMANI", "istanbul limanı", 1 / 3),
        ("İ" * 10_000, "i\u0307" * 10_000, 1.0),
    ],
)
def test_letters_are_folded_in_full(a: str, b: str, expected: float) -> None:
    """Also where a letter becomes two; the Turkish letters stay different from the others."""
    check(a, b, expected)
    check(a, b, 0.0, case="keep")


def test_vowel_signs_and_stretched_letters_count() -> None:
    """Arabic with and without them are different texts; digits of other scripts are digits."""
    check(BARE, VOWELLED, 0.184, ngram=2)
    check(BARE, BARE.replace("كتب", "كتـــب"), 0.781)
    check("٣ كتب جديدة", "3 كتب جديدة", 1.0, digits="zero")


def test_a_text_inside_a_longer_one_is_no_near_duplicate() -> None:
    """Similarity is the share of both; the estimate stays within five standard errors for any sizes."""
    fields: dict[str, Any] = {"unit": "word", "ngram": 1}
    excerpt = words("a", 104)

    check(words("a", 50), f"{words('a', 50)} {words('b', 450)}", 0.1, **fields)
    found = neardup.similarity(excerpt, f"{excerpt} {words('b', 20_673)}", Recipe(**fields))
    assert 104 / 20_777 == found
    assert abs(found.estimate - found) < 5 * (found * (1 - found) / 128) ** 0.5


@pytest.mark.parametrize(
    ("a", "b", "fields", "expected"),
    [
        ("The vote did pass on Monday after long talks in the harbour town",
         "The vote did not pass on Monday after long talks in the harbour town", {}, 0.851),
        ("apple " * 40 + "banana " * 2, "apple " * 2 + "banana " * 40, {"unit": "word", "ngram": 1}, 1.0),
        (words("w", 10), f"{words('w', 10)} " * 3, {"unit": "word", "ngram": 1}, 1.0),
        (words("w", 10), f"{words('w', 10)} " * 3, {"unit": "word", "ngram": 5}, 0.6),
        ("1 23", "12 3", {"unit": "word", "ngram": 2}, 0.0),
        ("AI在線", "A I在線", {"unit": "token", "ngram": 2}, 0.25),
    ],
)  # fmt: skip
def test_similarity_is_of_sets_of_shingles(a: str, b: str, fields: dict[str, Any], expected: float) -> None:
    """A negation is a word among others, repeats count once, and words do not run together."""
    check(a, b, expected, **fields)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<a title='x > y'>b</a>c", "bc"),
        ("<a title='x >b</a> d<p>e", "b d\ne"),
        ("<![if !IE]>a<![endif]>b", "ab"),
        ("<![strange[ x ]]> there", " there"),
        ("<![ x", "<![ x"),
        ("<!DOCTYPE html><?php x ?>y", "y"),
        ("<!-- a > b --> c<!--> d", " c d"),
        ("<!-- never ends <b>x</b>", "<!-- never ends x"),
        ("<sCript>if (a<b) { '</p>' }</scripty></sCRIPT >y", "\n\ny"),
        ("<script>never ends <p>", "\n"),
        ("<p\n>a</P\n>b", "\na\nb"),
        ("</>a</ x>", "</>a</ x>"),
        ("1 <2 and 3>2", "1 <2 and 3>2"),
        ("&amp;lt; &#x41; &#" + "9" * 5000 + ";", "&lt; A \ufffd"),
        ("&#x110000;&#xd800;", "\ufffd\ufffd"),
    ],
)
def test_odd_markup_is_taken_out(page: str, expected: str) -> None:
    """Strange, broken and endless constructs neither stop a run nor swallow the page."""
    assert expected == bytes(strip_markup(as_texts([page])).data).decode()


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<!-- >", "<a ", "<a '>", "<a href='", '<a"><a', "</", "<?", "<![CDATA[", "<script>", "<style></script", "&#1"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", ">", "'>"])
def test_markup_is_stripped_in_linear_time(piece: str, end: str) -> None:
    """Half a megabyte of openings without an end takes no longer than other texts; each byte is looked at a few times."""
    page = piece * (500_000 // len(piece)) + end

    stripped = strip_markup(as_texts([page]))

    assert stripped.offsets[-1] <= len(page)


def test_any_markup_gives_some_text() -> None:
    """Pieces of markup in any order never raise, and text without markup is what it was."""
    rng = random.Random(5)
    pieces = ["<", "<!--", "-->", ">", "'", '"', "a", "</", "script", "style", " ", "&#x", "/", "!", "[", "&lt;", "<b"]
    pages = ["".join(rng.choices(pieces, k=rng.randint(0, 25))) for _ in range(3000)]

    stripped = strip_markup(as_texts(pages))

    assert len(pages) + 1 == stripped.offsets.size
    plain = [page for page in pages if "<" not in page]
    assert "".join(map(html.unescape, plain)) == bytes(strip_markup(as_texts(plain)).data).decode()
