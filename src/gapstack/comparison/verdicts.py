"""Each member of a comparison against the best one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapstack.comparison.measurements import Comparison
from gapstack.scoring import METRICS, Difference


@dataclass(frozen=True, slots=True)
class Verdict:
    """A member against the best.

    Attributes
    ----------
    metric : str
        Key of :data:`gapstack.scoring.METRICS`: logloss, or F1 where one of the two has no probabilities.
    difference : Difference
        The member's score minus the best's; ``p`` by permutation of pages, corrected for all pairs (Holm).
    outcome : str
        ``better`` or ``worse`` at 5%, else ``cannot be told``.
    """

    metric: str
    difference: Difference
    outcome: str


def against_best(comparison: Comparison) -> tuple[Verdict | None, ...]:
    """The verdict on each member, in their order; None for the best itself, which is the first."""
    return (None, *(_verdict(comparison, place) for place in range(1, len(comparison.names))))


def _verdict(comparison: Comparison, place: int) -> Verdict:
    metric = next(m for m in ("logloss", "f1_overall") if not np.isnan(comparison.pairs[m].value[place, 0]))
    pairs = comparison.pairs[metric]
    difference = Difference(
        *(float(each[place, 0]) for each in (pairs.value, pairs.low, pairs.high, pairs.p_holm))
    )
    better = (difference.value < 0) == (METRICS[metric].better == "low")
    outcome = "cannot be told" if not difference.p <= 0.05 else "better" if better else "worse"
    return Verdict(metric, difference, outcome)
