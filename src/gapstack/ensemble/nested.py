"""Choosing, fitting and calibrating a stacker by nested cross-validation.

The outer loop scores: the stack's out-of-fold row comes from a stacker that was chosen, fitted and calibrated on the
other folds only. The inner loop chooses: candidates are compared on those other folds, each predicted by a fit on the
rest. Both loops read one table of fits, each made without one fold or without two.

The member probabilities that go in are themselves out of fold, so no row is ever scored by anything that was fitted
on its label, with the one reservation that stacking always carries: the members behind the *other* rows'
probabilities did see this row. The held-out split has no such reservation.

The choice is the simplest candidate that is not clearly worse than the best: within one standard error of it
(Breiman et al. 1984, section 3.4.3), where the error is that of the difference between the two, with pages as the
units that were sampled. Candidates are given in order of simplicity; so are calibrators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.ensemble.calibration import Calibrator
from gapstack.ensemble.catalogue import create_calibrator
from gapstack.ensemble.stacker import Labels, Opinions, Stacker
from gapstack.errors import MemberError
from gapstack.features.blocks import Features
from gapstack.members.member import Probabilities
from gapstack.scoring.metrics import example_losses

Kind = tuple[str, str]
"""Names of a stacker and of a calibrator."""


@dataclass(frozen=True)
class NestedStack:
    """A chosen stacker and the evidence for the choice.

    Attributes
    ----------
    name, calibration : str
        The winners over all folds.
    stacker, calibrator
        The same, fitted on all rows.
    out_of_fold : (n, 3) float64
        Nested predictions: choice, fit and calibration made without the row's fold.
    choices : tuple of (str, str)
        Stacker and calibrator that each outer fold chose.
    logloss : dict
        Cross-validated logloss over all rows of each stacker with each calibrator.
    errors : dict
        Standard error of each one's difference from the best, 0 for the best itself.
    """

    name: str
    calibration: str
    stacker: Stacker
    calibrator: Calibrator
    out_of_fold: Probabilities
    choices: tuple[Kind, ...]
    logloss: dict[Kind, float]
    errors: dict[Kind, float]


@dataclass(frozen=True)
class _Rows:
    opinions: Opinions
    labels: Labels
    folds: NDArray[np.int64]
    pages: NDArray[np.int64]
    evidence: Features | None

    def fit(self, stacker: Stacker, rows: NDArray[np.bool_]) -> Stacker:
        fresh: Stacker = type(stacker)(**stacker.get_params())
        return fresh.fit(self.opinions[rows], self.labels[rows], self._evidence(rows))

    def ask(self, stacker: Stacker, rows: NDArray[np.bool_]) -> Probabilities:
        return stacker.predict_proba(self.opinions[rows], self._evidence(rows))

    def _evidence(self, rows: NDArray[np.bool_]) -> Features | None:
        return None if self.evidence is None else self.evidence.take(rows)


def fit_nested(
    candidates: dict[str, Stacker],
    opinions: Opinions,
    labels: Labels,
    folds: NDArray[np.int64],
    *,
    calibrators: Sequence[str] = ("none",),
    evidence: Features | None = None,
    pages: NDArray[np.generic] | None = None,
) -> NestedStack:
    """Choose between ``candidates`` by nested cross-validation and fit the winner on everything.

    Parameters
    ----------
    candidates : dict of name to unfitted Stacker
        The simplest first.
    opinions : (n, m, 3) float64
        Out-of-fold probabilities of the members.
    labels : (n,) int64
    folds : (n,) int64
        Fold of each row; rows of one page share a fold. At least three different ones, so that an inner loop
        exists.
    calibrators : sequence of str
        Kinds to choose from, see :data:`~gapstack.ensemble.CALIBRATORS`; the simplest first.
    evidence : Features, optional
        Of the rows, for stackers that read it.
    pages : (n,) array, optional
        Page of each row, for standard errors; without it, rows count as independent.

    Raises
    ------
    MemberError
        Without candidates, with fewer than three folds, or without evidence for one that reads it.
    """
    names, numbered = np.unique(folds, return_inverse=True)
    if not candidates or not calibrators:
        raise MemberError("a stack needs at least one kind of stacker, and of calibrator, to choose from")
    if len(names) < 3:
        raise MemberError(f"nested cross-validation needs at least 3 folds, there are {len(names)}")
    units = np.arange(len(labels)) if pages is None else np.unique(pages, return_inverse=True)[1]
    data = _Rows(opinions, labels, numbered, units, evidence)
    count = len(names)
    asked = {name: _table(data, stacker, count) for name, stacker in candidates.items()}

    out_of_fold, choices = np.empty((len(labels), 3)), []
    for outer in range(count):
        held = numbered == outer
        inner = {name: table[outer] for name, table in asked.items()}
        chosen, _, _ = _choose(data, inner, calibrators, ~held)
        calibrator = create_calibrator(chosen[1]).fit(inner[chosen[0]][~held], labels[~held])
        out_of_fold[held] = calibrator.apply(asked[chosen[0]][outer][held])
        choices.append(chosen)

    everything = np.ones(len(labels), dtype=bool)
    plain = {name: _diagonal(table, numbered) for name, table in asked.items()}
    winner, losses, errors = _choose(data, plain, calibrators, everything)
    return NestedStack(
        *winner,
        data.fit(candidates[winner[0]], everything),
        create_calibrator(winner[1]).fit(plain[winner[0]], labels),
        out_of_fold,
        tuple(choices),
        losses,
        errors,
    )


def _table(data: _Rows, stacker: Stacker, count: int) -> NDArray[np.float64]:
    """Answers (folds, n, 3): row i in fold j, asked of the fit that saw neither fold j nor fold k, stands in [k, i].

    So [k] holds, for rows outside of k, what the inner loop of outer fold k needs; for rows in k, the outer answer.
    """
    table = np.empty((count, len(data.labels), 3))
    for one in range(count):
        for other in range(one, count):
            first, second = data.folds == one, data.folds == other
            fitted = data.fit(stacker, ~(first | second))
            table[other, first] = data.ask(fitted, first)
            table[one, second] = data.ask(fitted, second)
    return table


def _diagonal(table: NDArray[np.float64], folds: NDArray[np.int64]) -> Probabilities:
    """Plain cross-validation: each row by the fit that saw all folds but its own."""
    return table[folds, np.arange(len(folds))]


def _choose(
    data: _Rows,
    answers: dict[str, Probabilities],
    calibrators: Sequence[str],
    rows: NDArray[np.bool_],
) -> tuple[Kind, dict[Kind, float], dict[Kind, float]]:
    """The simplest kind within one standard error of the best on ``rows``, all loglosses and all errors."""
    labels, folds, pages = data.labels[rows], data.folds[rows], data.pages[rows]
    losses = {
        (name, kind): example_losses(labels, _cross_calibrated(found[rows], labels, folds, kind))
        for name, found in answers.items()
        for kind in calibrators
    }
    means = {kind: float(each.mean()) for kind, each in losses.items()}
    best = min(means, key=lambda kind: means[kind])
    errors = {kind: _standard_error(each - losses[best], pages) for kind, each in losses.items()}
    chosen = next(kind for kind in losses if means[kind] - means[best] <= errors[kind])
    return chosen, means, errors


def _cross_calibrated(
    answers: Probabilities, labels: Labels, folds: NDArray[np.int64], kind: str
) -> Probabilities:
    """Answers calibrated by what was learned on the other folds, as the final step will be on new rows."""
    if kind == "none":
        return answers
    calibrated = np.empty_like(answers)
    for fold in np.unique(folds):
        held = folds == fold
        calibrated[held] = create_calibrator(kind).fit(answers[~held], labels[~held]).apply(answers[held])
    return calibrated


def _standard_error(differences: NDArray[np.float64], pages: NDArray[np.int64]) -> float:
    """Of the mean of ``differences``, with pages as the units that were sampled."""
    sums = np.bincount(pages, differences - differences.mean())
    return float(np.sqrt((sums**2).sum()) / len(differences))
