"""What each member adds to the others: leave-one-out and Shapley values in a stack.

A coalition of members is worth the score of its stack: the simplex blend, whose weights minimise logloss, fitted on
other folds than it is scored on. The empty coalition predicts the class prior of the other folds. Leave-one-out is the
loss without a member while all others stay, near 0 for each of two twins. The Shapley value (Shapley 1953) is a
member's mean gain over all orders of arrival: twins share their gain, and the values add up to the gain of all members
over the prior. Both are means over rows, so that pages can be resampled.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from math import comb

import numpy as np

from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Floats32, Ints, Labels

Worth = Callable[[Bools], Floats]
"""Coalitions (c, m), True where a member takes part, to the loss of each on each row, (c, n)."""

EXACT_UP_TO = 9  # most members for which all coalitions are tried; beyond, values are estimated

MOST_DRAWS, MOST_COALITIONS = 8, 7_000  # upper bounds of an estimate; at least two draws are made

FLOOR = 1e-4  # smallest probability that a member is taken to give, as in the simplex stacker

_BATCH = 32  # coalitions that are fitted together; neighbours have most members in common
_LAST_STRATUM = 64  # from this place on gains are so small that one stratum is enough
_STEPS = 3000
_EXPONENT = 1.8  # of the multiplicative updates, which converge faster with one between 1 and 2
_SMALLEST, _ACTIVE = np.float32(1e-9), np.float32(1e-6)
_BETWEEN = 20  # steps between checks for the optimum
_TOLERANCE = 5e-4  # nats


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each of m members adds, in nats of logloss gained on each row.

    ``left_out`` (m, n) is the loss of the stack without the member minus that of the stack of all. ``shapley`` (m, n)
    are Shapley values, which add up to ``prior - full`` on every row, the losses (n,) of the class prior and of all.
    ``error`` is the Monte-Carlo standard error of a mean Shapley value, pooled over members, over ``draws``; both are 0
    where all coalitions were tried.
    """

    left_out: Floats
    shapley: Floats
    error: float
    prior: Floats
    full: Floats
    draws: int


def contribution(worth: Worth, members: int, *, seed: int = 0) -> Contributions:
    """Leave-one-out and Shapley values of a game.

    Up to :data:`EXACT_UP_TO` members all coalitions are tried. Beyond, the values are estimated by stratified sampling
    (Maleki et al. 2013; Castro et al. 2017): a Shapley value is the mean over places of a member's mean gain on
    arriving there. Places are in strata of 1, 2, 3-4, 5-8 and so on, since gains are large at the first places and
    alike at the last; a draw takes one place of each stratum, at which every member arrives once in the rotations of a
    random order. The estimate is unbiased, and its sum is corrected to the known total gain. There are as many
    ``draws``, two or more, as :data:`MOST_COALITIONS` allow.
    """
    if members <= EXACT_UP_TO:
        # in the order of binary numbers
        losses = worth(np.array(list(product([False, True], repeat=members))))
        prior, full = losses[0], losses[-1]
        left_out = losses[-1 - 2 ** np.arange(members)[::-1]] - full
        return Contributions(left_out, _exact(losses, members), 0.0, prior, full, 0)
    bounds = [0, 1]
    while bounds[-1] < members:
        bounds.append(min(2 * bounds[-1] if bounds[-1] < _LAST_STRATUM else members, members))
    draws = min(MOST_DRAWS, max(2, MOST_COALITIONS // (2 * members * (len(bounds) - 1))))
    prior, full = worth(np.array([[False], [True]]).repeat(members, axis=1))
    left_out = worth(~np.eye(members, dtype=bool)) - full
    generator = np.random.default_rng(seed)
    each = np.stack([_draw(worth, members, bounds, generator) for _ in range(draws)])
    each += (prior - full - each.sum(axis=1))[:, None] / members
    # a few draws are too few for one member's error and enough for all together
    error = float(np.sqrt(each.mean(axis=2).var(axis=0, ddof=1).mean() / draws))
    return Contributions(left_out, each.mean(axis=0), error, prior, full, draws)


def _draw(worth: Worth, members: int, bounds: list[int], generator: np.random.Generator) -> Floats:
    """One draw of all Shapley values, (m, n), before its sum is corrected."""
    values: Floats | float = 0.0
    for start, stop in pairwise(bounds):
        place = int(generator.integers(start, stop))
        order = generator.permutation(members)
        position = np.argsort(order)
        # (rotations, members): the place at which each member arrives
        arrival = (position - np.arange(members)[:, None]) % members
        gains = worth(arrival < place) - worth(arrival < place + 1)
        values = values + (stop - start) / members * gains[(position - place) % members]
    return np.asarray(values)


def _exact(losses: Floats, members: int) -> Floats:
    """Shapley's formula over all 2^m coalitions, in the order of binary numbers."""
    coalitions = np.arange(2**members)
    sizes = np.array([int(each).bit_count() for each in coalitions])
    # chance that exactly these have arrived before a given other member: 1 / (m * C(m - 1, size))
    chance = np.array([1 / members / comb(members - 1, size) for size in range(members)])
    values = np.empty((members, losses.shape[1]))
    for member in range(members):
        own = 2 ** (members - 1 - member)
        out = coalitions[coalitions & own == 0]
        values[member] = chance[sizes[out]] @ (losses[out] - losses[out + own])
    return values


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
