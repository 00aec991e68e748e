"""Stackers and calibrators by name; imported when they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapstack.registry import Entry, Registry

if TYPE_CHECKING:
    from gapstack.ensemble.calibration import Calibrator
    from gapstack.ensemble.stacker import Stacker

STACKERS: Registry[type[Stacker]] = Registry(
    "stacker",
    {
        "mean": Entry(
            "gapstack.ensemble.linear:MeanStacker", "mean of probabilities or logits, weights given"
        ),
        "simplex": Entry("gapstack.ensemble.linear:SimplexStacker", "weighted mean of probabilities"),
        "conditional": Entry("gapstack.ensemble.linear:ConditionalStacker", "weighted product of experts"),
        "logistic": Entry("gapstack.ensemble.linear:LogisticStacker", "multinomial logistic regression"),
        "feature_weighted": Entry(
            "gapstack.ensemble.feature_weighted:FeatureWeightedStacker",
            "product of experts, weights linear in meta-features",
            "Sill et al. 2009",
        ),
        "lightgbm": Entry(
            "gapstack.ensemble.boosted:LightGBMStacker", "boosted trees over all base predictions"
        ),
        "dense": Entry("gapstack.ensemble.networks:DenseStacker", "densely connected network"),
        "pool": Entry("gapstack.ensemble.networks:PoolStacker", "attention over members by evidence"),
        "evidence": Entry(
            "gapstack.ensemble.boosted:EvidenceStacker", "boosted trees beside a product of experts"
        ),
    },
)
"""By name, the simplest first."""

CALIBRATORS: Registry[type[Calibrator]] = Registry(
    "calibrator",
    {
        "none": Entry("gapstack.ensemble.calibration:Identity", "no calibration"),
        "temperature": Entry(
            "gapstack.ensemble.calibration:Temperature", "one scale", "Guo et al. 2017, section 4.2"
        ),
        "vector": Entry(
            "gapstack.ensemble.calibration:VectorScaling", "scales and a bias", "Guo et al. 2017, section 4.2"
        ),
        "by_gender": Entry(
            "gapstack.ensemble.calibration:ByGender", "vector scaling by gender", "Pleiss et al. 2017"
        ),
        "isotonic": Entry(
            "gapstack.ensemble.calibration:Isotonic", "rising steps", "Zadrozny and Elkan 2002"
        ),
    },
)
"""Kinds of the stack's last step, the simplest first."""


def create_stacker(kind: str, **settings: Any) -> Stacker:
    """Make the stacker called ``kind``; MemberError if there is none, or a setting is out of range."""
    stacker: Stacker = STACKERS.create(kind, **settings)
    return stacker


def create_calibrator(kind: str) -> Calibrator:
    """Make a calibrator; MemberError if there is none of this kind."""
    return CALIBRATORS[kind]()
