"""Step 3: sketches, from the shingle hashes of a text to a signature of fixed length.

In: shingle hashes of texts, repeats allowed. Out: uint32[n_docs, num_perm]; two texts share each value with a
probability equal to their Jaccard similarity. A text without shingles has a signature that means nothing.

`FAMILIES` is the plug point: a family is one file with one function of this shape, and one line here.
"""

from collections.abc import Callable
from typing import Final

from neardup.schema import U32, Shingles
from neardup.steps.sketch import classic, minhash, oph, superminhash

FAMILIES: Final[dict[str, Callable[[Shingles, int], U32]]] = {
    "minhash": minhash.sketch,
    "oph": oph.sketch,
    "superminhash": superminhash.sketch,
    "classic": classic.sketch,
}
