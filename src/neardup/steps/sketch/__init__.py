"""Step 3: sketches, from the shingles of a text to a signature of fixed length.

In: shingle hashes of texts, repeats allowed; or distinct ones with their weights; or vectors. Out: uint32[n_docs,
num_perm], of which two texts share each value with a probability equal to their similarity (of vectors: that grows
with it); or uint64[n_docs, num_perm / 64], bits.
A text without shingles has a signature that means nothing.

`FAMILIES`, `WEIGHTED_FAMILIES` and `VECTOR_FAMILIES` are the plug points: a family is one file with one function of the
shape, and one line here.
"""

from collections.abc import Callable
from typing import Final

from neardup.schema import F32, U32, Shingles, Values, Weighted
from neardup.steps.sketch import classic, hyperplane, minhash, oph, simhash, superminhash, weighted

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

VECTOR_FAMILIES: Final[dict[str, Callable[[F32, int], U32]]] = {
    "hyperplane": hyperplane.sketch,
}
