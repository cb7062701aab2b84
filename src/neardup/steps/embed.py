"""Step 2 of texts that are compared as vectors: the vectors of their words added up.

In: units of texts. Out: a vector a text, zero where no word of it is known. The sum points where the average does, and
only the direction counts.
"""

from typing import NamedTuple

import numpy as np

from neardup.kernel import kernel
from neardup.schema import F32, F64, I64, U64, Units


class WordVectors(NamedTuple):
    """Vectors of words. hashes: uint64[n_words], ascending. rows: float32[n_words, dimension], in the same order."""

    hashes: U64
    rows: F32


def embed(units: Units, words: WordVectors) -> F32:
    """Return float32[n_docs, dimension]: the sum of the vectors of the words of each text."""
    values = units.values.astype(np.uint64, copy=False)
    places = np.minimum(np.searchsorted(words.hashes, values), max(0, words.hashes.size - 1))
    places[words.hashes[places] != values] = -1
    out = np.empty((units.offsets.size - 1, words.rows.shape[1]), np.float32)
    _add_up(places, units.offsets, words.rows, np.empty(out.shape[1], np.float64), out)
    return out


@kernel
def _add_up(places: I64, offsets: I64, rows: F32, sums: F64, out: F32) -> None:
    """out[doc] = sum of the rows at the places of a text; -1 is no place."""
    for doc in range(offsets.size - 1):
        sums[:] = 0
        for at in range(offsets[doc], offsets[doc + 1]):
            if places[at] >= 0:
                for i in range(sums.size):
                    sums[i] += rows[places[at], i]
        out[doc] = sums
