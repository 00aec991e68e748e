"""Choose, fit and calibrate a stacker by nested cross-validation.

The outer loop scores: a row's out-of-fold prediction comes from a stacker chosen, fitted and calibrated on the other
folds. The inner loop chooses: it compares candidates on those other folds, each predicted by a fit on the rest. Both
loops read one table of fits, each made without one or two folds.

Base predictions are out of fold themselves, so nothing scores a row whose label it was fitted on, with the one
reservation of all stacking: the members behind the *other* rows' base predictions were fitted on this row. The
held-out split has no such reservation.

The choice is the simplest candidate within one standard error of the best (Breiman et al. 1984, section 3.4.3): the
error of the difference between the two, with pages as sampling units. Candidates and calibrators are given in order of
simplicity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from gapstack.ensemble.calibration import Calibrator
from gapstack.ensemble.catalogue import create_calibrator
from gapstack.ensemble.stacker import Stacker
from gapstack.errors import MemberError
from gapstack.features.blocks import Features
from gapstack.members.member import Probabilities
from gapstack.processes import in_threads
from gapstack.scoring.metrics import example_losses
from gapstack.types import BasePredictions, Labels, Strings

Kind = tuple[str, str]
"""Names of a stacker and of a calibrator."""


@dataclass(frozen=True)
class NestedStack:
    """The stacker and calibrator that were chosen, and the figures behind the choice.

    Attributes
    ----------
    name, calibration : str
        Names of stacker and calibrator.
    stacker, calibrator
        Both, fitted on all rows.
    out_of_fold : (n, 3) float64
        Nested predictions: chosen, fitted and calibrated without the row's fold.
    choices : tuple of (str, str)
        Stacker and calibrator chosen in each outer fold.
    logloss, errors : dict
        For each pair, cross-validated logloss over all rows, and standard error of its difference from the best.
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
    base: BasePredictions
    labels: Labels
    folds: NDArray[np.int64]
    pages: NDArray[np.int64]
    evidence: Features | None
    genders: Strings | None

    def fit(self, stacker: Stacker, rows: NDArray[np.bool_]) -> Stacker:
        fresh: Stacker = type(stacker)(**stacker.get_params())
        return fresh.fit(self.base[rows], self.labels[rows], self._evidence(rows))

    def predict(self, stacker: Stacker, rows: NDArray[np.bool_]) -> Probabilities:
        return stacker.predict_proba(self.base[rows], self._evidence(rows))

    def calibrator(self, kind: str, probabilities: Probabilities, rows: NDArray[np.bool_]) -> Calibrator:
        """Fitted on some rows of probabilities (n, 3)."""
        return create_calibrator(kind).fit(probabilities[rows], self.labels[rows], self._genders(rows))

    def calibrated(
        self, calibrator: Calibrator, probabilities: Probabilities, rows: NDArray[np.bool_]
    ) -> Probabilities:
        """Some rows of probabilities (n, 3)."""
        return calibrator.apply(probabilities[rows], self._genders(rows))

    def _genders(self, rows: NDArray[np.bool_]) -> Strings | None:
        return None if self.genders is None else self.genders[rows]

    def _evidence(self, rows: NDArray[np.bool_]) -> Features | None:
        return None if self.evidence is None else self.evidence.take(rows)


def fit_nested(
    candidates: dict[str, Stacker],
    base_predictions: BasePredictions,
    labels: Labels,
    folds: NDArray[np.int64],
    *,
    calibrators: Sequence[str] = ("none",),
    evidence: Features | None = None,
    pages: NDArray[np.generic] | None = None,
    genders: Strings | None = None,
) -> NestedStack:
    """Choose among ``candidates`` by nested cross-validation and fit the chosen one on all rows.

    Parameters
    ----------
    candidates : dict of name to unfitted Stacker
        The simplest first.
    base_predictions : (n, m, 3) float64
        Out-of-fold probabilities of the members.
    labels : (n,) int64
    folds : (n,) int64
        Fold of each row, at least three different ones; rows of one page share a fold.
    calibrators : sequence of str
        Names in :data:`~gapstack.ensemble.CALIBRATORS`, the simplest first.
    evidence : Features, optional
        Hand-made features of the rows, for stackers that read them.
    pages : (n,) array, optional
        Page of each row, for standard errors; None: rows count as independent.
    genders : (n,) array of str, optional
        Gender of each row's pronoun, for calibrators that read it.

    Raises
    ------
    MemberError
        Without candidates, with fewer than three folds, or without evidence or genders for one that reads them.
    """
    names, numbered = np.unique(folds, return_inverse=True)
    if not candidates or not calibrators:
        raise MemberError("a stack needs at least one kind of stacker, and of calibrator, to choose from")
    if len(names) < 3:
        raise MemberError(f"nested cross-validation needs at least 3 folds, there are {len(names)}")
    units = np.arange(len(labels)) if pages is None else np.unique(pages, return_inverse=True)[1]
    data = _Rows(base_predictions, labels, numbered, units, evidence, genders)
    count = len(names)
    tables = {name: _table(data, stacker, count) for name, stacker in candidates.items()}

    out_of_fold, choices = np.empty((len(labels), 3)), []
    for outer in range(count):
        held = numbered == outer
        inner = {name: table[outer] for name, table in tables.items()}
        chosen, _, _ = _choose(data, inner, calibrators, ~held)
        calibrator = data.calibrator(chosen[1], inner[chosen[0]], ~held)
        out_of_fold[held] = data.calibrated(calibrator, tables[chosen[0]][outer], held)
        choices.append(chosen)

    everything = np.ones(len(labels), dtype=bool)
    plain = {name: _diagonal(table, numbered) for name, table in tables.items()}
    winner, losses, errors = _choose(data, plain, calibrators, everything)
    return NestedStack(
        *winner,
        data.fit(candidates[winner[0]], everything),
        data.calibrator(winner[1], plain[winner[0]], everything),
        out_of_fold,
        tuple(choices),
        losses,
        errors,
    )


def _table(data: _Rows, stacker: Stacker, count: int) -> NDArray[np.float64]:
    """Predictions (folds, n, 3): [k, i] is that of row i, in fold j, by the fit without the folds j and k.

    So [k] holds what the inner loop of outer fold k needs for rows outside of k, and the outer prediction of its rows.
    """
    table = np.empty((count, len(data.labels), 3))

    def fill(left_out: tuple[int, int]) -> None:
        one, other = left_out
        first, second = data.folds == one, data.folds == other
        fitted = data.fit(stacker, ~(first | second))
        table[other, first] = data.predict(fitted, first)
        table[one, second] = data.predict(fitted, second)

    in_threads(fill, combinations_with_replacement(range(count), 2))
    return table


def _diagonal(table: NDArray[np.float64], folds: NDArray[np.int64]) -> Probabilities:
    """Plain cross-validation: each row predicted by the fit on all folds but its own."""
    return table[folds, np.arange(len(folds))]


def _choose(
    data: _Rows,
    predictions: dict[str, Probabilities],
    calibrators: Sequence[str],
    rows: NDArray[np.bool_],
) -> tuple[Kind, dict[Kind, float], dict[Kind, float]]:
    """The simplest pair within one standard error of the best on ``rows``, and all loglosses and errors."""
    labels, pages = data.labels[rows], data.pages[rows]
    losses = {
        (name, kind): example_losses(labels, _cross_calibrated(data, table, rows, kind))
        for name, table in predictions.items()
        for kind in calibrators
    }
    means = {kind: float(each.mean()) for kind, each in losses.items()}
    best = min(means, key=lambda kind: means[kind])
    errors = {kind: _standard_error(each - losses[best], pages) for kind, each in losses.items()}
    chosen = next(kind for kind in losses if means[kind] - means[best] <= errors[kind])
    return chosen, means, errors


def _cross_calibrated(
    data: _Rows, probabilities: Probabilities, rows: NDArray[np.bool_], kind: str
) -> Probabilities:
    """Probabilities of ``rows``, those of each fold calibrated by a fit on the others."""
    if kind == "none":
        return probabilities[rows]
    calibrated = np.empty_like(probabilities)
    for fold in np.unique(data.folds[rows]):
        held = data.folds == fold
        calibrator = data.calibrator(kind, probabilities, rows & ~held)
        calibrated[held] = data.calibrated(calibrator, probabilities, held)
    return calibrated[rows]


def _standard_error(differences: NDArray[np.float64], pages: NDArray[np.int64]) -> float:
    """Of the mean of ``differences``, with pages as sampling units."""
    sums = np.bincount(pages, differences - differences.mean())
    return float(np.sqrt((sums**2).sum()) / len(differences))
