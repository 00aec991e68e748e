"""The official GAP scorer: F1 by gender, and their ratio (Webster et al. 2018, section 5; gap_scorer.py).

Every row is two binary decisions: is the pronoun A, is it B. Both may be TRUE, and answering TRUE to both
everywhere earns an F1 above 60, which is why a score is shown beside :mod:`gapstack.scoring.degenerate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.corpus import Gender
from gapstack.errors import DataError
from gapstack.types import Bools, Floats


def f1_percent(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> Floats:
    """F1 in percent of counts of any shape; 0 where there is no true positive.

    2PR / (P + R) with P and R put in; the official 0 for a zero denominator follows, since each of its
    denominators is 0 only where there is no true positive.
    """
    twice = 2.0 * np.asarray(tp, dtype=np.float64)
    whole = twice + np.asarray(fp) + np.asarray(fn)
    return 100.0 * np.divide(twice, whole, out=np.zeros_like(whole), where=whole > 0)


def f1_ratio(feminine: ArrayLike, masculine: ArrayLike) -> Floats:
    """F1 feminine over F1 masculine, of any shape; NaN where either is 0 (the official scorer's "-")."""
    top, bottom = np.asarray(feminine, dtype=np.float64), np.asarray(masculine, dtype=np.float64)
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=(top > 0) & (bottom > 0))


@dataclass(frozen=True, slots=True)
class Counts:
    """Decisions counted; ratios are in percent and 0 where their denominator is 0."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float:
        """True among those answered TRUE, in percent."""
        predicted = self.tp + self.fp
        return 100.0 * self.tp / predicted if predicted else 0.0

    @property
    def recall(self) -> float:
        """Found among those that are TRUE, in percent; a missing answer counts as not found."""
        actual = self.tp + self.fn
        return 100.0 * self.tp / actual if actual else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        return float(f1_percent(self.tp, self.fp, self.fn))

    def as_dict(self) -> dict[str, float]:
        """Counts and ratios, for JSON."""
        ratios = {"recall": self.recall, "precision": self.precision, "f1": self.f1}
        return {**ratios, "tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}


@dataclass(frozen=True, slots=True)
class GapScores:
    """Counts by gender of the pronoun, and over all rows.

    ``neutral`` (they, ze, ...) goes beyond the official scorer, which refuses such rows: they count in
    ``overall``, and never in the bias. GAP itself has none.
    """

    masculine: Counts
    feminine: Counts
    neutral: Counts
    overall: Counts

    @property
    def bias(self) -> float | None:
        """F1 feminine over F1 masculine; None (printed "-") where either is 0."""
        ratio = float(f1_ratio(self.feminine.f1, self.masculine.f1))
        return None if np.isnan(ratio) else ratio

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON; neutral only where there are such rows."""
        groups = {"masculine": self.masculine, "feminine": self.feminine, "overall": self.overall}
        if self.neutral != Counts(0, 0, 0, 0):
            groups["neutral"] = self.neutral
        return {**{name: counts.as_dict() for name, counts in groups.items()}, "bias": self.bias}


def outcomes(gold: Bools, decided: Bools, answered: Bools | None = None) -> NDArray[np.int64]:
    """Count true positives, false positives, false negatives and true negatives of each row.

    Raises DataError if the shapes do not fit.

    Parameters
    ----------
    gold : (n, 2) bool array
        Whether the pronoun is A, and whether it is B.
    decided : (..., n, 2) bool array
        The system's decisions; leading axes may hold systems.
    answered : (..., n, 2) bool array, optional
        False where the system gives no decision, which is a false negative **even where gold is FALSE**, as in the
        official scorer.

    Returns
    -------
    (..., n, 4) int array, columns tp, fp, fn, tn; each row sums to 2.
    """
    if gold.shape[-1:] != (2,) or decided.shape[-2:] != gold.shape:
        raise DataError(
            f"gold of shape {gold.shape}, decisions of shape {decided.shape}", expected="(n, 2) for both"
        )
    present = np.ones_like(decided) if answered is None else answered
    # (..., n, 2, 4), summed over the two decisions
    kinds = (
        gold & decided & present,
        ~gold & decided & present,
        ~present | (gold & ~decided),
        ~gold & ~decided & present,
    )
    return np.stack(kinds, axis=-1).sum(axis=-2)


def gap_scores(
    gold: Bools, decided: Bools, genders: NDArray[np.str_], answered: Bools | None = None
) -> GapScores:
    """Score two decisions a row as the official scorer does.

    ``genders`` is (n,), values of :class:`~gapstack.corpus.Gender`; the rest is as in :func:`outcomes`. Raises
    DataError if the shapes do not fit.
    """
    rows = outcomes(gold, decided, answered)
    return GapScores(
        **{gender.value: _counts(rows[genders == gender.value]) for gender in Gender}, overall=_counts(rows)
    )


def _counts(rows: NDArray[np.int64]) -> Counts:
    return Counts(*(int(total) for total in rows.sum(axis=0)))
