"""Stackers and calibrators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from gapstack.members.part import PartTable
from gapstack.registry import Entry, Registry
from gapstack.settings import OneOf

if TYPE_CHECKING:
    from gapstack.ensemble.calibration import Calibrator
    from gapstack.ensemble.stacker import Stacker

_GUO = "Guo et al. 2017, section 4.2"


def _entry(where: str, about: str, paper: str = "") -> Entry:
    return Entry(f"gapstack.ensemble.{where}", about, paper)


STACKERS: Registry[type[Stacker]] = Registry(
    "stacker",
    {
        "mean": _entry("linear:MeanStacker", "mean of probabilities or logits, weights given"),
        "simplex": _entry("linear:SimplexStacker", "weighted mean of probabilities"),
        "conditional": _entry("linear:ConditionalStacker", "weighted product of experts"),
        "logistic": _entry("linear:LogisticStacker", "multinomial logistic regression"),
        "feature_weighted": _entry(
            "linear:FeatureWeightedStacker",
            "product of experts, weights linear in meta-features",
            "Sill et al. 2009",
        ),
        "lightgbm": _entry("boosted:LightGBMStacker", "boosted trees over all base predictions"),
        "dense": _entry("networks:DenseStacker", "densely connected network"),
        "pool": _entry("networks:PoolStacker", "attention over members by evidence"),
        "evidence": _entry("boosted:EvidenceStacker", "boosted trees on top of a product of experts"),
    },
)
"""By name, the simplest first."""
StackerPart = Annotated[str, OneOf(STACKERS)] | PartTable
"""A stacker's name, or a table of name, label and settings."""

CALIBRATORS: Registry[type[Calibrator]] = Registry(
    "calibrator",
    {
        "none": _entry("calibration:Identity", "no calibration"),
        "temperature": _entry("calibration:Temperature", "one scale", _GUO),
        "vector": _entry("calibration:VectorScaling", "scales and a bias", _GUO),
        "by_gender": _entry("calibration:ByGender", "vector scaling by gender", "Pleiss et al. 2017"),
        "isotonic": _entry("calibration:Isotonic", "rising steps", "Zadrozny and Elkan 2002"),
    },
)
"""By name, the simplest first."""
CalibratorName = Annotated[str, OneOf(CALIBRATORS)]


def create_stacker(kind: str, **settings: Any) -> Stacker:
    """Make a stacker; MemberError for an unknown name or a setting out of range."""
    return STACKERS.create(kind, **settings)


def create_calibrator(kind: str) -> Calibrator:
    """Make a calibrator; MemberError for an unknown name."""
    return CALIBRATORS[kind]()
