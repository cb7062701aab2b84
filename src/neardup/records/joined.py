"""A reference and the data, read one after the other as documents of one run: those of the reference come first."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.records.read import Documents
from neardup.schema import I64, Batch


class Joined(NamedTuple):
    """The documents of a run. reference: those that are never removed, or None. data: those that are judged."""

    reference: Documents | None
    data: Documents

    @property
    def parts(self) -> list[Documents]:
        """The documents there are, in order."""
        return [part for part in self if part is not None]

    @property
    def n_reference(self) -> int:
        """How many documents the reference has, once it has been read."""
        return 0 if self.reference is None else self.reference.n_read - self.reference.rejected.total

    @property
    def expected_records(self) -> int | None:
        """About how many records there are, or None where nothing tells."""
        expected = [part.expected_records for part in self.parts]
        return None if None in expected else sum(count for count in expected if count is not None)

    @property
    def text_bytes(self) -> int:
        """The bytes of all texts, once they have been read."""
        return sum(part.text_bytes for part in self.parts)

    def batches(self) -> Iterator[Batch]:
        """Yield all documents."""
        if self.reference is not None:
            yield from self.reference.batches()
            self.data.dimension = self.reference.dimension
        for batch in self.data.batches():
            yield batch._replace(first_doc=self.n_reference + batch.first_doc)

    def texts(self, docs: I64) -> Iterator[pa.LargeBinaryArray]:
        """Yield the texts of these documents (ascending), some at a time."""
        cut = int(np.searchsorted(docs, self.n_reference))
        if self.reference is not None and cut:
            yield from self.reference.texts(docs[:cut])
        if cut < docs.size:
            yield from self.data.texts(docs[cut:] - self.n_reference)
