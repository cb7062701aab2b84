"""What every family of sketches must do: one set of tests over the table of families."""

import numpy as np
import pytest

from helpers import as_shingles
from neardup.schema import Shingles
from neardup.steps.candidates import band_keys
from neardup.steps.sketch import FAMILIES

FAMILY_NAMES = sorted(FAMILIES)
SPREAD = {"oph": 1.4}  # bins filled from others agree together, on small sets


def pairs_of_sets(rng: np.random.Generator, *, n_pairs: int, union: int, shared: int) -> Shingles:
    """Return 2 n_pairs documents of random hashes: each even one shares `shared` of `union` with the next."""
    alone = (union - shared) // 2
    draws = rng.integers(1, 2**64, (n_pairs, shared + 2 * alone), np.uint64)
    a, b = draws[:, : shared + alone], np.concatenate((draws[:, :shared], draws[:, shared + alone :]), axis=1)
    rows = np.stack((a, b), axis=1).reshape(2 * n_pairs, -1)
    return Shingles(rows.ravel(), np.arange(0, rows.size + 1, rows.shape[1]))


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize("num_perm", [64, 128, 200])
@pytest.mark.parametrize(("union", "shared"), [(10, 8), (40, 12), (300, 240), (300, 30), (3000, 1500)])
def test_estimate_is_unbiased_and_within_the_binomial_bound(
    family: str, num_perm: int, union: int, shared: int
) -> None:
    """Over many pairs the mean is the similarity within four standard errors, the spread at most the binomial one."""
    n_pairs = 400
    shingles = pairs_of_sets(np.random.default_rng(union * shared), n_pairs=n_pairs, union=union, shared=shared)
    similarity = shared / union

    signatures = FAMILIES[family](shingles, num_perm)

    estimates = (signatures[::2] == signatures[1::2]).mean(axis=1)
    bound = np.sqrt(similarity * (1 - similarity) / num_perm)
    assert abs(estimates.mean() - similarity) < 4 * bound / np.sqrt(n_pairs)
    assert np.sqrt(np.mean((estimates - similarity) ** 2)) < SPREAD.get(family, 1.15) * bound


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_strangers_share_nothing(family: str) -> None:
    """Of texts without a common shingle, of one to a thousand, hardly a value is equal."""
    shingles = as_shingles([{int(v) for v in np.random.default_rng(n).integers(1, 2**63, n)} for n in (1, 2, 10, 1000)])

    signatures = FAMILIES[family](shingles, 128)

    assert all((signatures[i] == signatures[j]).sum() <= 1 for i in range(4) for j in range(i))


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_signature_depends_on_the_set_alone(family: str) -> None:
    """Order and repeats of shingles, and other documents beside, change no value."""
    hashes = np.random.default_rng(1).integers(1, 2**64, 50, np.uint64)
    twice = np.concatenate((hashes[::-1], hashes))

    alone = FAMILIES[family](Shingles(hashes, np.array([0, 50])), 128)
    among = FAMILIES[family](Shingles(np.concatenate((hashes[:7], twice)), np.array([0, 7, 107])), 128)

    assert np.array_equal(alone[0], among[1])


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_a_text_without_shingles_has_some_signature(family: str) -> None:
    """No shingles do no harm."""
    assert (2, 64) == FAMILIES[family](Shingles(np.empty(0, np.uint64), np.zeros(3, np.int64)), 64).shape


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize(("union", "shared"), [(40, 32), (2000, 1600)])
def test_bands_find_what_the_s_curve_says(family: str, union: int, shared: int) -> None:
    """The share of pairs at .8 that meet in a band is 1 - (1 - s^r)^b within two points."""
    bands, rows, n_pairs = 8, 8, 3000
    shingles = pairs_of_sets(np.random.default_rng(11), n_pairs=n_pairs, union=union, shared=shared)

    keys = band_keys(FAMILIES[family](shingles, 128), bands=bands, rows=rows)

    found = (keys[:, ::2] == keys[:, 1::2]).any(axis=0).mean()
    assert abs(found - (1 - (1 - 0.8**rows) ** bands)) < 0.03


GOLDEN = {
    "minhash": [3332060284, 3832817327, 1666030142, 1123466189],
    "oph": [1678786184, 1738028003, 1559729882, 2047379922],
    "superminhash": [95042943, 1901807171, 309205962, 2080335279],
    "classic": [31491173, 53085434, 16324667, 38191641],
}


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_signatures_are_what_they_were(family: str) -> None:
    """Signatures are part of what is stored: a change of any must raise the format number of the recipe."""
    shingles = Shingles(np.arange(1, 101, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15), np.array([0, 100]))

    signature = FAMILIES[family](shingles, 128)[0]

    assert GOLDEN[family] == signature[[0, 1, 64, 127]].tolist()
