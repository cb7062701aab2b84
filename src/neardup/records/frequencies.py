"""Document frequencies as a file, so that a later run weighs shingles as an earlier one did.

Parquet with a row a shingle found in two texts or more: `shingle` uint64, its hash, ascending; `documents` int64. The
number of texts, and the choices that made the shingles, stand in the metadata of the schema.
"""

import json
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError, UsageError
from neardup.recipe import Recipe
from neardup.schema import Frequencies, as_arrow

_KEY: Final = b"neardup"


def to_table(frequencies: Frequencies, recipe: Recipe) -> pa.Table:
    """Return frequencies as a table, with what they were made of in its metadata."""
    facts = {"n_docs": frequencies.n_docs, "shingles": recipe.shingle_fingerprint}
    table = pa.table({"shingle": as_arrow(frequencies.hashes), "documents": as_arrow(frequencies.counts)})
    return table.replace_schema_metadata({_KEY: json.dumps(facts)})


def load_frequencies(path: str, recipe: Recipe) -> Frequencies:
    """Return the frequencies in a file.

    Raises:
        InputError: it cannot be read, or holds something else.
        UsageError: its shingles were made another way than those of the recipe.
    """
    try:
        table = pq.read_table(path)
        facts = json.loads((table.schema.metadata or {})[_KEY])
        hashes, counts = (table[name].combine_chunks().to_numpy() for name in ("shingle", "documents"))
        frequencies = Frequencies(hashes.astype(np.uint64), counts.astype(np.int64), int(facts["n_docs"]))
        shingles = facts["shingles"]
    except OSError as error:
        raise InputError(f"{path}: cannot read the frequencies: {error.strerror or error}.") from error
    except (KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise InputError(f"{path}: not a file of frequencies, as --save-frequencies writes it.") from error
    if shingles != recipe.shingle_fingerprint:
        raise UsageError(
            f"{path}: its shingles were made with another unit, ngram or cleaning than this recipe's; count anew, "
            "or take the recipe that it was made with."
        )
    return frequencies
