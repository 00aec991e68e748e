"""Stackers: estimators over base predictions, and over hand-made features of the rows where they read them.

``linear``, ``feature_weighted``, ``boosted`` and ``networks`` hold the kinds; ``calibration`` the last step; ``nested``
chooses among them by nested cross-validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapstack.ensemble.catalogue import CALIBRATORS, STACKERS, create_calibrator, create_stacker
from gapstack.registry import lazy

if TYPE_CHECKING:
    from gapstack.ensemble.calibration import Calibrator
    from gapstack.ensemble.nested import NestedStack, fit_nested
    from gapstack.ensemble.stacker import Stacker
    from gapstack.types import BasePredictions
else:
    __getattr__ = lazy(
        __name__,
        {
            "Calibrator": "gapstack.ensemble.calibration:Calibrator",
            "NestedStack": "gapstack.ensemble.nested:NestedStack",
            "BasePredictions": "gapstack.ensemble.stacker:BasePredictions",
            "Stacker": "gapstack.ensemble.stacker:Stacker",
            "fit_nested": "gapstack.ensemble.nested:fit_nested",
        },
    )

__all__ = [
    "CALIBRATORS",
    "STACKERS",
    "BasePredictions",
    "Calibrator",
    "NestedStack",
    "Stacker",
    "create_calibrator",
    "create_stacker",
    "fit_nested",
]
