"""The arrays that pass between the steps: names, dtypes, shapes, order.

Everything here is a NamedTuple of arrays (Numba accepts them) with its invariants in the docstring, so that the state
between any two steps can be printed and checked. A document is known by `doc`, its position from 0 in input order.
"""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
F32: TypeAlias = NDArray[np.float32]
I64: TypeAlias = NDArray[np.int64]
F64: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[Any]  # of one of several types, which the docstring names
Bools: TypeAlias = NDArray[np.bool_]

JIEBA_HAN: Final = (0x4E00, 0x9FD5)  # first and last of the Han characters that jieba makes words of
WEIGHT_ONE: Final = 1 << 20  # weights are whole numbers of this fraction of 1, so that sums are exact


def as_arrow(values: I64 | U64 | F64 | Bools) -> pa.Array:
    """Return a NumPy array as one of Arrow.

    `pyarrow.array` would do, but looks whether it was given a pandas object, and loads pandas for it: .15 s a run.
    """
    if values.dtype == np.bool_:
        bits = pa.py_buffer(np.packbits(values.view(np.uint8), bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), values.size, [None, bits])
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


class Texts(NamedTuple):
    """UTF-8 texts back to back, as Arrow keeps them; a lone surrogate is its three generalized UTF-8 bytes.

    data: uint8[n_bytes].
    offsets: int64[n_docs + 1], ascending, into data; text i is data[offsets[i]:offsets[i + 1]].
    """

    data: U8
    offsets: I64


def texts_of(column: pa.LargeBinaryArray) -> Texts:
    """Return a column of texts as arrays over its buffers, nothing copied."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return Texts(np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), ends)


def vectors_of(texts: Texts) -> F32:
    """Return float32[n_docs, dimension]: the vectors that stand in place of texts."""
    n_docs = texts.offsets.size - 1
    numbers = texts.data[texts.offsets[0] : texts.offsets[-1]].view(np.float32)
    return numbers.reshape(n_docs, -1) if n_docs else numbers.reshape(0, 1)


class CleanTexts(NamedTuple):
    """Cleaned texts as code points, ragged.

    points: uint32[n_points]; code points, those that never count alone (white space, Unicode P*) with LONELY set.
    offsets: int64[n_docs + 1], starting at 0.
    """

    points: U32
    offsets: I64


class Units(NamedTuple):
    """The units of texts, ragged: code points, or hashes of words; LONELY_UNIT set where a unit never counts alone.

    values: uint32[n_units] or uint64[n_units].
    offsets: int64[n_docs + 1], starting at 0.
    """

    values: U32 | U64
    offsets: I64


class Shingles(NamedTuple):
    """The shingle hashes of documents, ragged.

    hashes: uint64[n_shingles]; those of document i are hashes[offsets[i]:offsets[i + 1]], in text order with repeats
        as `shingle` makes them, distinct and ascending after `distinct`.
    offsets: int64[n_docs + 1], starting at 0.
    """

    hashes: U64
    offsets: I64


class Weighted(NamedTuple):
    """The distinct shingles of documents with their weights, ragged.

    hashes: uint64[n_shingles]; ascending within a document.
    weights: int64[n_shingles]; positive, in units of 1 / WEIGHT_ONE.
    offsets: int64[n_docs + 1], starting at 0.
    """

    hashes: U64
    weights: I64
    offsets: I64


class Frequencies(NamedTuple):
    """In how many texts each shingle was found; exact copies count once.

    hashes: uint64[n]; ascending.
    counts: int64[n]; texts with that shingle.
    n_docs: texts with any shingle.
    """

    hashes: U64
    counts: I64
    n_docs: int


class Background(NamedTuple):
    """What is known of all texts before the first is signed; for recipes that want frequencies.

    frequencies: in how many texts each shingle is found.
    directory: int64[2^bits + 1]; the way into their hashes.
    frequent: uint64[n]; hashes, ascending, that do not count because too many texts have them.
    """

    frequencies: Frequencies
    directory: I64
    frequent: U64


class Signed(NamedTuple):
    """What the first pass keeps of a batch of documents.

    band_keys: uint64[bands, n_docs]; meaningless where n_counted is 0. Of simhash, the words of the signature.
    content: uint64[2, n_docs]; the 128-bit hash of the clean text.
    n_shingles: uint32[n_docs]; shingles with repeats; 0 for a text similar to nothing.
    n_counted: uint32[n_docs]; those of them that are not found in too many texts.
    lengths: uint32[n_docs]; code points of the text before cleaning; zeros unless the keep policy looks at them.
    """

    band_keys: U64
    content: U64
    n_shingles: U32
    n_counted: U32
    lengths: U32


class Candidates(NamedTuple):
    """Candidate pairs: documents that met in a bucket. int64[n] each, a < b, each pair once, ascending by (a, b)."""

    a: I64
    b: I64


class Pairs(NamedTuple):
    """Verified pairs, a < b, ascending by (a, b). a, b: int64[n]; similarity: float64[n], exact unless estimated."""

    a: I64
    b: I64
    similarity: F64


class Clusters(NamedTuple):
    """The outcome of every document.

    kept_doc: int64[n_docs]; the document kept in its stead, itself where it is kept.
    similarity: float64[n_docs]; to kept_doc, 1.0 where it is kept.
    """

    kept_doc: I64
    similarity: F64


class Batch(NamedTuple):
    """Consecutive documents as read. Arrow arrays of equal length, in input order.

    first_doc: position of the first document.
    texts: large_binary without nulls; UTF-8, lone surrogates as generalized UTF-8; or vectors, their float32 bytes.
    ids: the users' ids with their type, or record numbers (int64) where no id field was named.
    field: the column a keep policy looks at, or None.
    within: the column whose equal values part what is compared, or None.
    """

    first_doc: int
    texts: pa.LargeBinaryArray
    ids: pa.Array
    field: pa.Array | None
    within: pa.Array | None


class UserWord(NamedTuple):
    """A word that a user adds to the dictionary; without a frequency it gets one at which it stays whole."""

    word: str
    frequency: int | None
    tag: str | None
