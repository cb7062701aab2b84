"""The one home of Numba: how kernels are compiled, the mixer they share, sorting, and threads over slices of documents.

A kernel is one loop nest over arrays its caller allocated. It is compiled on first use and kept on disk; it releases
the GIL, and threads are ours (`Threads`), so a result cannot depend on a threading layer. Numba itself is loaded when
the first kernel is called: it takes .4 s, in which others can already read.
"""

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Generic, ParamSpec, TypeVar

import numpy as np

from neardup.schema import I64, U64

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_LOADING: Final = threading.RLock()


class Kernel(Generic[P, R]):
    """A loop nest over arrays, compiled when it is first called."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._compiled: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it."""
        return (self._compiled or self.compiled())(*args, **kwargs)

    def compiled(self) -> Callable[P, R]:
        """Return what Numba made of it, in the place of which its name stands for the kernels that call it."""
        with _LOADING:
            if self._compiled is None:
                names = self._function.__globals__
                for name in self._function.__code__.co_names:
                    if isinstance(called := names.get(name), Kernel):
                        names[name] = called.compiled()
                self._compiled = _compile(self._function)
            return self._compiled


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Make a kernel of a loop nest over arrays: compiled on first use, without the GIL, kept on disk."""
    return Kernel(function)


def _compile(function: Callable[P, R]) -> Callable[P, R]:
    import numba  # noqa: PLC0415  # see the head of this file

    try:
        compiled: Callable[P, R] = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # no folder for the cache can be written: compile anew in each process
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return compiled


def is_first_run() -> bool:
    """Say whether no kernel seems to have been kept on this machine yet, so that the first call has to compile."""
    package = Path(__file__).parent
    folder = Path(
        os.environ.get("NUMBA_CACHE_DIR") or (package if os.access(package, os.W_OK) else Path.home() / ".cache")
    )
    return next(folder.rglob("*.nbi"), None) is None


@kernel
def mix(value: np.uint64) -> np.uint64:
    """Mix 64 bits so that each depends on all: the finalizer of MurmurHash3 (Appleby) with the constants of Stafford.

    Frozen: stored signatures and the order of shingles depend on it, and kernels kept on disk hold a copy of it.
    """
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def count_bits(value: np.uint64) -> np.uint64:
    """Return how many bits are set. Compilers know this form, counting in parallel, and make it one instruction."""
    value -= (value >> np.uint64(1)) & np.uint64(0x5555555555555555)
    value = (value & np.uint64(0x3333333333333333)) + ((value >> np.uint64(2)) & np.uint64(0x3333333333333333))
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (value * np.uint64(0x0101010101010101)) >> np.uint64(56)


def sort_bits(values: U64, low: int, high: int) -> U64:
    """Return the values in order of their bits low to high - 1, equal ones as they came. Overwrites its input.

    A radix sort: 2-3 ns an element and digit, where NumPy's sort takes 60 ns an element on processors it has no
    vectorized one for.
    """
    n_digits = max(1, -(-(high - low) // 11))
    width = max(1, -(-(high - low) // n_digits))
    spare = np.empty_like(values)
    for first in range(low, high, width):
        counts = np.empty(1 << min(width, high - first), np.int64)
        _sort_digit(values, first, counts, spare)
        values, spare = spare, values
    return values


def stable_order(values: I64, bound: int) -> I64:
    """Return int64[n]: the places of the values, which are 0 to bound - 1, in ascending order, ties as they came."""
    shift = int(values.size).bit_length()
    keyed = values.astype(np.uint64) << np.uint64(shift) | np.arange(values.size, dtype=np.uint64)
    ordered = sort_bits(keyed, shift, shift + int(bound).bit_length())
    return (ordered & np.uint64((1 << shift) - 1)).astype(np.int64)


@kernel
def _sort_digit(values: U64, low: int, counts: I64, out: U64) -> None:
    """Write values to `out` in order of the digit at bit `low`, which has as many values as there are counts."""
    shift = np.uint64(low)
    mask = np.uint64(counts.size - 1)
    counts[:] = 0
    for value in values:
        counts[(value >> shift) & mask] += 1
    at = 0
    for digit in range(counts.size):
        count = counts[digit]
        counts[digit] = at
        at += count
    for value in values:
        digit = (value >> shift) & mask
        out[counts[digit]] = value
        counts[digit] += 1


def default_threads() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Threads:
    """Run a function over slices in `count` threads, results in the order of the slices, whatever the count."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="neardup") if count > 1 else None

    def __enter__(self) -> "Threads":  # noqa: PYI034  # not meant to be subclassed
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[[T], R], slices: Iterable[T]) -> list[R]:
        """Return function(slice) for each slice."""
        return list(self.start(function, slices))

    def start(self, function: Callable[[T], R], slices: Iterable[T]) -> Iterator[R]:
        """Begin function(slice) for each slice at once; the results come as they are asked for."""
        if self._pool is None:
            return map(function, slices)
        futures: list[Future[R]] = [self._pool.submit(function, piece) for piece in slices]
        return (future.result() for future in futures)


_END: Final = object()


def read_ahead(items: Iterator[T], count: int) -> Iterator[T]:
    """Yield items that a thread of their own takes from `items`, up to `count` ahead."""
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-reader") as reader:
        try:
            waiting: deque[Future[Any]] = deque(reader.submit(next, items, _END) for _ in range(count))
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(reader.submit(next, items, _END))
                yield item
        finally:
            reader.shutdown(wait=True, cancel_futures=True)
