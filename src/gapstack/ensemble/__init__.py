"""Stackers: estimators whose input is other members' probabilities, and evidence where they read it.

``linear``, ``boosted`` and ``networks`` hold the kinds, ``calibration`` the last step, and ``nested`` chooses between
them without ever scoring one on rows it was fitted on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapstack.ensemble.catalogue import CALIBRATORS, STACKERS, create_calibrator, create_stacker
from gapstack.registry import lazy

if TYPE_CHECKING:
    from gapstack.ensemble.calibration import Calibrator
    from gapstack.ensemble.nested import NestedStack, fit_nested
    from gapstack.ensemble.stacker import Opinions, Stacker
else:
    __getattr__ = lazy(
        __name__,
        {
            "Calibrator": "gapstack.ensemble.calibration:Calibrator",
            "NestedStack": "gapstack.ensemble.nested:NestedStack",
            "Opinions": "gapstack.ensemble.stacker:Opinions",
            "Stacker": "gapstack.ensemble.stacker:Stacker",
            "fit_nested": "gapstack.ensemble.nested:fit_nested",
        },
    )

__all__ = [
    "CALIBRATORS",
    "STACKERS",
    "Calibrator",
    "NestedStack",
    "Opinions",
    "Stacker",
    "create_calibrator",
    "create_stacker",
    "fit_nested",
]
