"""The exact truth: every pair of documents whose similarity in character shingles reaches the threshold.

In: clean texts. Out: `PairSets`. No sketch, no banding and none of neardup's kernels: shingles are hashed here to 64
bits by another function, and pairs are found by a join that can miss none. Made for some tens of thousands of long
documents, or some hundred thousand short ones; cached by what it is counted from.

Two cleanings are on offer, since neardup's and the usual one of the peers differ on `_`, on compatibility characters
and on combining marks; each system is held against the truth of the texts it compared.

Source of the join: Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", WWW 2007. With shingles ordered
from the rarest to the most common, two sets of similarity t or more share one among the first |A| - ceil(t |A|) + 1
of each, so only those are indexed and looked up.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numba import njit  # noqa: TID251  # the truth shares no machinery with what it judges
from numpy.typing import NDArray
from peers.common import clean as peers_clean  # the very function the adapters call
from score import I64, PairSets, fold

from neardup.recipe import Recipe
from neardup.schema import texts_of
from neardup.steps.clean import LONELY
from neardup.steps.clean import clean as neardup_clean

U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
I32: TypeAlias = NDArray[np.int32]

_VERSION: Final = b"1"  # of what a cached truth depends on besides its texts: change it when counting changes
_SLACK: Final = 1e-9  # bounds are loosened by it; the similarity itself decides
_LONELY: Final = np.uint32(LONELY)


class Cleaned(NamedTuple):
    """Clean texts as code points, ragged.

    points: uint32[n_points], those that never count alone marked as neardup marks them.
    offsets: int64[n_docs + 1].
    empty_counts: two texts that came out empty are the same text (peers), or similar to nothing (neardup).
    """

    points: U32
    offsets: I64
    empty_counts: bool


def exact_truth(cleaned: Cleaned, ngram: int, threshold: float, cache: Path) -> PairSets:
    """Return every pair at or above the threshold, from the cache where it was counted before."""
    digest = hashlib.sha256(_VERSION + repr((ngram, threshold, cleaned.empty_counts)).encode())
    digest.update(cleaned.points.data)
    digest.update(cleaned.offsets.data)
    path = cache / f"{digest.hexdigest()[:24]}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez(unfinished, **count_pairs(cleaned, ngram, threshold)._asdict())
        unfinished.replace(path)
    with np.load(path) as stored:
        return PairSets(stored["group"], stored["a"], stored["b"])


def count_pairs(cleaned: Cleaned, ngram: int, threshold: float) -> PairSets:
    """Return every pair at or above the threshold: equal sets as groups, the others as pairs of groups."""
    hashes, offsets = _distinct_shingles(cleaned, ngram)
    group = _equal_sets(hashes, offsets)
    sizes = np.diff(offsets)
    docs = np.flatnonzero((group == np.arange(group.size)) & (sizes > 0))
    docs = docs[np.argsort(sizes[docs], kind="stable")]
    if not docs.size:
        return PairSets(group, np.empty(0, np.int64), np.empty(0, np.int64))
    ranks, rank_offsets = _by_rarity(hashes, offsets, docs)
    a, b = _join(ranks, rank_offsets, int(ranks.max()) + 1, threshold)
    return fold(group, docs[a], docs[b])


def _distinct_shingles(cleaned: Cleaned, ngram: int) -> tuple[U64, I64]:
    """Return the distinct shingle hashes of each document, ascending, and where they start."""
    windows = np.maximum(1, np.diff(cleaned.offsets) - ngram + 1)
    hashes = np.empty(int(windows.sum()), np.uint64)
    ends = _hash_windows(cleaned.points, cleaned.offsets, ngram, cleaned.empty_counts, hashes)
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        hashes[start:end].sort()
    ends = _drop_repeats(hashes, ends)
    return hashes[: ends[-1]], ends


def _equal_sets(hashes: U64, offsets: I64) -> I64:
    """Return for each document the first with the same set of shingles; one without shingles stays by itself."""
    first: dict[bytes, int] = {}
    group = np.arange(offsets.size - 1)
    for doc, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if end > start:
            group[doc] = first.setdefault(hashlib.blake2b(hashes[start:end].data, digest_size=16).digest(), doc)
    return group


def _by_rarity(hashes: U64, offsets: I64, docs: I64) -> tuple[I32, I64]:
    """Return the shingles of these documents as ranks from the rarest on, ascending in each, and where they start."""
    pieces = [hashes[offsets[doc] : offsets[doc + 1]] for doc in docs.tolist()]
    starts = np.concatenate(([0], np.cumsum([piece.size for piece in pieces]))).astype(np.int64)
    _, inverse, counts = np.unique(np.concatenate(pieces), return_inverse=True, return_counts=True)
    rank = np.empty(counts.size, np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(counts.size, dtype=np.int32)
    ranks = rank[inverse]
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        ranks[start:end].sort()
    return ranks, starts


@njit(cache=True)
def _hash_windows(points: U32, offsets: I64, ngram: int, empty_counts: bool, out: U64) -> I64:  # noqa: FBT001  # numba
    """Write the hash of every window that is not of lonely code points alone; return where each document's start."""
    n_docs = offsets.size - 1
    ends = np.zeros(n_docs + 1, np.int64)
    n = 0
    for doc in range(n_docs):
        length = min(ngram, offsets[doc + 1] - offsets[doc])
        for start in range(offsets[doc], offsets[doc + 1] - length + 1):
            h = np.uint64(0x9E3779B97F4A7C15) + np.uint64(length)
            counts = length == 0 and empty_counts
            for place in range(start, start + length):
                counts |= points[place] < _LONELY
                h = (h ^ np.uint64(points[place] & ~_LONELY)) * np.uint64(0xD6E8FEB86659FD93)
                h ^= h >> np.uint64(32)
            if counts:
                out[n] = h
                n += 1
            if length == 0:
                break
        ends[doc + 1] = n
    return ends


@njit(cache=True)
def _drop_repeats(hashes: U64, ends: I64) -> I64:
    """Move the distinct hashes of each ascending run to the front; return where each document's start."""
    distinct_ends = np.zeros_like(ends)
    n = 0
    for doc in range(ends.size - 1):
        for place in range(ends[doc], ends[doc + 1]):
            if place == ends[doc] or hashes[place] != hashes[place - 1]:
                hashes[n] = hashes[place]
                n += 1
        distinct_ends[doc + 1] = n
    return distinct_ends


@njit(cache=True)
def _join(ranks: I32, offsets: I64, n_ranks: int, threshold: float) -> tuple[I64, I64]:
    """Return all pairs of sets, ascending in size, whose similarity reaches the threshold."""
    n_docs = offsets.size - 1
    starts = _prefix_starts(ranks, offsets, n_ranks, threshold)
    fills = starts[:-1].copy()  # where the next posting of a shingle goes
    heads = starts[:-1].copy()  # its first posting that is not yet too small for those to come
    postings = np.empty(starts[-1], np.int64)
    asked = np.full(n_docs, -1, np.int64)
    found_a, found_b = np.empty(1024, np.int64), np.empty(1024, np.int64)
    n = 0
    for doc in range(n_docs):
        size = offsets[doc + 1] - offsets[doc]
        for place in range(offsets[doc], offsets[doc] + _prefix(size, threshold)):
            rank = ranks[place]
            while heads[rank] < fills[rank] and _size(offsets, postings[heads[rank]]) < threshold * size - _SLACK:
                heads[rank] += 1
            for other in postings[heads[rank] : fills[rank]]:
                if asked[other] != doc:
                    asked[other] = doc
                    if _reaches(ranks, offsets, other, doc, threshold):
                        if n == found_a.size:
                            found_a, found_b = np.append(found_a, found_a), np.append(found_b, found_b)
                        found_a[n], found_b[n] = other, doc
                        n += 1
            postings[fills[rank]] = doc
            fills[rank] += 1
    return found_a[:n], found_b[:n]


@njit(cache=True)
def _prefix_starts(ranks: I32, offsets: I64, n_ranks: int, threshold: float) -> I64:
    """Return where the postings of each shingle start, counting it where it is in a prefix."""
    starts = np.zeros(n_ranks + 1, np.int64)
    for doc in range(offsets.size - 1):
        for place in range(offsets[doc], offsets[doc] + _prefix(_size(offsets, doc), threshold)):
            starts[ranks[place] + 1] += 1
    return np.cumsum(starts)


@njit(cache=True)
def _size(offsets: I64, doc: int) -> int:
    return offsets[doc + 1] - offsets[doc]  # type: ignore[no-any-return]  # an int64 to numba


@njit(cache=True)
def _prefix(size: int, threshold: float) -> int:
    return size - int(np.ceil(threshold * size - _SLACK)) + 1


@njit(cache=True)
def _reaches(ranks: I32, offsets: I64, a: int, b: int, threshold: float) -> bool:
    """Say whether the similarity of two sets reaches the threshold, and give up once it cannot."""
    at_a, end_a, at_b, end_b = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    total = end_a - at_a + end_b - at_b
    needed = threshold / (1 + threshold) * total - _SLACK
    common = 0
    while at_a < end_a and at_b < end_b:
        if common + min(end_a - at_a, end_b - at_b) < needed:
            return False
        if ranks[at_a] == ranks[at_b]:
            common += 1
            at_a += 1
            at_b += 1
        elif ranks[at_a] < ranks[at_b]:
            at_a += 1
        else:
            at_b += 1
    return common / (total - common) >= threshold  # type: ignore[no-any-return]  # a bool to numba


def cleaned_by_peers(texts: list[str], _recipe: Recipe) -> Cleaned:
    """Return the texts as the adapters of the peers clean them."""
    cleaned = [peers_clean(text) for text in texts]
    points = np.frombuffer("".join(cleaned).encode("utf-32-le", "surrogatepass"), np.uint32)
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in cleaned]))).astype(np.int64)
    return Cleaned(points, offsets, empty_counts=True)


def cleaned_by_neardup(texts: list[str], recipe: Recipe) -> Cleaned:
    """Return the texts as neardup cleans them by a recipe."""
    column = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())
    points, offsets = neardup_clean(texts_of(column), recipe)
    return Cleaned(points, offsets, empty_counts=False)


CLEANINGS: Final[dict[str, Callable[[list[str], Recipe], Cleaned]]] = {
    "neardup": cleaned_by_neardup,
    "peers": cleaned_by_peers,
}
