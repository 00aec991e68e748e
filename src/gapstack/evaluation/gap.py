"""The official GAP scorer: F1 by gender, and their ratio (Webster et al. 2018, section 5; gap_scorer.py).

Every row is two binary decisions: is the pronoun A, is it B. Both may be TRUE, and answering TRUE to both everywhere
earns an F1 above 60.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Gender
from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Ints, Strings


def f1_percent(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> Floats:
    """F1 in percent from counts of any shape; 0 without a true positive, as in the official scorer."""
    twice = 2.0 * np.asarray(tp, dtype=np.float64)
    whole = twice + np.asarray(fp) + np.asarray(fn)
    return 100.0 * np.divide(twice, whole, out=np.zeros_like(whole), where=whole > 0)


def f1_ratio(feminine: ArrayLike, masculine: ArrayLike) -> Floats:
    """F1 feminine over F1 masculine, of any shape; NaN where either is 0 (the official scorer's "-")."""
    top, bottom = np.asarray(feminine, dtype=np.float64), np.asarray(masculine, dtype=np.float64)
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=(top > 0) & (bottom > 0))


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Counts of decisions; ratios are in percent, and 0 where their denominator is 0."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float:
        """True positives among the decisions TRUE, in percent."""
        return 100.0 * self.tp / max(self.tp + self.fp, 1)

    @property
    def recall(self) -> float:
        """True positives among what is TRUE, in percent; a missing decision counts as not found."""
        return 100.0 * self.tp / max(self.tp + self.fn, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        return float(f1_percent(self.tp, self.fp, self.fn))

    def as_dict(self) -> dict[str, float]:
        """Ratios and counts, for JSON."""
        return {"recall": self.recall, "precision": self.precision, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True, slots=True)
class GapScores:
    """Counts by gender of the pronoun, and over all rows.

    ``neutral`` (they, ze, ...) goes beyond the official scorer, which refuses such rows: they count in ``overall``
    and not in the bias. GAP has none.
    """

    masculine: DecisionCounts
    feminine: DecisionCounts
    neutral: DecisionCounts
    overall: DecisionCounts

    @property
    def bias(self) -> float | None:
        """F1 feminine over F1 masculine; None (printed "-") where either is 0."""
        ratio = float(f1_ratio(self.feminine.f1, self.masculine.f1))
        return None if np.isnan(ratio) else ratio

    @property
    def groups(self) -> dict[str, DecisionCounts]:
        """Counts by name: overall, masculine, feminine, and neutral if there are such rows."""
        groups = {"overall": self.overall, "masculine": self.masculine, "feminine": self.feminine}
        return groups | ({"neutral": self.neutral} if any(asdict(self.neutral).values()) else {})

    def as_dict(self) -> dict[str, Any]:
        """Counts and ratios of all groups, and the bias, for JSON."""
        return {**{name: counts.as_dict() for name, counts in self.groups.items()}, "bias": self.bias}


def outcomes(gold: Bools, decided: Bools, answered: Bools | None = None) -> Ints:
    """Count true positives, false positives, false negatives and true negatives of each row: (..., n, 4), summing to 2.

    ``gold`` (n, 2) is True where the pronoun is A, and where it is B; ``decided`` (..., n, 2) are the decisions of one
    or more systems. ``answered``, of the same shape, is False without a decision, which is a false negative **even
    where gold is FALSE**, as in the official scorer. Raises DataError if the shapes do not fit.
    """
    if gold.shape[-1:] != (2,) or decided.shape[-2:] != gold.shape:
        raise DataError(
            f"gold of shape {gold.shape}, decisions of shape {decided.shape}", expected="(n, 2) for both"
        )
    present = np.ones_like(decided) if answered is None else answered
    kinds = (
        gold & decided & present,
        ~gold & decided & present,
        ~present | (gold & ~decided),
        ~gold & ~decided & present,
    )
    # (..., n, 2, 4), summed over the two decisions
    return np.stack(kinds, axis=-1).sum(axis=-2)


def gap_scores(gold: Bools, decided: Bools, genders: Strings, answered: Bools | None = None) -> GapScores:
    """Score decisions like the official scorer; ``genders`` (n,) are of the pronouns, see also :func:`outcomes`."""
    rows = outcomes(gold, decided, answered)
    groups = {gender.value: rows[genders == gender.value] for gender in Gender} | {"overall": rows}
    return GapScores(**{name: DecisionCounts(*each.sum(axis=0).tolist()) for name, each in groups.items()})
