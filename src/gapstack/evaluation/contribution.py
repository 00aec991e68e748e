"""What each member adds to the others: leave-one-out in a stack.

A coalition of members is worth the score of its stack: the simplex blend, whose weights minimise logloss, fitted on
other folds than it is scored on. The empty coalition predicts the class prior of the other folds. Leave-one-out is the
loss without a member while all others stay, near 0 for each of two twins.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Floats32, Ints, Labels

Worth = Callable[[Bools], Floats]
"""Coalitions (c, m), True where a member takes part, to the loss of each on each row, (c, n)."""

FLOOR = 1e-4  # smallest probability that a member is taken to give, as in the simplex stacker

_BATCH = 32  # coalitions that are fitted together; neighbours have most members in common
_STEPS = 3000
_EXPONENT = 1.8  # of the multiplicative updates, which converge faster with one between 1 and 2
_SMALLEST, _ACTIVE = np.float32(1e-9), np.float32(1e-6)
_BETWEEN = 20  # steps between checks for the optimum
_TOLERANCE = 5e-4  # nats


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each of m members adds, in nats of logloss gained on each row.

    ``left_out`` (m, n) is the loss of the stack without the member minus that of the stack of all. ``prior`` and
    ``full`` are the losses (n,) of the class prior and of the stack of all.
    """

    left_out: Floats
    prior: Floats
    full: Floats


def contribution(worth: Worth, members: int) -> Contributions:
    """Leave-one-out values of a game."""
    prior, full = worth(np.array([[False], [True]]).repeat(members, axis=1))
    return Contributions(worth(~np.eye(members, dtype=bool)) - full, prior, full)


def blend_game(probabilities: Floats, labels: Labels, folds: Ints) -> Worth:
    """The game of cross-fitted simplex blends of (m, n, 3) probabilities; ``folds`` (n,) keep pages together."""
    raised = np.clip(probabilities, FLOOR, None)
    # (n, m): each member's probability of the label, all that the blend's logloss depends on
    of_label = (raised / raised.sum(axis=-1, keepdims=True))[:, np.arange(len(labels)), labels].T

    def worth(coalitions: Bools) -> Floats:
        losses = np.empty((len(coalitions), len(labels)))
        some = np.flatnonzero(coalitions.any(axis=1))
        for fold in np.unique(folds):
            inside = folds == fold
            prior = np.bincount(labels[~inside], minlength=3) / (~inside).sum()
            losses[:, inside] = -np.log(np.clip(prior[labels[inside]], FLOOR, None))
            weights = blend_weights(of_label[~inside], coalitions[some])
            losses[np.ix_(some, np.flatnonzero(inside))] = -np.log(of_label[inside] @ weights).T
        return losses

    return worth


def blend_weights(of_label: Floats, coalitions: Bools) -> Floats:
    """Weights (m, c) on the simplex that maximise the mean log of ``of_label @ weights``, for c coalitions at once.

    Each column is within 5e-4 nats of its optimum, bounded by the log of the largest derivative (Cover 1984).
    """
    weights = np.zeros(coalitions.T.shape)
    # single precision is far below the tolerance, and twice as fast
    single = of_label.astype(np.float32)
    for start in range(0, len(coalitions), _BATCH):
        some = coalitions[start : start + _BATCH]
        used = np.flatnonzero(some.any(axis=0))
        weights[used, start : start + _BATCH] = _optimum(single[:, used], some[:, used])
    return weights


def _optimum(of_label: Floats32, coalitions: Bools) -> Floats:
    """Weights of :func:`blend_weights`; between two checks only those that matter or would grow are updated."""
    allowed = coalitions.T.astype(np.float32)
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
        some, own, few = of_label[:, active], allowed[active], weights[active]
        for _ in range(_BETWEEN):
            # no weight becomes 0, so that any member can come back
            few = np.maximum(few * _gains(some, few, own) ** _EXPONENT, own * _SMALLEST)
            few /= few.sum(axis=0)
        weights = np.asarray(allowed * _SMALLEST)
        weights[active] = few
    raise DataError(f"the blends of {len(going)} coalitions are not at their optimum after {_STEPS} steps")


def _gains(of_label: Floats32, weights: Floats32, allowed: Floats32) -> Floats32:
    """Derivatives of the mean log by weight, (m, c)."""
    gains = allowed * (of_label.T @ (1 / (of_label @ weights))) / len(of_label)
    return np.asarray(gains, dtype=np.float32)
