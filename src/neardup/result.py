"""Result: what became of every document, as Arrow tables and as files.

Knows documents, pairs and clusters by position; turns positions into the users' ids where it hands something out.
"""

from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import UsageError
from neardup.kernel import stable_order
from neardup.records.ids import MIXED
from neardup.records.read import Documents
from neardup.records.write import Outputs
from neardup.schema import I64, Bools, Clusters, Pairs, as_arrow
from neardup.stats import OnProgress, Stats

OUTPUTS: Final = ("kept", "removed", "clusters", "pairs", "frequencies", "stats")
_AT_A_TIME: Final = 1 << 16  # rows of a table of evidence made at a time


class Result:
    """What became of every document.

    Attributes:
        stats: counts, seconds, bytes, versions; `stats.to_dict()` for machines.
        n_reference: documents of the reference, which come first where positions are counted; None without one.
        kept_doc: int64[n_docs]; by position, the document kept in the stead of each, itself where it is kept.
        similarity: float64[n_docs]; of each document to that one.
        frequencies: in how many texts each shingle was found, where the recipe looked at that; or None.
    """

    def __init__(  # all that a run found
        self,
        documents: Documents,
        ids: pa.Array,
        firsts: I64,
        pairs: Pairs,
        clusters: Clusters,
        stats: Stats,
        frequencies: pa.Table | None = None,
        n_reference: int | None = None,
    ) -> None:
        self.stats = stats
        self.n_reference = n_reference
        self.kept_doc, self.similarity = clusters
        self.n_near_pairs = int(pairs.a.size)
        self.frequencies = frequencies
        self._documents = documents
        self._ids = ids
        self._first_doc = n_reference or 0
        self._pairs = with_copies(pairs, firsts, self._first_doc)
        self._has_clashes = is_ambiguous(ids[: self._first_doc]) or is_ambiguous(ids[self._first_doc :])

    def close(self) -> None:
        """Let go of the input, and remove what was spooled of it; `kept` and `removed` can no longer be read."""
        self._documents.close()

    @cached_property
    def kept(self) -> pa.Table:
        """The records that stay, all columns, in input order."""
        return self._gather(self.is_kept, with_evidence=False)

    @cached_property
    def removed(self) -> pa.Table:
        """The records that go, all columns, with `kept_id` and `similarity`."""
        return self._gather(~self.is_kept, with_evidence=True)

    @cached_property
    def clusters(self) -> pa.Table:
        """`id, cluster_id, kept, similarity` of every document in a cluster of two or more, in input order."""
        return self._clusters_of(self.clustered)

    @cached_property
    def pairs(self) -> pa.Table:
        """`id_a, id_b, similarity` of every verified pair; exact copies as a star from the first of them."""
        return self._pairs_of(slice(None))

    def write(self, outputs: Outputs, on_progress: OnProgress) -> None:
        """Write every output that has a path; `outputs` decides which and how."""
        roles = [role for role in ("kept", "removed") if role in outputs]
        for records in self._documents.records() if roles else ():
            docs = self._first_doc + records.first_doc + np.arange(records.positions.size)
            on_progress("write", records.first_doc + docs.size, self.kept_doc.size - self._first_doc)
            for role in roles:
                rows = np.flatnonzero(self.is_kept[docs] == (role == "kept"))
                extra = None if role == "kept" else self._evidence(docs[rows])
                outputs.records(role, records.chunk, records.positions[rows], extra)
        if "clusters" in outputs:
            for start in range(0, max(1, self.clustered.size), _AT_A_TIME):
                outputs.table("clusters", self._clusters_of(self.clustered[start : start + _AT_A_TIME]))
        if "frequencies" in outputs:
            assert self.frequencies is not None
            outputs.table("frequencies", self.frequencies)
        if "pairs" in outputs:
            for start in range(0, max(1, self._pairs.a.size), _AT_A_TIME):
                outputs.table("pairs", self._pairs_of(slice(start, start + _AT_A_TIME)))

    @cached_property
    def is_kept(self) -> Bools:
        """bool[n_docs]: whether a document stays."""
        is_kept: Bools = self.kept_doc == np.arange(self.kept_doc.size)
        return is_kept

    @cached_property
    def clustered(self) -> I64:
        """int64[n]: the documents of the data in a cluster of two or more, ascending."""
        kept_doc = self.kept_doc[self._first_doc :]
        sizes = np.bincount(kept_doc, minlength=self.kept_doc.size)
        sizes[: self._first_doc] += 1
        return self._first_doc + np.flatnonzero(sizes[kept_doc] > 1)

    def _gather(self, is_chosen: Bools, *, with_evidence: bool) -> pa.Table:
        tables = []
        for records in self._documents.records():
            first_doc = self._first_doc + records.first_doc
            rows = np.flatnonzero(is_chosen[first_doc : first_doc + records.positions.size])
            table = records.chunk.table(records.positions[rows])
            evidence = self._evidence(first_doc + rows) if with_evidence else pa.table({})
            for name in evidence.column_names:
                table = table.append_column(name, evidence[name])
            tables.append(table)
        last = self._evidence(np.empty(0, np.int64)).column_names if with_evidence else []
        for name in last:
            if any(table.column_names.count(name) > 1 for table in tables):
                raise UsageError(f"the input already has a column {name!r}; rename it there.")
        gathered = pa.concat_tables(tables, promote_options="permissive")
        return gathered.select([name for name in gathered.column_names if name not in last] + last)

    def _evidence(self, docs: I64) -> pa.Table:
        kept_doc = self.kept_doc[docs]
        columns = {"kept_id": self._ids.take(as_arrow(kept_doc)), "similarity": as_arrow(self.similarity[docs])}
        return pa.table(columns | self._in_reference(kept_doc) | self._rows(kept_row=kept_doc))

    def _in_reference(self, docs: I64) -> dict[str, pa.Array]:
        """Return the column that says whether documents are of the reference, where there is one."""
        return {} if self.n_reference is None else {"in_reference": as_arrow(docs < self.n_reference)}

    def _rows(self, **columns: I64) -> dict[str, pa.Array]:
        """Return columns of row numbers, in the reference or the data, where ids do not tell documents apart."""
        if not self._has_clashes:
            return {}
        return {
            name: as_arrow(docs - np.where(docs < self._first_doc, 0, self._first_doc))
            for name, docs in columns.items()
        }

    def _clusters_of(self, docs: I64) -> pa.Table:
        kept_doc = self.kept_doc[docs]
        columns = {
            "id": self._ids.take(as_arrow(docs)),
            "cluster_id": self._ids.take(as_arrow(kept_doc)),
            "kept": as_arrow(self.is_kept[docs]),
            "similarity": as_arrow(self.similarity[docs]),
        }
        return pa.table(columns | self._in_reference(kept_doc) | self._rows(row=docs, cluster_row=kept_doc))

    def _pairs_of(self, piece: slice) -> pa.Table:
        a, b = self._pairs.a[piece], self._pairs.b[piece]
        columns = {
            "id_a": self._ids.take(as_arrow(a)),
            "id_b": self._ids.take(as_arrow(b)),
            "similarity": as_arrow(self._pairs.similarity[piece]),
        }
        return pa.table(columns | self._in_reference(a) | self._rows(row_a=a, row_b=b))


def with_copies(pairs: Pairs, firsts: I64, first_doc: int) -> Pairs:
    """Return the pairs with each exact copy, from first_doc on, paired to the first of them, ascending by (a, b)."""
    copies = first_doc + np.flatnonzero((firsts != np.arange(firsts.size))[first_doc:])
    a = np.concatenate((pairs.a, firsts[copies]))
    b = np.concatenate((pairs.b, copies))
    order = stable_order(b, firsts.size)
    order = order[stable_order(a[order], firsts.size)]
    return Pairs(a[order], b[order], np.concatenate((pairs.similarity, np.ones(copies.size)))[order])


def is_ambiguous(ids: pa.Array) -> bool:
    """Say whether an id, null among them, is that of several documents, so that row numbers must go beside."""
    values = pc.struct_field(ids, "json") if ids.type == MIXED else ids
    return not pa.types.is_nested(values.type) and len(pc.unique(values)) < len(values)
