"""Step 7: the keep policy, the order in which documents are preferred.

In: lengths of the texts, or the column that the policy names. Out: the documents, the most preferred first. Ties go to
the earlier document; a null is preferred to nothing.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import UsageError
from neardup.recipe import Recipe
from neardup.schema import I64, U32


def keep_order(lengths: U32, field: pa.Array | None, recipe: Recipe) -> I64:
    """Return int64[n_docs]: all documents, the most preferred first.

    lengths: uint32[n_docs], code points of each text. field: the column of `recipe.keep_field`, or None.

    Raises:
        UsageError: the values of the field cannot be put in order.
    """
    if recipe.keep_field is None:
        return _POLICIES[recipe.keep](lengths)
    assert field is not None
    if pa.types.is_struct(field.type):  # values of several types, or objects; Arrow would sort them by their members
        raise UsageError(
            f"keep = {recipe.keep!r} cannot order objects, or values of several types; choose another field."
        )
    direction = "ascending" if recipe.keep.startswith("min:") else "descending"
    table = pa.table({"is_null": pc.is_null(field), "value": field, "doc": np.arange(lengths.size)})
    try:
        keys = [("is_null", "ascending"), ("value", direction), ("doc", "ascending")]
        order: I64 = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
    except pa.ArrowException as error:
        raise UsageError(
            f"keep = {recipe.keep!r} cannot order values of type {field.type}; choose a field of numbers or text."
        ) from error
    return order


def _first(lengths: U32) -> I64:
    return np.arange(lengths.size, dtype=np.int64)


def _last(lengths: U32) -> I64:
    return np.arange(lengths.size - 1, -1, -1, dtype=np.int64)


def _longest(lengths: U32) -> I64:
    return np.argsort(-lengths.astype(np.int64), kind="stable")


def _shortest(lengths: U32) -> I64:
    return np.argsort(lengths, kind="stable")


_POLICIES: Final[dict[str, Callable[[U32], I64]]] = {
    "first": _first,
    "last": _last,
    "longest": _longest,
    "shortest": _shortest,
}
