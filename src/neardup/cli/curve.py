"""neardup curve: the S-curve of a recipe."""

from typing import Final

from neardup.cli import options, render
from neardup.errors import UsageError
from neardup.recipe import Recipe

NEEDS_ARGUMENTS: Final = False


@options.with_recipe
def run(*, recipe: Recipe) -> None:
    """Show the chance that LSH finds a pair, by its similarity: the S-curve of a recipe.

    Prints the promised recall at the threshold and the textbook's approximate threshold (1/b)^(1/r).
    """
    if recipe.sketch == "simhash":
        raise UsageError("sketch = 'simhash' has no bands and no S-curve: it finds every pair within its distance.")
    render.curve(recipe)
