"""Similarity of members: correlated losses, shared errors, rows that most get right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gapstack.scoring.metrics import answers
from gapstack.types import Bools, Floats

DIFFICULTIES = ("all right", "most right", "few right", "none right")
"""Bins of :func:`difficulty`, the easiest first."""


def correlations(values: Floats) -> Floats:
    """Pearson correlation of members' per-example values: (m, n) to (m, m); NaN where a member's never vary."""
    centred = values - values.mean(axis=1, keepdims=True)
    # losses that are equal up to rounding have no correlation
    spread = np.sqrt((centred**2).sum(axis=1))
    flat = spread <= 1e-12 * np.abs(values).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result = centred @ centred.T / np.outer(spread, spread)
    result[flat | np.isnan(spread)] = result[:, flat | np.isnan(spread)] = np.nan
    return np.clip(result, -1, 1)


def disagreement(decided: Bools) -> Floats:
    """Share of rows on which two members decide differently: (m, n, 2) decisions to (m, m)."""
    different = (decided[:, None] != decided[None]).any(axis=-1)
    share: Floats = different.mean(axis=-1)
    return share


def answer_flips(before: Floats, after: Floats) -> Bools:
    """Whether the most probable answer changes: (..., n, 3) probabilities of two versions of rows, to (..., n)."""
    changed: Bools = answers(before) != answers(after)
    return changed


def double_fault(right: Bools) -> Floats:
    """Share of rows on which two members are both wrong (Giacinto and Roli 2001): (m, n) to (m, m).

    The diagonal is each one's error rate; a pair that shares few errors is worth stacking.
    """
    wrong = (~right).astype(np.float64)
    return wrong @ wrong.T / right.shape[1]


def difficulty(right: Bools) -> NDArray[np.str_]:
    """Bin of each row by how many of (m, n) members are right: of :data:`DIFFICULTIES`, (n,).

    After the GAP paper's "agreement with gold" (Webster et al. 2018), whose four systems make five bins;
    here the bins do not depend on how many members are compared. "Most" is at least half.
    """
    share = right.mean(axis=0)
    place = np.select([share == 1, share >= 0.5, share > 0], [0, 1, 2], default=3)
    return np.array(DIFFICULTIES)[place]
