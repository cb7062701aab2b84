"""What a memory budget has no room for: plain files in a folder of the run's own, gone when the run ends.

Three things grow with the input and are kept here: the band keys of pass 1 (`Rows`), candidate pairs until each is
there once (`SortedSet`), and the texts that are compared (`TextFile`). The first two stay in memory while they have
room, so that a small run writes nothing.
"""

import mmap
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.errors import OutputError
from neardup.kernel import sort_bits
from neardup.schema import I64, U64

_BLOCK: Final = 1 << 22  # values read at a time
_TAKEN: Final = 4 << 20  # bytes of texts taken at a time


class Scratch:
    """The temporary files of a run.

    memory: bytes that the run may hold, of which each user is given a share.
    n_bytes: bytes written so far.
    """

    def __init__(self, parent: str | None, memory: int) -> None:
        self.memory = memory
        self.n_bytes = 0
        self._parent = parent
        self._folder: Path | None = None
        self._count = 0
        self._lock = threading.Lock()

    def __enter__(self) -> "Scratch":  # noqa: PYI034  # not meant to be subclassed
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def place(self) -> str:
        """The folder that temporary files are made in."""
        return self._parent or tempfile.gettempdir()

    def file(self) -> Path:
        """Return the path of a new file."""
        with self._lock:
            if self._folder is None:
                try:
                    self._folder = Path(tempfile.mkdtemp(prefix="neardup-", dir=self._parent))
                except OSError as error:
                    raise self._no_room(error) from error
            self._count += 1
            return self._folder / str(self._count)

    def append(self, path: Path, data: memoryview) -> None:
        """Write to the end of a file.

        Raises:
            OutputError: it cannot be written, for want of room or otherwise.
        """
        try:
            with path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise self._no_room(error) from error
        with self._lock:
            self.n_bytes += data.nbytes

    def check_room(self, n_bytes: int, held: int) -> None:
        """Refuse to begin what is expected to write so many bytes where there are not as many free.

        held: bytes of memory that would do in their place.

        Raises:
            OutputError: there are not.
        """
        if n_bytes <= held:
            return
        try:
            free = shutil.disk_usage(self.place).free
        except OSError as error:
            raise self._no_room(error) from error
        if n_bytes > free:
            raise OutputError(
                f"{self.place}: temporary files are expected to take {_gigabytes(n_bytes)}, and {_gigabytes(free)} are "
                "free. Choose a folder with room by --temp-dir, or give more --memory."
            )

    def _no_room(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.place}: cannot write temporary files: {error.strerror or error}. Choose a folder with room by "
            "--temp-dir, or give more --memory."
        )


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB"


class Rows:
    """Rows of 64-bit values that all grow at once; a file a row beyond the room, in bytes."""

    def __init__(self, n_rows: int, scratch: Scratch, room: int) -> None:
        self.n_columns = 0
        self._scratch = scratch
        self.room = room
        self._held: list[U64] = []
        self._held_bytes = 0
        self._files: list[Path] = []
        self._n_rows = n_rows

    def append(self, part: U64) -> None:
        """Take further columns. part: uint64[n_rows, n]."""
        self._held.append(part)
        self._held_bytes += part.nbytes
        self.n_columns += part.shape[1]
        if self._held_bytes > self.room:
            self._files = self._files or [self._scratch.file() for _ in range(self._n_rows)]
            for row, path in enumerate(self._files):
                self._scratch.append(path, np.concatenate([held[row] for held in self._held]).data)
            self._held, self._held_bytes = [], 0

    def pieces(self, row: int) -> Iterator[U64]:
        """Yield a row, in pieces one after the other."""
        if self._files:
            yield from _read(self._files[row], 0, None)
        yield np.concatenate([np.empty(0, np.uint64), *(held[row] for held in self._held)])


class SortedSet:
    """64-bit values, each once, in ascending order; sorted files beyond the room. Takes values from any thread."""

    def __init__(self, scratch: Scratch, room: int) -> None:
        self._scratch = scratch
        self._most = max(room // 8, 1 << 10)
        self._held: list[U64] = []
        self._n_held = 0
        self._merge_at = self._most
        self._runs: list[tuple[Path, int]] = []
        self._lock = threading.Lock()

    def add(self, values: U64) -> None:
        """Take further values, in any order, repeated or not."""
        with self._lock:
            self._held.append(values)
            self._n_held += values.size
            if self._n_held >= self._merge_at:
                self._merge()

    def _merge(self) -> None:
        """Drop repeats of what is held, and write it where that does not help much."""
        held = distinct(np.concatenate(self._held))
        if held.size > self._most // 2:
            path = self._scratch.file()
            self._scratch.append(path, held.data)
            self._runs.append((path, held.size))
            held = held[:0]
        self._held, self._n_held = [held], held.size

    def pieces(self) -> Iterator[U64]:
        """Yield all values, in pieces one after the other; nothing may be added any more."""
        held = distinct(np.concatenate([np.empty(0, np.uint64), *self._held]))
        self._held = [held]
        if not self._runs:
            yield held
            return
        sources = [*self._runs, (None, held.size)]
        step = max(self._most // len(sources), 1)
        places = [0] * len(sources)
        while any(place < size for place, (_, size) in zip(places, sources, strict=True)):
            heads = [
                held[place : place + step] if path is None else _whole(path, place, min(step, size - place))
                for place, (path, size) in zip(places, sources, strict=True)
            ]
            # Nothing beyond the least end of those heads that have more behind them is complete.
            ends = [
                head[-1]
                for head, place, (_, size) in zip(heads, places, sources, strict=True)
                if place + head.size < size
            ]
            counts = [int(np.searchsorted(head, min(ends), side="right")) if ends else head.size for head in heads]
            yield distinct(np.concatenate([head[:count] for head, count in zip(heads, counts, strict=True)]))
            places = [place + count for place, count in zip(places, counts, strict=True)]


def distinct(values: U64) -> U64:
    """Return the values ascending, each once. Overwrites its input."""
    if not values.size:
        return values
    low, high = (int(np.bitwise_or.reduce(part)).bit_length() for part in (values & _LOW, values >> _HALF))
    ordered = sort_bits(sort_bits(values, 0, low), 32, 32 + high)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] ^ np.uint64(1)))]


_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)


class TextFile:
    """Texts in a file, of which any can be had again."""

    def __init__(self, columns: Iterable[pa.LargeBinaryArray], scratch: Scratch) -> None:
        self._path = scratch.file()
        ends = [np.zeros(1, np.int64)]
        for column in columns:
            _, offsets, data = column.buffers()
            its = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
            if its[-1] > its[0]:
                scratch.append(self._path, memoryview(data)[its[0] : its[-1]])
            ends.append(its[1:] - its[0] + ends[-1][-1])
        self._offsets = np.concatenate(ends)

    def take(self, places: I64) -> Iterator[pa.LargeBinaryArray]:
        """Yield the texts at these places, which ascend, some at a time."""
        if not self._offsets[-1]:
            yield pa.array([b""] * places.size, pa.large_binary())
            return
        with self._path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            buffer = pa.py_buffer(mapped)
            texts = pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), self._offsets.size - 1, [None, pa.py_buffer(self._offsets), buffer]
            )
            sizes = np.cumsum(self._offsets[places + 1] - self._offsets[places])
            cuts = np.searchsorted(sizes, np.arange(_TAKEN, sizes[-1] if sizes.size else 0, _TAKEN))
            for some in np.split(places, np.unique(cuts)):
                if some.size:
                    yield texts.take(pa.array(some))
                # Pages that were read would count as memory held; they can be read again.
                if hasattr(mapped, "madvise"):
                    mapped.madvise(mmap.MADV_DONTNEED)
            del texts, buffer


def _read(path: Path, start: int, count: int | None) -> Iterator[U64]:
    """Yield values of a file from `start`, at most `count`, in blocks."""
    left = path.stat().st_size // 8 - start if count is None else count
    while left > 0:
        block = np.fromfile(path, np.uint64, min(_BLOCK, left), offset=8 * start)
        yield block
        start += block.size
        left -= block.size


def _whole(path: Path, start: int, count: int) -> U64:
    return np.concatenate([np.empty(0, np.uint64), *_read(path, start, count)])
