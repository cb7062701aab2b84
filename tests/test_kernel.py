"""Threads and sorting."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernel import Threads, read_ahead, sort_bits, stable_order


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50), st.integers(0, 40), st.integers(1, 24))
def test_sort_bits_orders_by_those_bits_and_is_stable(values: list[int], low: int, width: int) -> None:
    """Words are in order of the bits asked for; where these are equal, as they came."""
    mask = (1 << width) - 1

    actual = sort_bits(np.array(values, np.uint64), low, low + width).tolist()

    assert sorted(values, key=lambda value: value >> low & mask) == actual


@given(st.lists(st.integers(0, 9), max_size=50))
def test_stable_order_is_a_stable_argsort(values: list[int]) -> None:
    """The order is that of a stable sort."""
    assert sorted(range(len(values)), key=values.__getitem__) == stable_order(np.array(values, np.int64), 10).tolist()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_threads_return_results_in_order_and_errors(count: int) -> None:
    """Results follow the slices; an error in a slice comes to the caller."""
    with Threads(count) as threads:
        assert [0, 1, 4, 9] == threads.map(lambda x: x * x, range(4))
        with pytest.raises(ZeroDivisionError):
            threads.map(lambda x: 1 // x, [1, 0])


def test_read_ahead_yields_in_order_and_raises_where_it_happened() -> None:
    """Items come in order; an error comes after the items before it; a consumer may stop early."""

    def items() -> Iterator[int]:
        yield from range(5)
        raise KeyError("five")

    with pytest.raises(KeyError, match="five"):
        list(read_ahead(items(), 3))
    ahead = read_ahead(iter(range(1000)), 3)

    assert 0 == next(ahead)
    ahead.close()
    assert list(range(7)) == list(read_ahead(iter(range(7)), 3))
