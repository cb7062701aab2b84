"""neardup: near-duplicate texts, found, verified and removed.

read -> clean -> shingle -> sketch -> candidates -> verify -> cluster -> keep -> write
"""

from neardup.dedup import dedup
from neardup.errors import InputError, MissingExtraError, NeardupError, OutputError, RecipeError, UsageError
from neardup.parts import shingles, signatures, similarity
from neardup.recipe import Recipe
from neardup.result import Result

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "MissingExtraError",
    "NeardupError",
    "OutputError",
    "Recipe",
    "RecipeError",
    "Result",
    "UsageError",
    "__version__",
    "dedup",
    "shingles",
    "signatures",
    "similarity",
]
