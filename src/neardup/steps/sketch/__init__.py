"""Step 3: sketches, from the shingles of a text to a signature of fixed length.

In: shingle hashes of texts, repeats allowed, or distinct ones with their weights. Out: uint32[n_docs, num_perm], of
which two texts share each value with a probability equal to their similarity; or uint64[n_docs, num_perm / 64], bits.
A text without shingles has a signature that means nothing.

`FAMILIES` and `WEIGHTED_FAMILIES` are the plug points: a family is one file with one function of the shape, and one
line here.
"""

from collections.abc import Callable
from typing import Final

from neardup.schema import U32, Shingles, Values, Weighted
from neardup.steps.sketch import classic, minhash, oph, simhash, superminhash, weighted

FAMILIES: Final[dict[str, Callable[[Shingles, int], U32]]] = {
    "minhash": minhash.sketch,
    "oph": oph.sketch,
    "superminhash": superminhash.sketch,
    "classic": classic.sketch,
}

WEIGHTED_FAMILIES: Final[dict[str, Callable[[Weighted, int], Values]]] = {
    "weighted": weighted.sketch,
    "simhash": simhash.sketch,
}
