"""Runs: recipes, cross-validation with a store that survives kills, and prediction of new rows.

Names are imported on first use, so that a recipe is checked before torch is loaded.
"""

from typing import TYPE_CHECKING

from gapstack.registry import lazy

if TYPE_CHECKING:
    from gapstack.runs.folder import RunFolder, home
    from gapstack.runs.recipe import Recipe, available
    from gapstack.runs.results import Result, Run
    from gapstack.runs.runner import run
else:
    __getattr__ = lazy(
        __name__,
        {
            "Recipe": "gapstack.runs.recipe:Recipe",
            "Result": "gapstack.runs.results:Result",
            "Run": "gapstack.runs.results:Run",
            "RunFolder": "gapstack.runs.folder:RunFolder",
            "available": "gapstack.runs.recipe:available",
            "home": "gapstack.runs.folder:home",
            "run": "gapstack.runs.runner:run",
        },
    )

__all__ = ["Recipe", "Result", "Run", "RunFolder", "available", "home", "run"]
