"""What each member adds to the others: leave-one-out and Shapley value in a stack.

The value of a coalition of members is the score of its stack. The stack here is the simplex blend, the weighted mean of
probabilities whose weights minimise logloss, fitted on other folds than it is scored on, since hundreds of blends can
be fitted in seconds. The empty coalition predicts the class prior of the other folds.

Leave-one-out is what is lost without a member *while all others stay*: near nothing for each of two twins. The Shapley
value (Shapley 1953) is a member's mean gain over all orders of arrival: twins share their gain, and the values add up
to the gain of all members over the prior. Both are means over rows, so that pages can be resampled for intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Labels

Worth = Callable[[Bools], Floats]
"""Coalitions (c, m), True where a member takes part, to the loss of each on each row, (c, n)."""

EXACT_UP_TO = 9
"""Most members for which all coalitions are tried; beyond, values are estimated."""

MOST_DRAWS, MOST_COALITIONS = 8, 7_000
"""Bounds of an estimate's draws, two at least: so many coalitions take minutes for 200 members."""

FLOOR = 1e-4
"""Least probability that a member is taken to give, as in the simplex stacker."""

_TOGETHER = 32  # coalitions that are fitted at once; neighbours have most members in common
_ALIKE = 64  # place from which on gains are so small and alike that one stratum does
_STEPS = 3000  # of which all but a few coalitions need less than 400
_OVERRELAXED = 1.8  # multiplicative updates take far fewer steps with an exponent between 1 and 2
_LEAST, _SPEAKS = np.float32(1e-9), np.float32(1e-6)
_BETWEEN = 20  # steps between checks for the optimum
_TOLERANCE = 5e-4  # nats; a bound, which the true distance stays well below


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each of m members adds, in nats of logloss gained on each row.

    Attributes
    ----------
    left_out : (m, n) float64
        Loss of the stack without the member minus loss of the stack of all.
    shapley : (m, n) float64
        Shapley values; their sum over members is ``prior - all`` on every row.
    error : float
        Monte-Carlo standard error of a mean Shapley value, pooled over members; 0 where all coalitions were tried.
    prior, full : (n,) float64
        Losses of the class prior and of the stack of all.
    draws : int
        How often was drawn; 0 where all coalitions were tried.
    """

    left_out: Floats
    shapley: Floats
    error: float
    prior: Floats
    full: Floats
    draws: int


def contribution(worth: Worth, members: int, *, draws: int | None = None, seed: int = 0) -> Contributions:
    """Leave-one-out and Shapley values of a game.

    Up to :data:`EXACT_UP_TO` members all coalitions are tried. Beyond, the values are estimated by stratified sampling
    (Maleki et al. 2013; Castro et al. 2017), for which the number of coalitions grows as the number of members: a
    Shapley value is the mean over places of a member's mean gain on arriving there. Places are taken in strata that
    double, 1, 2, 3-4, 5-8 and so on, since gains are large and various at the first places and small and alike at the
    last; in each stratum a draw looks at one place, where in the rotations of a random order every member arrives once.
    The estimate is unbiased. What its sum lacks to the total gain, which is known, is shared out evenly. Raises
    DataError without members, or for fewer than two draws, which would have no standard error.

    Parameters
    ----------
    worth : callable
        See :data:`Worth`.
    members : int
    draws : int
        How often to draw, by default what :data:`MOST_COALITIONS` allow; each draw asks for ``2 * members`` coalitions
        in each of eight strata at most.
    seed : int
        Of the draw.
    """
    if draws is None:
        per_draw = 2 * members * len(_strata(members))
        draws = min(MOST_DRAWS, max(2, MOST_COALITIONS // max(per_draw, 1)))
    if members < 1 or draws < 2:
        raise DataError(f"{members} members and {draws} draws", expected="members, and two draws or more")
    everyone = np.ones((1, members), dtype=bool)
    if members <= EXACT_UP_TO:
        # in the order of binary numbers
        losses = worth(np.array(list(product([False, True], repeat=members))))
        prior, full = losses[0], losses[-1]
        left_out = losses[-1 - 2 ** np.arange(members)[::-1]] - full
        return Contributions(left_out, _exact(losses, members), 0.0, prior, full, 0)
    prior, full = worth(~everyone)[0], worth(everyone)[0]
    left_out = worth(~np.eye(members, dtype=bool)) - full
    generator = np.random.default_rng(seed)
    each = np.stack([_drawn(worth, members, generator) for _ in range(draws)])
    each += (prior - full - each.sum(axis=1))[:, None] / members
    # a few draws are too few for one member's error and enough for all together
    error = float(np.sqrt(each.mean(axis=2).var(axis=0, ddof=1).mean() / draws))
    return Contributions(left_out, each.mean(axis=0), error, prior, full, draws)


def _drawn(worth: Worth, members: int, generator: np.random.Generator) -> Floats:
    """One draw of all Shapley values, (m, n), before its sum is set right."""
    values: Floats | float = 0.0
    for start, stop in _strata(members):
        place = int(generator.integers(start, stop))
        order = generator.permutation(members)
        gains = worth(_rotations(order, place)) - worth(_rotations(order, place + 1))
        # by member the rotation in which it arrives at the place
        arriving = np.argsort(np.roll(order, -place))
        values = values + (stop - start) / members * gains[arriving]
    return np.asarray(values)


def _strata(members: int) -> list[tuple[int, int]]:
    """Ranges of places, from 0: each as long as all before it, but for the last, which has all that is left."""
    bounds = [0, 1]
    while bounds[-1] < members:
        bounds.append(min(2 * bounds[-1] if bounds[-1] < _ALIKE else members, members))
    return list(pairwise(bounds))


def _rotations(order: NDArray[np.int64], size: int) -> Bools:
    """The first ``size`` members of each rotation of an order, as (m, m) coalitions."""
    members = len(order)
    coalitions = np.zeros((members, members), dtype=bool)
    turns = np.add.outer(np.arange(members), np.arange(size)) % members
    np.put_along_axis(coalitions, order[turns], True, axis=1)
    return coalitions


def _exact(losses: Floats, members: int) -> Floats:
    """Shapley's formula over all 2^m coalitions, in the order of binary numbers."""
    coalitions = np.arange(2**members)
    sizes = np.array([int(each).bit_count() for each in coalitions])
    # chance that exactly these have arrived before a given other member: 1 / (m * C(m - 1, size))
    chance = np.array([1 / members / _choose(members - 1, size) for size in range(members)])
    values = np.empty((members, losses.shape[1]))
    for member in range(members):
        own = 2 ** (members - 1 - member)
        out = coalitions[coalitions & own == 0]
        values[member] = chance[sizes[out]] @ (losses[out] - losses[out + own])
    return values


def _choose(n: int, k: int) -> float:
    return float(np.prod([(n - i) / (i + 1) for i in range(k)]))


def blend_game(probabilities: Floats, labels: Labels, folds: NDArray[np.int64]) -> Worth:
    """The game of cross-fitted simplex blends.

    Parameters
    ----------
    probabilities : (m, n, 3) float64
        Of all members on labelled rows.
    labels : (n,) int64
    folds : (n,) int64
        Fold of each row; rows of one page share a fold.
    """
    raised = np.clip(probabilities, FLOOR, None)
    # (n, m): each member's probability of the label, all that the blend's logloss depends on
    of_label = (raised / raised.sum(axis=-1, keepdims=True))[:, np.arange(len(labels)), labels].T

    def worth(coalitions: Bools) -> Floats:
        losses = np.empty((len(coalitions), len(labels)))
        for fold in np.unique(folds):
            inside = folds == fold
            prior = np.bincount(labels[~inside], minlength=3) / (~inside).sum()
            losses[:, inside] = -np.log(np.clip(prior[labels[inside]], FLOOR, None))
            some = np.flatnonzero(coalitions.any(axis=1))
            weights = blend_weights(of_label[~inside], coalitions[some])
            losses[np.ix_(some, np.flatnonzero(inside))] = -np.log(of_label[inside] @ weights).T
        return losses

    return worth


def blend_weights(of_label: Floats, coalitions: Bools) -> Floats:
    """Weights on the simplex that maximise the mean log of ``found @ weights``, for many coalitions at once.

    Raises DataError if a coalition's weights do not get there.

    Parameters
    ----------
    found : (n, m) float64
        Probability that each member gives to the right answer; above 0.
    coalitions : (c, m) bool
        True where a member may have a weight; none is empty.

    Returns
    -------
    (m, c) float64; each column is within 5e-4 nats of its optimum by a bound that holds for any weights (Cover
    1984): the log of the largest derivative.
    """
    weights = np.zeros(coalitions.T.shape)
    # single precision is far below the tolerance, and twice as fast
    single = of_label.astype(np.float32)
    for start in range(0, len(coalitions), _TOGETHER):
        some = coalitions[start : start + _TOGETHER]
        used = np.flatnonzero(some.any(axis=0))
        weights[used, start : start + _TOGETHER] = _optimum(single[:, used], some[:, used])
    return weights


def _optimum(of_label: NDArray[np.float32], coalitions: Bools) -> Floats:
    """Weights of :func:`blend_weights`, by multiplicative updates of all coalitions at once.

    Between two checks of all weights, only those are updated that matter or would grow: of a hundred members a blend
    needs a dozen.
    """
    allowed = coalitions.T.astype(np.float32)
    weights = allowed / allowed.sum(axis=0)
    optimum = np.empty(weights.shape)
    going = np.arange(weights.shape[1])
    for step in range(_STEPS // _BETWEEN):
        gains = _gains(of_label, weights, allowed)
        optimum[:, going] = weights
        unfinished = np.log(gains.max(axis=0)) > _TOLERANCE
        going, allowed, weights, gains = (
            going[unfinished],
            allowed[:, unfinished],
            weights[:, unfinished],
            gains[:, unfinished],
        )
        if not len(going):
            return optimum / optimum.sum(axis=0)
        active = ((weights > _SPEAKS) | (gains > 1)).any(axis=1) if step else allowed.any(axis=1)
        some, own, few = of_label[:, active], allowed[active], weights[active]
        for _ in range(_BETWEEN):
            # no weight becomes 0, so that any member can come back
            few = np.maximum(few * _gains(some, few, own) ** _OVERRELAXED, own * _LEAST)
            few /= few.sum(axis=0)
        weights = np.asarray(allowed * _LEAST)
        weights[active] = few
    raise DataError(f"the blends of {len(going)} coalitions are not at their optimum after {_STEPS} steps")


def _gains(
    of_label: NDArray[np.float32], weights: NDArray[np.float32], allowed: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Derivatives of the mean log by weight, (m, c)."""
    gains = allowed * (of_label.T @ (1 / (of_label @ weights))) / len(of_label)
    return np.asarray(gains, dtype=np.float32)
