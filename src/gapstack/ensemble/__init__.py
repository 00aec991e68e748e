"""Stackers: estimators whose input is other members' probabilities, and evidence where they read it.

``linear``, ``boosted`` and ``networks`` hold the kinds, ``calibration`` the last step, and ``nested`` chooses between
them without ever scoring one on rows it was fitted on.
"""

from __future__ import annotations

from typing import Any

from gapstack.ensemble.boosted import EvidenceStacker, LightGBMStacker
from gapstack.ensemble.calibration import CALIBRATORS, Calibrator, create_calibrator
from gapstack.ensemble.linear import ConditionalStacker, LogisticStacker, SimplexStacker
from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.networks import DenseStacker, PoolStacker
from gapstack.ensemble.stacker import Opinions, Stacker
from gapstack.errors import MemberError

STACKERS: dict[str, type[Stacker]] = {
    "simplex": SimplexStacker,
    "conditional": ConditionalStacker,
    "logistic": LogisticStacker,
    "lightgbm": LightGBMStacker,
    "dense": DenseStacker,
    "pool": PoolStacker,
    "evidence": EvidenceStacker,
}
"""By name, the simplest first."""


def create_stacker(kind: str, **parameters: Any) -> Stacker:
    """Make the stacker called ``kind``; MemberError if there is none or it has no such setting."""
    if kind not in STACKERS:
        raise MemberError(f"no stacker is called {kind!r}; there are: {', '.join(STACKERS)}")
    unknown = sorted(set(parameters) - set(STACKERS[kind]._get_param_names()))
    if unknown:
        raise MemberError(f"stacker {kind!r} has no setting {', '.join(unknown)}")
    return STACKERS[kind](**parameters)


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
