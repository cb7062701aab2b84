"""Bands and the S-curve."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from neardup.bands import approximate_threshold, choose_bands, s_curve
from neardup.errors import RecipeError


@given(st.floats(0, 1), st.integers(1, 200), st.integers(1, 50))
def test_s_curve_equals_the_reference(similarity: float, bands: int, rows: int) -> None:
    """The S-curve is 1 - (1 - s^r)^b."""
    assert reference.s_curve(similarity, bands, rows) == s_curve(similarity, bands, rows)


@pytest.mark.parametrize(("similarity", "bands", "rows"), [(0.8, 16, 6), (0.5, 16, 6), (0.3, 20, 2)])
def test_s_curve_equals_simulation(similarity: float, bands: int, rows: int) -> None:
    """Drawing row matches many times gives the share that the formula says, within four standard errors."""
    trials = 4000
    expected = s_curve(similarity, bands, rows)

    simulated = reference.simulate_s_curve(similarity, bands, rows, trials, Random(5))

    assert abs(expected - simulated) < 4 * math.sqrt(expected * (1 - expected) / trials) + 1e-9


@given(st.floats(0.05, 1.0), st.floats(0.5, 0.9999), st.integers(64, 1024))
def test_chosen_bands_keep_the_promise_within_the_budget(threshold: float, recall: float, num_perm: int) -> None:
    """Whatever is chosen promises the recall at the threshold, and no choice of as many rows has less to do."""
    try:
        bands, rows = choose_bands(threshold, recall, num_perm)
    except RecipeError:
        assert s_curve(threshold, num_perm, 1) < recall
        return

    assert bands * rows <= num_perm
    assert s_curve(threshold, bands, rows) >= recall - 1e-12
    assert bands == 1 or s_curve(threshold, bands - 1, rows) < recall


def test_more_rows_mean_fewer_strangers() -> None:
    """Of all bands that keep the promise the ones chosen let the fewest pairs below the threshold through."""
    bands, rows = choose_bands(0.8, 0.99, 128)

    chosen = np.mean([s_curve(s, bands, rows) for s in np.linspace(0, 0.8, 81)])
    others = [
        np.mean([s_curve(s, b, r) for s in np.linspace(0, 0.8, 81)])
        for r in range(1, 129)
        for b in range(1, 128 // r + 1)
        if s_curve(0.8, b, r) >= 0.99
    ]
    assert chosen <= min(others) + 1e-9


def test_a_promise_that_cannot_be_kept_is_refused_with_the_budget_it_takes() -> None:
    """The text says how many values would do."""
    with pytest.raises(RecipeError, match=r"64 values .* recall 0\.99 at threshold 0\.05: that takes num_perm of 90"):
        choose_bands(0.05, 0.99, 64)


def test_approximate_threshold_is_the_textbooks() -> None:
    """(1/b)^(1/r), for 20 bands of 5 rows .55 (MMDS, 3.4.2)."""
    assert 0.549 == pytest.approx(approximate_threshold(20, 5), abs=1e-3)
