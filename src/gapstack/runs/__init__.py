"""Runs: recipes, cross-validation with a store that survives kills, and prediction of new rows.

Names are imported when they are first asked for, so that a recipe is read and refused before torch is loaded.
Prediction is :func:`gapstack.runs.predict.predict`.
"""

from typing import TYPE_CHECKING

from gapstack.registry import lazy

if TYPE_CHECKING:
    from gapstack.runs.crossval import Result, Run, run
    from gapstack.runs.folder import RunFolder, home
    from gapstack.runs.recipe import Recipe, available
else:
    __getattr__ = lazy(
        __name__,
        {
            "Recipe": "gapstack.runs.recipe:Recipe",
            "Result": "gapstack.runs.crossval:Result",
            "Run": "gapstack.runs.crossval:Run",
            "RunFolder": "gapstack.runs.folder:RunFolder",
            "available": "gapstack.runs.recipe:available",
            "home": "gapstack.runs.folder:home",
            "run": "gapstack.runs.crossval:run",
        },
    )

__all__ = ["Recipe", "Result", "Run", "RunFolder", "available", "home", "run"]
