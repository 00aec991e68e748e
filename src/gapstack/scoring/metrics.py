"""Metrics over probabilities, and the table of their names, directions and formats.

This is the one place where probabilities are clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gapstack.corpus import Label
from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Labels

FLOOR = 1e-15
"""Kaggle clips normalised probabilities to [FLOOR, 1 - FLOOR]."""

ECE_BINS = 15
"""Equal-width confidence bins of the calibration error (Guo et al. 2017 use 15)."""


def normalise(probabilities: ArrayLike) -> Floats:
    """Divide each row by its sum, as Kaggle does before anything else.

    Raises DataError if the shape or a value is not as above; names the first bad row, counted from 0.

    Parameters
    ----------
    probabilities : (..., n, 3) array
        Columns A, B, NEITHER; finite, not negative, row sums above 0. Leading axes may hold members.

    Returns
    -------
    (..., n, 3) float64 array whose rows sum to 1.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim < 2 or values.shape[-1] != len(Label):
        raise DataError(f"probabilities of shape {values.shape}", expected="(n, 3): columns A, B, NEITHER")
    totals = values.sum(axis=-1, keepdims=True)
    # NaN fails every comparison, so this one expression also finds it; infinity shows in the total
    good = (values >= 0).all(axis=-1) & (totals[..., 0] > 0) & np.isfinite(totals[..., 0])
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise DataError(
            f"{np.count_nonzero(~good)} rows are no probabilities, the first is row {where[-1]}: "
            f"{values[where].tolist()}",
            expected="finite numbers, none negative, with a sum above 0",
        )
    return values / totals


def _aligned(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Normalised probabilities, once there is known to be one row for each label."""
    normalised = normalise(probabilities)
    if normalised.shape[-2] != len(labels):
        raise DataError(
            f"{normalised.shape[-2]} rows of probabilities for {len(labels)} labels",
            expected="one row for each example",
        )
    return normalised


def _mean(values: Floats) -> float:
    """Mean of per-example values; no examples have no mean, which is an error rather than a NaN."""
    if not len(values):
        raise DataError("there is nothing to score", expected="at least one example")
    return float(values.mean())


def example_losses(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Logloss of each example: minus the log of the probability of its label, in nats.

    Kaggle's rule: rows divided by their sum, then clipped to [1e-15, 1 - 1e-15]. Raises DataError if the probabilities
    break :func:`normalise`'s rules or there is not one row for each label.

    Parameters
    ----------
    labels : (n,) int array
        Columns: 0 A, 1 B, 2 NEITHER.
    probabilities : (..., n, 3) array
        See :func:`normalise`; leading axes may hold members.

    Returns
    -------
    (..., n) float64 array.
    """
    normalised = _aligned(labels, probabilities)
    of_label = normalised[..., np.arange(len(labels)), labels]
    return -np.log(np.clip(of_label, FLOOR, 1 - FLOOR))


def log_loss(labels: Labels, probabilities: ArrayLike) -> float:
    """Mean of :func:`example_losses` (shared-task paper, equation 1); lower is better."""
    return _mean(example_losses(labels, probabilities))


def example_briers(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Brier score of each example: squared distance to the one-hot label, 0 to 2. Shapes as in the losses."""
    truth = np.eye(len(Label))[labels]
    return np.square(_aligned(labels, probabilities) - truth).sum(axis=-1)


def brier(labels: Labels, probabilities: ArrayLike) -> float:
    """Mean Brier score over the three classes (Brier 1950), 0 to 2; lower is better."""
    return _mean(example_briers(labels, probabilities))


def answers(probabilities: ArrayLike) -> Labels:
    """Most probable column of each row, (..., n); a tie goes to the leftmost: A before B before NEITHER."""
    return np.asarray(probabilities, dtype=np.float64).argmax(axis=-1).astype(np.int64)


def decisions(probabilities: ArrayLike) -> Bools:
    """The two GAP decisions of each row: TRUE for the name that wins the row, (..., n, 2) booleans.

    Ties as in :func:`answers`; both are FALSE where NEITHER wins.
    """
    return answers(probabilities)[..., None] == np.array([Label.A, Label.B])


def example_hits(labels: Labels, probabilities: ArrayLike) -> Floats:
    """1.0 where the most probable column is the label, else 0.0. Shapes as in the losses."""
    return (answers(_aligned(labels, probabilities)) == labels).astype(np.float64)


def accuracy(labels: Labels, probabilities: ArrayLike) -> float:
    """Share of rows whose most probable column is the label, 0 to 1; higher is better."""
    return _mean(example_hits(labels, probabilities))


def calibration_gaps(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> Floats:
    """What each example adds to each confidence bin's gap: confidence minus hit, 0 in all other bins.

    Confidence is the highest probability of the row; the bins are equal parts of (0, 1], closed on the
    right. The calibration error is the sum over bins of the absolute sums over examples, divided by n, so
    that resampled errors follow from resampled sums.

    Returns
    -------
    (..., n, bins) float64 array.
    """
    confidence = _aligned(labels, probabilities).max(axis=-1)
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gap = confidence - example_hits(labels, probabilities)
    return np.where(place[..., None] == np.arange(bins), gap[..., None], 0.0)


def expected_calibration_error(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> float:
    """Expected calibration error of the top answer (Naeini et al. 2015; Guo et al. 2017, equation 3).

    ``bins`` equal-width bins of confidence, 0 to 1; lower is better.
    """
    gaps = calibration_gaps(labels, probabilities, bins=bins)
    return float(np.abs(gaps.sum(axis=0)).sum() / max(len(labels), 1))


@dataclass(frozen=True, slots=True)
class Metric:
    """What a score is called and which way is better.

    ``name`` is the field of :class:`~gapstack.scoring.Scores`; ``title`` heads a column; ``better`` is
    ``"low"``, ``"high"`` or ``"one"`` (best near 1); ``decimals`` is how it is printed; ``per_example``
    gives (n,) values whose mean is the metric, where it has such values.
    """

    name: str
    title: str
    better: str
    decimals: int
    per_example: Callable[[Labels, ArrayLike], Floats] | None = None


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("logloss", "logloss", "low", 4, example_losses),
        Metric("f1_masculine", "F1 M", "high", 1),
        Metric("f1_feminine", "F1 F", "high", 1),
        Metric("f1_overall", "F1 O", "high", 1),
        Metric("bias", "bias", "one", 3),
        Metric("accuracy", "acc", "high", 3, example_hits),
        Metric("brier", "Brier", "low", 4, example_briers),
        Metric("ece", "ECE", "low", 3),
    )
}
