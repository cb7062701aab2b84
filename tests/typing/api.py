"""How users call the API, for the type checker; never run."""

from pathlib import Path

import neardup
from neardup import Recipe, Result


def callers() -> None:
    """Every public name in a call that must type-check."""
    result: Result = neardup.dedup(["a", "b"], recipe=Recipe(threshold=0.7, unit="token"))
    neardup.dedup(Path("in.jsonl"), text="body", id="key", write={"kept": Path("out.jsonl")}, on_bad_record="skip")
    n_removed: int = result.stats.removed
    estimate: float = neardup.similarity("a", "b").estimate
    exact: float = neardup.similarity("a", "b", Recipe())
    shape = neardup.signatures(["a"], Recipe(num_perm=64)).shape
    offsets = neardup.shingles(["a"]).offsets
    try:
        Recipe.load("recipe.toml").replace(keep="longest")
    except neardup.RecipeError as error:
        _ = (error, n_removed, estimate, exact, shape, offsets, neardup.__version__)
