"""Recipe: every choice that decides whether two texts are near-duplicates, and which of them is kept.

The only defaults of the package live here. A recipe is frozen, hashable, validated whole, and travels everywhere; it
is saved as flat TOML and known by its fingerprint.
"""

import dataclasses
import difflib
import hashlib
import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args, get_type_hints

from neardup.bands import Bands, choose_bands, s_curve
from neardup.errors import RecipeError, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Unit = Literal["char", "word", "token", "vector"]
Sketch = Literal["minhash", "oph", "superminhash", "classic", "weighted", "simhash", "hyperplane"]
Weights = Literal["none", "count", "tfidf"]
Verify = Literal["exact", "estimate"]
ClusterWay = Literal["anchored", "components"]
Normalize = Literal["nfkc", "nfc", "none"]
Width = Literal["half", "keep"]
Case = Literal["fold", "keep"]
Punct = Literal["space", "keep", "drop"]
Digits = Literal["keep", "zero"]
Invisible = Literal["drop", "keep"]
Space = Literal["collapse", "drop"]
Han = Literal["keep", "simplified"]

KEEP_POLICIES: Final = ("first", "last", "longest", "shortest", "min:FIELD", "max:FIELD")

# What a stored result depends on besides the fields: the shingle hash, the sketches, the cleaning tables.
FORMAT: Final = 2

_RANGES: Final[dict[str, tuple[int, int]]] = {"ngram": (1, 32), "num_perm": (64, 1024)}
_CLEANING: Final = ("normalize", "width", "case", "punct", "digits", "invisible", "space", "strip_html", "han")
# The fields on which the shingles of a text depend.
_SHINGLE_FIELDS: Final = ("unit", "ngram", *_CLEANING, "stopwords", "user_dict")
_FILES: Final = ("frequencies", "stopwords", "user_dict", "vectors")  # the fields that name a file
OUR_STOPWORDS: Final = "default"  # in place of a file of stop words
_DEFAULT_RECALL: Final = 0.99
_WEIGHTED: Final = ("weighted", "simhash")  # the sketches of weighted shingles


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice that decides whether two texts are near-duplicates, and which of them is kept.

    Attributes:
        unit: what a shingle is made of: code points, words, or tokens (docs/how-it-works.md); or vector, where the
            text column holds vectors.
        ngram: consecutive units in a shingle, 1 to 32.
        threshold: least similarity that counts, above 0 and at most 1.
        verify_threshold: a stricter threshold for the comparison, where bands are chosen for a lower one; or None.
        sketch: the family of signatures.
        weights: what a shingle counts: the same as any other, by how often it occurs in its text, or that times how
            rare it is among all texts; None leaves it to the sketch (none for sets; count for weighted and simhash).
        num_perm: values in a signature, 64 to 1,024; of simhash its bits, 64 or 128.
        distance: most bits in which signatures of simhash may differ; None takes 3 of 64 and 6 of 128.
        recall: promised share of the pairs at the threshold that are found, below 1.
        bands: number of bands, or None to choose bands and rows from threshold and recall.
        rows: rows of a band, or None; given together with bands.
        verify: compare candidate pairs exactly, or trust the estimate of their signatures.
        cluster: each removed document verified against the kept one, or connected components.
        max_df: shingles found in more than this share of the texts do not count; None counts all.
        frequencies: file with the document frequencies of an earlier run, in place of those of the input; or None.
        keep: which document of a cluster stays: first, last, longest, shortest, min:FIELD, max:FIELD.
        normalize: Unicode normalization form.
        width: full-width and half-width forms folded to the usual ones (NFKC does so by itself).
        case: full case folding, or letters as they are.
        punct: punctuation and symbols to a space, as they are, or dropped; connectors such as _ are parts of words.
        digits: digits as they are, or each to 0.
        invisible: control, format and zero-width characters dropped, or as they are.
        space: runs of white space to one space, or dropped.
        strip_html: take the text out of HTML markup first.
        han: traditional Han characters to simplified ones, or as they are.
        stopwords: file with words, one a line, that do not count by themselves; "default" for ours; None for none.
        user_dict: file with further words for the segmentation of Chinese, in the form of jieba's; or None.
        vectors: file of word2vec or folder of Model2Vec with the vectors of words that make the vector of a text.
    """

    unit: Unit = "char"
    ngram: int = 5
    threshold: float = 0.8
    verify_threshold: float | None = None
    sketch: Sketch = "minhash"
    weights: Weights | None = None
    num_perm: int = 128
    distance: int | None = None
    recall: float = _DEFAULT_RECALL
    bands: int | None = None
    rows: int | None = None
    verify: Verify = "exact"
    max_df: float | None = None
    frequencies: str | None = None
    cluster: ClusterWay = "anchored"
    keep: str = "first"
    normalize: Normalize = "nfkc"
    width: Width = "half"
    case: Case = "fold"
    punct: Punct = "space"
    digits: Digits = "keep"
    invisible: Invisible = "drop"
    space: Space = "collapse"
    strip_html: bool = False
    han: Han = "keep"
    stopwords: str | None = None
    user_dict: str | None = None
    vectors: str | None = None

    def __post_init__(self) -> None:
        """Refuse a value out of range, and values that do not go together.

        Raises:
            RecipeError: names the field, its value, and what is allowed.
        """
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            _check_type(field.name, value)
            if field.name in _FILES and value == "":
                raise RecipeError(f"{field.name} names a file; this name is empty.")
            if field.name in _RANGES:
                _check_range(field.name, value, *_RANGES[field.name])
        _check_shares(self)
        for name in _SHARES:  # 1 and 1.0 are one value, and have one fingerprint
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        _check_weights(self)
        if self.sketch == "simhash":
            _check_simhash(self)
        elif self.distance is not None:
            raise RecipeError(f"distance goes with sketch = 'simhash', not {self.sketch!r}; threshold does for others.")
        else:
            _check_bands(self)
        _check_keep(self.keep)
        _check_words(self)
        _check_vectors(self)
        if self.space == "drop" and self.unit != "char":
            raise RecipeError(
                f"space = 'drop' leaves no boundary between words; it goes with unit = 'char', not {self.unit!r}."
            )

    @property
    def cut(self) -> Bands:
        """The bands and rows in use: those given, or those chosen from threshold and recall; none for simhash."""
        if self.sketch == "simhash":
            return Bands(0, 0)
        if self.bands is not None and self.rows is not None:
            return Bands(self.bands, self.rows)
        return choose_bands(self.agreement(self.threshold), self.recall, self.num_perm)

    def agreement(self, similarity: float) -> float:
        """Return the chance that texts of this similarity share a value of their signatures."""
        return 1.0 - math.acos(similarity) / math.pi if self.sketch == "hyperplane" else similarity

    def chance(self, similarity: float) -> float:
        """Return the chance that texts of this similarity meet in a bucket: the S-curve of the recipe."""
        return s_curve(self.agreement(similarity), *self.cut)

    @property
    def promised_recall(self) -> float:
        """The share of pairs at the threshold that meet; for simhash, of those within its distance."""
        return 1.0 if self.sketch == "simhash" else self.chance(self.threshold)

    @property
    def most_distance(self) -> int:
        """The most bits in which signatures of simhash may differ."""
        return 3 * self.num_perm // 64 if self.distance is None else self.distance

    @property
    def least_similarity(self) -> float:
        """The similarity from which a compared pair counts."""
        if self.sketch == "simhash" and self.verify == "estimate":
            return (self.num_perm - self.most_distance) / self.num_perm
        return self.threshold if self.verify_threshold is None else self.verify_threshold

    @property
    def weighting(self) -> Weights:
        """The weights in use: those given, or those of the sketch."""
        return self.weights or ("count" if self.sketch in _WEIGHTED else "none")

    @property
    def wants_frequencies(self) -> bool:
        """Whether texts are compared with regard to how many texts a shingle is found in."""
        return self.weighting == "tfidf" or self.max_df is not None

    @property
    def keep_field(self) -> str | None:
        """The field that the keep policy looks at, or None."""
        return self.keep.partition(":")[2] or None

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that two recipes share only if every field and the stored formats are equal.

        Of a field that names a file the content counts, not the name.

        Raises:
            UsageError: such a file cannot be read.
        """
        return _digits_of(self, [field.name for field in dataclasses.fields(self)])

    @property
    def shingle_fingerprint(self) -> str:
        """Sixteen hexadecimal digits that two recipes share only if they make the same shingles of every text."""
        return _digits_of(self, _SHINGLE_FIELDS)

    def replace(self, **changes: object) -> "Recipe":
        """Return a copy with these fields changed; unknown names are refused as in a recipe file."""
        return Recipe.of({**dataclasses.asdict(self), **changes})

    def to_toml(self) -> str:
        """Return the recipe as flat TOML; fields that are None are left out."""
        items = ((name, value) for name, value in dataclasses.asdict(self).items() if value is not None)
        return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in items)

    @classmethod
    def of(cls, values: dict[str, object]) -> "Recipe":
        """Return the recipe with these fields, the others at their defaults.

        Raises:
            RecipeError: an unknown field (the nearest right one is named), or a value that is not allowed.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; the fields are {', '.join(known)}."
                raise RecipeError(f"a recipe has no field {name!r}{hint}")
        return cls(**values)  # type: ignore[arg-type]  # __post_init__ checks every type

    @classmethod
    def preset(cls, name: str) -> "Recipe":
        """Return the recipe that was measured best for a kind of texts: title, article, document or code.

        Raises:
            RecipeError: there is no preset of that name.
        """
        if name not in PRESETS:
            raise RecipeError(f"preset is one of {', '.join(PRESETS)}; not {name!r}.")
        return cls.of(PRESETS[name])

    @classmethod
    def load(cls, path: str | Path) -> "Recipe":
        """Return the recipe in a TOML file.

        Raises:
            RecipeError: the file is not TOML, or holds a field or value that is not allowed.
            UsageError: the file cannot be read.
        """
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UsageError(f"{path}: cannot read the recipe: {error.strerror}.") from error
        except ValueError as error:
            raise RecipeError(f"{path}: not a TOML file: {error}.") from error
        try:
            return cls.of(values)
        except RecipeError as error:
            raise RecipeError(f"{path}: {error}") from error


# Chosen by benchmarks/quality.py; the figures are in docs/presets.md.
PRESETS: Final[dict[str, dict[str, object]]] = {
    "title": {"unit": "char", "ngram": 3, "threshold": 0.5, "num_perm": 768},
    "article": {"unit": "token", "ngram": 2, "threshold": 0.7},
    "document": {"unit": "token", "ngram": 3, "threshold": 0.8},
    "code": {
        "unit": "token", "ngram": 1, "threshold": 0.8, "sketch": "weighted", "punct": "keep", "case": "keep",
    },
    "vector": {"unit": "vector", "ngram": 1, "threshold": 0.9, "sketch": "hyperplane", "num_perm": 1024},
}  # fmt: skip


def choices(name: str) -> tuple[str, ...]:
    """Return the names a field of the recipe chooses from; empty where it takes a number or free text."""
    return tuple(item for item in get_args(get_type_hints(Recipe)[name]) if isinstance(item, str))


def _digits_of(recipe: Recipe, names: Iterable[str]) -> str:
    """Return sixteen hexadecimal digits of these fields of a recipe."""
    fields = {name: getattr(recipe, name) for name in names}
    for name in _FILES:
        if fields.get(name) is not None:
            fields[name] = _digest(name, _path_of(name, fields[name]))
    canonical = json.dumps({"format": FORMAT, **fields}, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def stopwords_path(stopwords: str) -> Path:
    """Return the file of stop words that a recipe names."""
    return Path(__file__).with_name("stopwords.txt") if stopwords == OUR_STOPWORDS else Path(stopwords)


def _path_of(name: str, value: str) -> Path:
    return stopwords_path(value) if name == "stopwords" else Path(value)


def _digest(name: str, path: Path) -> str:
    """Return the hexadecimal digest of a file, or of all files in a folder with their names."""
    try:
        files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                for chunk in iter(lambda: stream.read(1 << 20), b""):
                    digest.update(chunk)
    except OSError as error:
        raise UsageError(f"{path}: cannot read the file that {name} names: {error.strerror}.") from error
    return digest.hexdigest()


_SHARES: Final = ("threshold", "verify_threshold", "recall", "max_df")
_WHOLE: Final = ("ngram", "num_perm", "distance", "bands", "rows")


def _check_type(name: str, value: object) -> None:
    if value is None and type(None) in get_args(get_type_hints(Recipe)[name]):
        return
    allowed = choices(name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if allowed:
        if value not in allowed:
            raise RecipeError(f"{name} is one of {', '.join(allowed)}; not {value!r}.")
    elif name in _SHARES:
        if not is_number:
            raise RecipeError(f"{name} is a share such as 0.8, not {value!r}.")
    elif name in _WHOLE:
        if not is_number or not isinstance(value, int):
            raise RecipeError(f"{name} is a whole number, not {value!r}.")
    elif name == "strip_html" and not isinstance(value, bool):
        raise RecipeError(f"{name} is true or false, not {value!r}.")
    elif name != "strip_html" and not isinstance(value, str):
        raise RecipeError(f"{name} is a text, not {value!r}.")


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise RecipeError(f"{name} is a whole number from {low:,} to {high:,}, not {value:,}.")


def _check_shares(recipe: Recipe) -> None:
    threshold, stricter = recipe.threshold, recipe.verify_threshold
    if not 0.0 < threshold <= 1.0:
        raise RecipeError(f"threshold is a share above 0 and at most 1 (0.8, not 80), not {threshold}.")
    if stricter is not None and not threshold <= stricter <= 1.0:
        raise RecipeError(f"verify_threshold is a share from threshold, {threshold:g}, to 1, not {stricter}.")
    if not 0.0 < recipe.recall < 1.0:
        raise RecipeError(f"recall is a share above 0 and below 1 (0.99), not {recipe.recall}.")
    if recipe.max_df is not None and not 0.0 < recipe.max_df < 1.0:
        raise RecipeError(f"max_df is a share of the texts above 0 and below 1 (0.1), not {recipe.max_df}.")


def _check_weights(recipe: Recipe) -> None:
    sketch, weighting = recipe.sketch, recipe.weighting
    if weighting != "none" and sketch not in _WEIGHTED:
        raise RecipeError(f"weights = {weighting!r} goes with sketch = 'weighted' or 'simhash', not {sketch!r}.")
    if weighting == "none" and sketch == "weighted":
        raise RecipeError("sketch = 'weighted' goes with weights = 'count' or 'tfidf'; 'minhash' is its like without.")
    if recipe.frequencies is not None and not recipe.wants_frequencies:
        raise RecipeError("frequencies goes with weights = 'tfidf' or with max_df, which look at them.")


def _check_simhash(recipe: Recipe) -> None:
    if recipe.num_perm not in (64, 128):
        raise RecipeError(f"num_perm of simhash is 64 or 128 bits, not {recipe.num_perm:,}.")
    _check_range("distance", recipe.most_distance, 0, 7 * recipe.num_perm // 64)
    if recipe.bands is not None or recipe.rows is not None or recipe.recall != _DEFAULT_RECALL:
        raise RecipeError(
            "bands, rows and recall do not go with sketch = 'simhash', which finds every pair within its distance; "
            "give distance."
        )
    if recipe.verify == "estimate" and recipe.verify_threshold is not None:
        raise RecipeError(
            "verify_threshold goes with verify = 'exact'; by estimate, simhash takes every pair within its distance."
        )


def _check_bands(recipe: Recipe) -> None:
    bands, rows = recipe.bands, recipe.rows
    if (bands is None) != (rows is None):
        raise RecipeError("bands and rows are given together, or neither (then they follow from threshold and recall).")
    if bands is None or rows is None:
        choose_bands(recipe.agreement(recipe.threshold), recipe.recall, recipe.num_perm)
        return
    if bands < 1 or rows < 1:
        raise RecipeError(f"bands and rows are at least 1 each, not {bands} and {rows}.")
    if bands * rows > recipe.num_perm:
        raise RecipeError(
            f"{bands} bands of {rows} rows take {bands} x {rows} = {bands * rows:,} values, "
            f"but a signature has {recipe.num_perm:,}. Raise num_perm or take fewer."
        )


def _check_words(recipe: Recipe) -> None:
    if recipe.stopwords is not None and recipe.unit == "char":
        raise RecipeError(
            "stopwords goes with unit = 'word' or 'token', not 'char', which knows no words; max_df leaves out what "
            "is frequent with any unit."
        )
    if recipe.user_dict is not None and recipe.unit != "word":
        raise RecipeError(f"user_dict goes with unit = 'word', not {recipe.unit!r}, which asks no dictionary.")


def _check_vectors(recipe: Recipe) -> None:
    is_column = recipe.unit == "vector"
    if recipe.sketch != "hyperplane":
        if is_column or recipe.vectors is not None:
            name = "unit = 'vector'" if is_column else "vectors"
            raise RecipeError(f"{name} goes with sketch = 'hyperplane', not {recipe.sketch!r}, which knows no vectors.")
        return
    if is_column == (recipe.vectors is not None) or recipe.unit == "char":
        raise RecipeError(
            "sketch = 'hyperplane' goes with unit = 'vector' (a column of vectors), or with unit = 'word' or 'token' "
            "and vectors = 'FILE' (those of words)."
        )
    for name, needed in {"ngram": 1, "verify": "exact", "max_df": None, "stopwords": None}.items():
        if getattr(recipe, name) != needed:
            raise RecipeError(f"sketch = 'hyperplane' goes with {name} = {needed!r}, not {getattr(recipe, name)!r}.")
    defaults = {field.name: field.default for field in dataclasses.fields(Recipe)}
    for name in _CLEANING if is_column else ():
        if getattr(recipe, name) != defaults[name]:
            raise RecipeError(f"{name} cleans texts, and does not go with unit = 'vector'.")
    if is_column and recipe.keep in ("longest", "shortest"):
        raise RecipeError(f"keep = {recipe.keep!r} looks at texts; with unit = 'vector' take max:FIELD or min:FIELD.")


def _check_keep(keep: object) -> None:
    name, colon, field = keep.partition(":") if isinstance(keep, str) else ("", "", "")
    plain = keep in ("first", "last", "longest", "shortest")
    if not plain and not (name in ("min", "max") and colon and field):
        raise RecipeError(f"keep is one of {', '.join(KEEP_POLICIES)}; not {keep!r}.")
