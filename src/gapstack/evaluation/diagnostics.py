"""Calibration, selective prediction, similarity of members, difficulty of rows and quality of labels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gapstack.evaluation.metrics import ECE_BINS, answers, confidence_bins, normalise
from gapstack.types import Bools, Floats, Ints, Labels, Strings

DIFFICULTIES = ("all right", "most right", "few right", "none right")
"""Values of :func:`difficulty`, the easiest first."""


class Reliability(NamedTuple):
    """Mean confidence and accuracy (0 to 1, NaN in an empty bin) and number of rows of each bin: (bins,) each."""

    confidence: Floats
    accuracy: Floats
    rows: Ints


def reliability(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> Reliability:
    """Reliability diagram: accuracy by confidence of the top answer (DeGroot and Fienberg 1983)."""
    normalised = normalise(probabilities)
    place = confidence_bins(normalised, bins)
    rows = np.bincount(place, minlength=bins)
    values = (normalised.max(axis=1), answers(normalised) == labels)
    sums = [np.bincount(place, each, minlength=bins) for each in values]
    confidence, accuracy = np.divide(sums, rows, out=np.full((2, bins), np.nan), where=rows > 0)
    return Reliability(confidence, accuracy, rows)


class RiskCoverage(NamedTuple):
    """Share of rows answered, the most confident first, and error rate among them, (points,); ``area``: mean risk."""

    coverage: Floats
    risk: Floats
    area: float


def risk_coverage(labels: Labels, probabilities: ArrayLike, *, points: int = 50) -> RiskCoverage:
    """Risk-coverage curve of at most ``points`` points (Geifman and El-Yaniv 2017), most confident rows first."""
    normalised = normalise(probabilities)
    confidence, tied = np.unique(-normalised.max(axis=1), return_inverse=True)
    wrong = answers(normalised) != labels
    rate = np.bincount(tied, wrong, minlength=len(confidence)) / np.bincount(tied)
    risk = np.cumsum(rate[np.sort(tied)]) / np.arange(1, len(labels) + 1)
    ends = np.unique(np.linspace(1, len(labels), min(points, len(labels))).round().astype(int))
    return RiskCoverage(ends / len(labels), risk[ends - 1], float(risk.mean()))


def correlations(values: Floats) -> Floats:
    """Pearson correlation of members' per-example values: (m, n) to (m, m); NaN for constant values."""
    centred = values - values.mean(axis=1, keepdims=True)
    # losses that are equal up to rounding have no correlation
    spread = np.sqrt((centred**2).sum(axis=1))
    spread[spread <= 1e-12 * np.abs(values).sum(axis=1)] = np.nan
    return np.clip(centred @ centred.T / np.outer(spread, spread), -1, 1)


def disagreement(decided: Bools) -> Floats:
    """Share of rows on which two members decide differently: (m, n, 2) decisions to (m, m)."""
    share: Floats = (decided[:, None] != decided[None]).any(axis=-1).mean(axis=-1)
    return share


def double_fault(right: Bools) -> Floats:
    """Share of rows on which two members are both wrong (Giacinto and Roli 2001): (m, n) to (m, m)."""
    wrong = (~right).astype(np.float64)
    return wrong @ wrong.T / right.shape[1]


def difficulty(right: Bools) -> Strings:
    """Difficulty of each row by the share of (m, n) members that are right: of :data:`DIFFICULTIES`, (n,)."""
    share = right.mean(axis=0)
    place = np.select([share == 1, share >= 0.5, share > 0], [0, 1, 2], default=3)
    return np.array(DIFFICULTIES)[place]


def label_quality(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Probability of each label, (n,), by models that were not trained on it (Northcutt, Jiang and Chuang 2021)."""
    return normalise(probabilities)[np.arange(len(labels)), labels]
