"""Weights of shingles, and the sketches that take them."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernel import mix
from neardup.schema import WEIGHT_ONE, Shingles, Weighted
from neardup.steps.sketch import WEIGHTED_FAMILIES
from neardup.steps.sketch.simhash import sketch as simhash
from neardup.steps.sketch.weighted import sketch as weighted_minhash
from neardup.steps.weigh import weigh


@given(st.lists(st.lists(st.integers(1, 9), max_size=40), max_size=6), st.booleans())
def test_weigh_counts_occurrences(texts: list[list[int]], counts: bool) -> None:
    """Each distinct shingle ascending, with how often it occurs, or once; times what one occurrence weighs."""
    hashes = np.array([mix(np.uint64(number)) for text in texts for number in text], np.uint64)
    shingles = Shingles(hashes, np.cumsum([0, *map(len, texts)]))

    plain = weigh(shingles, counts=counts, rarity=None)
    rare = weigh(shingles, counts=counts, rarity=lambda values: (values % np.uint64(7)).astype(np.int64) + 1)

    for doc, (start, end) in enumerate(pairwise(shingles.offsets)):
        expected = Counter(hashes[start:end].tolist())
        mine = slice(plain.offsets[doc], plain.offsets[doc + 1])
        assert sorted(expected) == plain.hashes[mine].tolist()
        times = [expected[key] if counts else 1 for key in sorted(expected)]
        assert [WEIGHT_ONE * one for one in times] == plain.weights[mine].tolist()
        assert [(key % 7 + 1) * one for key, one in zip(sorted(expected), times, strict=True)] == rare.weights[
            mine
        ].tolist()


def pairs_of_weights(rng: np.random.Generator, n_pairs: int, size: int) -> tuple[Weighted, np.ndarray]:
    """Return documents of which each even one is like the next, and the generalized Jaccard of those pairs."""
    hashes = np.sort(rng.integers(1, 2**64, (n_pairs, size), np.uint64), axis=1).repeat(2, axis=0)
    weights = rng.uniform(1, 9, (n_pairs, size)).repeat(2, axis=0)
    weights[1::2] *= rng.uniform(0.6, 1.4, (n_pairs, size))
    units = np.rint(weights * WEIGHT_ONE).astype(np.int64)
    similarity = np.minimum(weights[::2], weights[1::2]).sum(axis=1) / np.maximum(weights[::2], weights[1::2]).sum(
        axis=1
    )
    return Weighted(hashes.ravel(), units.ravel(), np.arange(0, hashes.size + 1, size)), similarity


@pytest.mark.parametrize("size", [3, 30, 300])
def test_weighted_minhash_is_unbiased(size: int) -> None:
    """Over many pairs of real weights the mean error is within four standard errors, the spread binomial."""
    weighted, similarity = pairs_of_weights(np.random.default_rng(size), 600, size)

    signatures = weighted_minhash(weighted, 256)

    errors = (signatures[::2] == signatures[1::2]).mean(axis=1) - similarity
    bound = np.sqrt(np.mean(similarity * (1 - similarity)) / 256)
    rounding = 0.5 / (5 * np.sqrt(size))  # weights of 5 on average, each rounded by hash
    assert abs(errors.mean()) < 4 * np.hypot(bound, rounding) / np.sqrt(600)
    assert np.sqrt(np.mean(errors**2)) < 1.15 * np.hypot(bound, rounding)


def test_weights_of_one_are_plain_minhash_statistics() -> None:
    """Whole weights make as many copies: similarity of counts is that of numbered occurrences, exactly on average."""
    rng = np.random.default_rng(2)
    hashes = np.sort(rng.integers(1, 2**64, (500, 20), np.uint64), axis=1).repeat(2, axis=0)
    counts = np.tile(np.array([[1] * 20, [2] * 10 + [1] * 10]), (500, 1))
    weighted = Weighted(hashes.ravel(), counts.ravel() * WEIGHT_ONE, np.arange(0, 20_001, 20))

    signatures = weighted_minhash(weighted, 128)

    equal = (signatures[::2] == signatures[1::2]).mean()
    assert abs(equal - 20 / 30) < 4 * np.sqrt(2 / 9 / 128 / 500)


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("cosine", [0.9, 0.5, 0.0])
def test_simhash_bits_agree_as_the_angle_says(bits: int, cosine: float) -> None:
    """Of the bits of two texts 1 - angle / pi agree: Charikar's promise, by many shingles."""
    rng = np.random.default_rng(int(cosine * 10) + bits)
    n_pairs, size = 400, 300
    shared = round(cosine * size)
    own = size - shared
    draws = rng.integers(1, 2**64, (n_pairs, shared + 2 * own), np.uint64)
    rows = np.stack((draws[:, :size], np.concatenate((draws[:, :shared], draws[:, size:]), axis=1)), axis=1)
    weighted = Weighted(rows.ravel(), np.full(rows.size, WEIGHT_ONE), np.arange(0, rows.size + 1, size))

    words = simhash(weighted, bits)

    equal = 1 - np.unpackbits((words[::2] ^ words[1::2]).view(np.uint8)).mean()
    assert (2 * n_pairs, bits // 64) == words.shape
    assert abs(equal - (1 - np.arccos(cosine) / np.pi)) < 0.02


def test_simhash_follows_the_weights() -> None:
    """A shingle that outweighs all others decides every bit."""
    hashes = np.sort(np.random.default_rng(1).integers(1, 2**64, 9, np.uint64))
    weights = np.ones(9, np.int64)
    weights[4] = 100

    both = simhash(Weighted(np.append(hashes, hashes[4]), np.append(weights, 1), np.array([0, 9, 10])), 128)

    assert np.array_equal(both[0], both[1])


@pytest.mark.parametrize("family", sorted(WEIGHTED_FAMILIES))
def test_a_text_without_shingles_has_some_signature(family: str) -> None:
    """No shingles do no harm."""
    nothing = Weighted(np.empty(0, np.uint64), np.empty(0, np.int64), np.zeros(3, np.int64))

    assert 2 == len(WEIGHTED_FAMILIES[family](nothing, 64))


GOLDEN = {
    "weighted": [960565532, 1771418948, 3299633852, 623399096],
    "simhash": [5065539378995209799, 14863005400663536737],
}


@pytest.mark.parametrize("family", sorted(WEIGHTED_FAMILIES))
def test_signatures_are_what_they_were(family: str) -> None:
    """Signatures are part of what is stored: a change of any must raise the format number of the recipe."""
    hashes = np.sort(np.arange(1, 101, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    weighted = Weighted(hashes, np.arange(1, 101) * (WEIGHT_ONE // 8), np.array([0, 100]))

    signature = WEIGHTED_FAMILIES[family](weighted, 128)[0]

    assert GOLDEN[family] == signature[[0, 1, 64, 127] if family == "weighted" else [0, 1]].tolist()
