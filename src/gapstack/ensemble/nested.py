"""Choosing and fitting a stacker by nested cross-validation.

The outer loop scores: the stack's out-of-fold row comes from a stacker that was chosen and fitted on the other
folds only. The inner loop chooses: candidates are compared on those other folds, each predicted by a fit on the
rest. The member probabilities that go in are themselves out of fold, so no row is ever scored by anything that
was fitted on its label, with the one reservation that stacking always carries: the members behind the *other*
rows' probabilities did see this row. The held-out split has no such reservation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.ensemble.stackers import Opinions, Stacker
from gapstack.errors import MemberError
from gapstack.members.base import Probabilities
from gapstack.scoring import log_loss


@dataclass(frozen=True)
class NestedStack:
    """A chosen stacker and the evidence for the choice.

    Attributes
    ----------
    name, stacker
        The winner over all folds, fitted on all rows.
    out_of_fold : (n, 3) float64
        Nested predictions: choice and fit made without the row's fold.
    choices : tuple of str
        What each outer fold chose.
    logloss : dict
        Each candidate's cross-validated logloss over all rows, by which the winner won.
    """

    name: str
    stacker: Stacker
    out_of_fold: Probabilities
    choices: tuple[str, ...]
    logloss: dict[str, float]


def _cross_validated(
    stacker: Stacker, opinions: Opinions, labels: NDArray[np.int64], folds: NDArray[np.int64]
) -> Probabilities:
    """Out-of-fold predictions of one stacker over the folds that ``folds`` names."""
    predictions = np.empty((len(labels), 3))
    for fold in np.unique(folds):
        held = folds == fold
        fitted = _copy(stacker).fit(opinions[~held], labels[~held])
        predictions[held] = fitted.predict_proba(opinions[held])
    return predictions


def _copy(stacker: Stacker) -> Stacker:
    return type(stacker)(**stacker.get_params())


def fit_nested(
    candidates: dict[str, Stacker], opinions: Opinions, labels: NDArray[np.int64], folds: NDArray[np.int64]
) -> NestedStack:
    """Choose between ``candidates`` by nested cross-validation and fit the winner on everything.

    Parameters
    ----------
    candidates : dict of name to unfitted Stacker
    opinions : (n, m, 3) float64
        Out-of-fold probabilities of the members.
    labels : (n,) int64
    folds : (n,) int64
        Fold of each row; rows of one page share a fold. At least three different ones, so that an inner loop
        exists.

    Raises
    ------
    MemberError
        Without candidates or with fewer than three folds.
    """
    names = np.unique(folds)
    if not candidates:
        raise MemberError("a stack needs at least one kind of stacker to choose from")
    if len(names) < 3:
        raise MemberError(f"nested cross-validation needs at least 3 folds, there are {len(names)}")

    def losses(rows: NDArray[np.bool_]) -> dict[str, float]:
        return {
            name: log_loss(labels[rows], _cross_validated(stacker, opinions[rows], labels[rows], folds[rows]))
            for name, stacker in candidates.items()
        }

    out_of_fold, choices = np.empty((len(labels), 3)), []
    for fold in names:
        held = folds == fold
        inner = losses(~held) if len(candidates) > 1 else dict.fromkeys(candidates, 0.0)
        chosen = min(inner, key=lambda name: inner[name])
        choices.append(chosen)
        fitted = _copy(candidates[chosen]).fit(opinions[~held], labels[~held])
        out_of_fold[held] = fitted.predict_proba(opinions[held])

    overall = losses(np.ones(len(labels), dtype=bool))
    winner = min(overall, key=lambda name: overall[name])
    return NestedStack(
        winner, _copy(candidates[winner]).fit(opinions, labels), out_of_fold, tuple(choices), overall
    )
