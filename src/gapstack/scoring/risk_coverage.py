"""Risk-coverage curve: how often the answers are wrong that are given at all, by the share of rows that is answered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gapstack.scoring.metrics import answers, normalise
from gapstack.types import Floats, Labels

POINTS = 50


class RiskCoverage(NamedTuple):
    """Share of rows answered, the most confident first, and share of them wrong: (points,) each; and the mean risk.

    ``area`` is the area under the curve, the mean risk over all coverages: 0 is never wrong.
    """

    coverage: Floats
    risk: Floats
    area: float


def risk_coverage(labels: Labels, probabilities: ArrayLike, *, points: int = POINTS) -> RiskCoverage:
    """Answer the rows in order of the top answer's probability (Geifman and El-Yaniv 2017).

    Rows of equal confidence are answered together: each counts as the mean of them.

    Parameters
    ----------
    labels : (n,) array
    probabilities : (n, 3) array
    points : int
        Of the curve; n where there are fewer rows.
    """
    normalised = normalise(probabilities)
    confidence, tied = np.unique(-normalised.max(axis=1), return_inverse=True)
    wrong = answers(normalised) != labels
    rate = np.bincount(tied, wrong, minlength=len(confidence)) / np.bincount(tied)
    risk = np.cumsum(rate[np.sort(tied)]) / np.arange(1, len(labels) + 1)
    ends = np.unique(np.linspace(1, len(labels), min(points, len(labels))).round().astype(int))
    return RiskCoverage(ends / len(labels), risk[ends - 1], float(risk.mean()))
