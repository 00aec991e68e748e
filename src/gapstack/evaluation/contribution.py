"""Contribution of each member to a stack: leave-one-out.

The stack of some members is their simplex blend, whose weights minimise logloss; it is fitted on other folds than it is
scored on. Without members it predicts the class prior of the other folds. Leave-one-out is the rise of the loss when
one member is removed; it is near 0 for each of two members with the same predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Floats32, Ints, Labels

BlendLosses = Callable[[Bools], Floats]
"""Maps subsets of m members (c, m) to the losses of their blends on each row, (c, n)."""

FLOOR = 1e-4  # members' probabilities are raised to this, as in the simplex stacker

_BATCH = 32  # subsets that are fitted together; neighbours have most members in common
_STEPS = 3000
_EXPONENT = 1.8  # exponent of the multiplicative updates, which converge fastest between 1 and 2
_SMALLEST, _ACTIVE = np.float32(1e-9), np.float32(1e-6)
_BETWEEN = 20  # steps between checks for the optimum
_TOLERANCE = 5e-4  # maximum distance to the optimum, in nats


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contribution of each of m members, in nats of logloss on each row.

    ``left_out`` (m, n) is the loss of the stack without the member minus that of the stack of all. ``prior`` and
    ``full`` are the losses (n,) of the class prior and of the stack of all.
    """

    left_out: Floats
    prior: Floats
    full: Floats


def contribution(losses: BlendLosses, members: int) -> Contributions:
    """Leave-one-out contributions of ``members`` members, given the losses of their blends."""
    prior, full = losses(np.array([[False], [True]]).repeat(members, axis=1))
    return Contributions(losses(~np.eye(members, dtype=bool)) - full, prior, full)


def blend_losses(probabilities: Floats, labels: Labels, folds: Ints) -> BlendLosses:
    """Losses of cross-fitted simplex blends of (m, n, 3) probabilities; ``folds`` (n,) keep pages together."""
    raised = np.clip(probabilities, FLOOR, None)
    # (n, m): each member's probability of the label, on which alone the blend's logloss depends
    of_label = (raised / raised.sum(axis=-1, keepdims=True))[:, np.arange(len(labels)), labels].T

    def losses_of(subsets: Bools) -> Floats:
        losses = np.empty((len(subsets), len(labels)))
        some = np.flatnonzero(subsets.any(axis=1))
        for fold in np.unique(folds):
            inside = folds == fold
            prior = np.bincount(labels[~inside], minlength=3) / (~inside).sum()
            losses[:, inside] = -np.log(np.clip(prior[labels[inside]], FLOOR, None))
            weights = blend_weights(of_label[~inside], subsets[some])
            losses[np.ix_(some, np.flatnonzero(inside))] = -np.log(of_label[inside] @ weights).T
        return losses

    return losses_of


def blend_weights(of_label: Floats, subsets: Bools) -> Floats:
    """Weights (m, c) on the simplex that maximise the mean log of ``of_label @ weights``, for c subsets at once.

    Each column is within 5e-4 nats of its optimum, bounded by the log of the largest derivative (Cover 1984). Raises
    DataError if that is not reached.
    """
    weights = np.zeros(subsets.T.shape)
    # single precision is far below the tolerance, and twice as fast
    single = of_label.astype(np.float32)
    for start in range(0, len(subsets), _BATCH):
        some = subsets[start : start + _BATCH]
        used = np.flatnonzero(some.any(axis=0))
        weights[used, start : start + _BATCH] = _optimum(single[:, used], some[:, used])
    return weights


def _optimum(of_label: Floats32, subsets: Bools) -> Floats:
    """Weights of :func:`blend_weights`; between two checks only weights above 0, or that would grow, are updated."""
    allowed = subsets.T.astype(np.float32)
    weights = allowed / allowed.sum(axis=0)
    optimum = np.empty(weights.shape)
    going = np.arange(weights.shape[1])
    for step in range(_STEPS // _BETWEEN):
        gains = _gains(of_label, weights, allowed)
        optimum[:, going] = weights
        keep = np.log(gains.max(axis=0)) > _TOLERANCE
        going, allowed, weights, gains = going[keep], allowed[:, keep], weights[:, keep], gains[:, keep]
        if not len(going):
            return optimum / optimum.sum(axis=0)
        active = ((weights > _ACTIVE) | (gains > 1)).any(axis=1) if step else allowed.any(axis=1)
        some, few_allowed, few = of_label[:, active], allowed[active], weights[active]
        for _ in range(_BETWEEN):
            # a weight of 0 could never grow again
            few = np.maximum(few * _gains(some, few, few_allowed) ** _EXPONENT, few_allowed * _SMALLEST)
            few /= few.sum(axis=0)
        weights = np.asarray(allowed * _SMALLEST)
        weights[active] = few
    raise DataError(
        f"the blends of {len(going)} subsets are not at their optimum after {_STEPS} steps",
        remedy="Leave out members with nearly equal predictions",
    )


def _gains(of_label: Floats32, weights: Floats32, allowed: Floats32) -> Floats32:
    """Derivatives of the mean log by weight, (m, c)."""
    gains = allowed * (of_label.T @ (1 / (of_label @ weights))) / len(of_label)
    return np.asarray(gains, dtype=np.float32)
