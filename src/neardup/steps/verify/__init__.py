"""Step 5: the similarity of candidate pairs, exactly from what they hold or as an estimate from their signatures.

In: candidate pairs, and what the documents are compared by: sets of shingles (`sets`), weighted shingles (`weighted`),
signatures (`signatures`), or vectors (`cosine`). Out: pairs at or above a threshold.
"""

from neardup.steps.verify.cosine import verify_vectors
from neardup.steps.verify.sets import verify
from neardup.steps.verify.signatures import estimate
from neardup.steps.verify.slices import cut_by_size
from neardup.steps.verify.weighted import verify_weighted

__all__ = ["cut_by_size", "estimate", "verify", "verify_vectors", "verify_weighted"]
