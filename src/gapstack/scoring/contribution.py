"""What each member adds to the others: leave-one-out and Shapley value in a stack.

A coalition of members is worth what its stack scores. The stack here is the simplex blend, the weighted mean of
probabilities whose weights minimise logloss, fitted on other folds than it is scored on; it is the one stack that
hundreds of coalitions can be given in seconds. A coalition of nobody answers with the class prior of the other
folds.

Leaving one out asks what is lost without it *while all others stay*: near nothing for each of two twins. The
Shapley value (Shapley 1953) is a member's mean gain over all orders of arrival: twins share what they bring, and
the values add up to what all members gain together over the prior. Both are means over rows, so that pages can be
resampled for their intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gapstack.errors import DataError
from gapstack.scoring.metrics import Bools, Floats, Labels

Worth = Callable[[Bools], Floats]
"""Coalitions (c, m), True where a member takes part, to the loss of each on each row, (c, n)."""

EXACT_UP_TO = 7
"""Members for which all coalitions are tried; beyond, orders of arrival are drawn."""

FLOOR = 1e-4
"""Least probability that a member is taken to give, as in the simplex stacker."""

_STEPS = 3000  # of which all but a few coalitions need less than 400
_OVERRELAXED = 1.8  # multiplicative updates take far fewer steps with an exponent between 1 and 2
_LEAST = np.float32(1e-9)
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
        Standard error of a mean Shapley value for having drawn orders, pooled over members; 0 where all coalitions
        were tried.
    nobody, everybody : (n,) float64
        Losses of the class prior and of the stack of all.
    orders : int
        Orders of arrival drawn; 0 where all coalitions were tried.
    """

    left_out: Floats
    shapley: Floats
    error: float
    nobody: Floats
    everybody: Floats
    orders: int


def contribution(worth: Worth, members: int, *, draws: int = 2, seed: int = 0) -> Contributions:
    """Leave-one-out and Shapley values of a game.

    Up to :data:`EXACT_UP_TO` members all coalitions are tried. Beyond, orders of arrival are drawn, each with all of
    its rotations, so that every member arrives equally often at every place (stratified sampling: Maleki et al.
    2013): who is first gains by far the most, and would otherwise be a matter of luck. Every order's gains add up to
    the total, so the values do too.

    Parameters
    ----------
    worth : callable
        See :data:`Worth`; called once.
    members : int
    draws : int
        How many orders to draw; each asks for up to ``members**2`` coalitions.
    seed : int
        Of the draw.

    Raises
    ------
    DataError
        Without members, or for fewer than two draws, which would have no standard error.
    """
    if members < 1 or draws < 2:
        raise DataError(f"{members} members and {draws} draws", expected="members, and two draws or more")
    ends = np.array([np.zeros(members, dtype=bool), np.ones(members, dtype=bool)])
    without = ~np.eye(members, dtype=bool)
    arrivals = np.empty((0, members), dtype=np.int64)
    if members <= EXACT_UP_TO:
        asked = np.array(list(product([False, True], repeat=members)))
    else:
        generator = np.random.default_rng(seed)
        turns = np.add.outer(np.arange(members), np.arange(members)) % members
        arrivals = np.concatenate([generator.permutation(members)[turns] for _ in range(draws)])
        # (orders, places, members): who has arrived after each place
        asked = (np.cumsum(np.eye(members, dtype=np.int64)[arrivals], axis=1) > 0).reshape(-1, members)
    coalitions, place = np.unique(np.concatenate([ends, without, asked]), axis=0, return_inverse=True)
    place = place.ravel()
    losses = worth(coalitions)
    nobody, everybody = losses[place[0]], losses[place[1]]
    left_out = losses[place[2 : 2 + members]] - everybody
    if members <= EXACT_UP_TO:
        shapley, error = _exact(losses, coalitions), 0.0
    else:
        after = place[2 + members :].reshape(arrivals.shape)
        before = np.concatenate([np.full((len(arrivals), 1), place[0]), after[:, :-1]], axis=1)
        shapley, error = _sampled(losses, arrivals, before, after)
    return Contributions(left_out, shapley, error, nobody, everybody, len(arrivals))


def _exact(losses: Floats, coalitions: Bools) -> Floats:
    """Shapley's formula over all 2^m coalitions, in the order of ``np.unique``: binary numbers."""
    members = coalitions.shape[1]
    sizes = coalitions.sum(axis=1)
    # chance that exactly these have arrived before a given other member: 1 / (m * C(m - 1, size))
    chance = np.array([1 / members / _choose(members - 1, size) for size in range(members)])
    values = np.empty((members, losses.shape[1]))
    for member in range(members):
        out = np.flatnonzero(~coalitions[:, member])
        joined = out + 2 ** (members - 1 - member)
        values[member] = chance[sizes[out]] @ (losses[out] - losses[joined])
    return values


def _choose(n: int, k: int) -> float:
    return float(np.prod([(n - i) / (i + 1) for i in range(k)]))


def _sampled(
    losses: Floats, arrivals: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64]
) -> tuple[Floats, float]:
    """Mean gains over orders, (m, n), and the pooled standard error of their means over rows."""
    orders, members = arrivals.shape
    values = np.zeros((members, losses.shape[1]))
    means = losses.mean(axis=1)
    by_draw = np.zeros((orders // members, members))
    for order, (who, one, two) in enumerate(zip(arrivals, before, after, strict=True)):
        values[who] += losses[one] - losses[two]
        by_draw[order // members, who] += (means[one] - means[two]) / members
    # an order and its rotations are one draw; two draws say little of one member and enough of all together
    return values / orders, float(np.sqrt(by_draw.var(axis=0, ddof=1).mean() / len(by_draw)))


def blend_game(probabilities: Floats, labels: Labels, folds: NDArray[np.int64]) -> Worth:
    """Give the game of cross-fitted simplex blends.

    Parameters
    ----------
    probabilities : (m, n, 3) float64
        Of all members on labelled rows.
    labels : (n,) int64
    folds : (n,) int64
        Fold of each row; rows of one page share a fold.
    """
    raised = np.clip(probabilities, FLOOR, None)
    # (n, m): what each member gives to the right answer, all that the blend's logloss looks at
    found = (raised / raised.sum(axis=-1, keepdims=True))[:, np.arange(len(labels)), labels].T

    def worth(coalitions: Bools) -> Floats:
        losses = np.empty((len(coalitions), len(labels)))
        for fold in np.unique(folds):
            held = folds == fold
            prior = np.bincount(labels[~held], minlength=3) / (~held).sum()
            losses[:, held] = -np.log(np.clip(prior[labels[held]], FLOOR, None))
            some = np.flatnonzero(coalitions.any(axis=1))
            weights = blend_weights(found[~held], coalitions[some])
            losses[np.ix_(some, np.flatnonzero(held))] = -np.log(found[held] @ weights).T
        return losses

    return worth


def blend_weights(found: Floats, coalitions: Bools) -> Floats:
    """Weights on the simplex that maximise the mean log of ``found @ weights``, for many coalitions at once.

    Parameters
    ----------
    found : (n, m) float64
        Probability that each member gives to the right answer; above 0.
    coalitions : (c, m) bool
        Who may have a weight; nobody may not be asked.

    Returns
    -------
    (m, c) float64; each column is within 5e-4 nats of its optimum by a bound that holds for any weights (Cover
    1984): the log of the largest derivative.

    Raises
    ------
    DataError
        If a coalition's weights do not get there.
    """
    # single precision is far below the tolerance, and twice as fast
    found = found.astype(np.float32)
    allowed = coalitions.T.astype(np.float32)
    weights = allowed / allowed.sum(axis=0)
    made = np.empty(weights.shape)
    going = np.arange(weights.shape[1])
    for step in range(1, _STEPS + 1):
        gains = allowed * (found.T @ (1 / (found @ weights))) / np.float32(len(found))
        made[:, going] = weights
        if step % 20 == 0:
            kept = np.log(gains.max(axis=0)) > _TOLERANCE
            going, allowed, weights, gains = going[kept], allowed[:, kept], weights[:, kept], gains[:, kept]
            if not len(going):
                return made / made.sum(axis=0)
        # nobody dies out, so that whoever is needed later can come back
        weights = np.maximum(weights * gains**_OVERRELAXED, allowed * _LEAST)
        weights /= weights.sum(axis=0)
    raise DataError(f"the blends of {len(going)} coalitions are not at their optimum after {_STEPS} steps")
