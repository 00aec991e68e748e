"""Choose, fit and calibrate a stacker by nested cross-validation.

The outer loop scores: a row's out-of-fold prediction comes from a stacker chosen, fitted and calibrated on the other
folds. The inner loop chooses: it compares candidates on those folds, each predicted by a fit on the rest. Base
predictions are out of fold themselves, so no row is scored by a fit that saw its label, with stacking's usual
reservation: the members behind the *other* rows' base predictions were fitted on this row.

The choice is the first candidate within one standard error of the best (after Breiman et al. 1984, section 3.4.3), the
error of the difference between the two, with pages as sampling units. Candidates come in order of preference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np

from gapstack.data import Corpus
from gapstack.ensemble import create_calibrator, create_stacker
from gapstack.ensemble.calibration import Calibrator
from gapstack.ensemble.stacker import EVIDENCE, Stacker
from gapstack.errors import MemberError
from gapstack.evaluation.metrics import example_losses
from gapstack.features import Features, features
from gapstack.members.member import State
from gapstack.processes import fork_count, in_processes
from gapstack.progress import progress
from gapstack.types import BasePredictions, Bools, Floats, Ints, Labels, Probabilities, Strings

Kind = tuple[str, str]  # names of a stacker and of a calibrator
_CALIBRATOR = "calibrator."
_MIN_FOLDS = 3


@dataclass(frozen=True)
class NestedStack:
    """The chosen stacker and calibration, fitted on all rows, and the figures behind the choice."""

    name: str
    calibration: str
    fitted: FittedStacker
    out_of_fold: Probabilities  # (n, 3), nested
    choices: tuple[Kind, ...]  # pairs chosen in the outer folds
    logloss: dict[Kind, float]  # of each pair, cross-validated over all rows
    errors: dict[Kind, float]  # standard error of its difference from the best
    alone: dict[str, NestedStack] = field(default_factory=dict)  # each candidate as the only one, by name

    def describe(self) -> str:
        """Describe the choice in a sentence: each stacker with its best calibration, and the outer folds' choices."""
        best: dict[str, Kind] = {}
        for kind, loss in self.logloss.items():
            if kind[0] not in best or loss < self.logloss[best[kind[0]]]:
                best[kind[0]] = kind
        losses = ", ".join(
            f"{_kind_name(kind)} {self.logloss[kind]:.4f}"
            + (f" (+-{self.errors[kind]:.4f} to the best)" if self.errors[kind] else "")
            for kind in best.values()
        )
        votes = Counter(map(_kind_name, self.choices)).items()
        return (
            f"stack: {_kind_name((self.name, self.calibration))}, the first within a standard error of the best "
            f"(cross-validated logloss: {losses}; outer folds chose {', '.join(f'{a} in {n}' for a, n in votes)})"
        )


def _kind_name(kind: Kind) -> str:
    return kind[0] if kind[1] == "none" else f"{kind[0]} with {kind[1]} calibration"


@dataclass(frozen=True)
class FittedStacker:
    """A stacker and the calibrator of its probabilities."""

    stacker: Stacker
    calibrator: Calibrator

    def predict_proba(self, by_fold: Sequence[BasePredictions], rows: Corpus) -> Probabilities:
        """Return (n, 3): the mean over folds of the calibrated stack of each fold's predictions (n, m, 3)."""
        evidence = features(rows, EVIDENCE) if self.stacker.READS_EVIDENCE else None
        if not self.stacker.LEARNS:  # one mean over members and folds, for example of logits
            by_fold = [np.concatenate(by_fold, axis=1)]
        stacked = [
            self.calibrator.apply(self.stacker.predict_proba(base, evidence), rows.genders)
            for base in by_fold
        ]
        probabilities: Probabilities = np.mean(stacked, axis=0)
        if not np.isfinite(probabilities).all():
            raise MemberError(
                "the stack computed probabilities that are not finite numbers; use another stacker or calibrator"
            )
        return probabilities

    def state(self) -> State:
        """Return the learned state of both."""
        state = self.stacker.state()
        calibrator = State.joined({_CALIBRATOR: self.calibrator.state()})
        return State(state.arrays | calibrator.arrays, state.texts, state.values)

    @classmethod
    def restored(cls, stacker: str, settings: Mapping[str, Any], calibrator: str, state: State) -> Self:
        """Restore both from their names, the stacker's settings and :meth:`state`."""
        return cls(
            create_stacker(stacker, **settings).restore(state),
            create_calibrator(calibrator).restore(state.part(_CALIBRATOR)),
        )


def fit_nested(
    candidates: Mapping[str, Stacker],
    base_predictions: BasePredictions,
    rows: Corpus,
    folds: Ints,
    calibrators: Sequence[str] = ("none",),
    *,
    each: bool = False,
) -> NestedStack:
    """Choose among ``candidates`` and ``calibrators``, in order of preference, and fit the chosen ones on all rows.

    ``base_predictions`` (n, m, 3) are out of fold, and ``folds`` (n,) keep rows of one page together. With ``each``,
    the result also has every candidate ``alone``.
    """
    names, numbered = np.unique(folds, return_inverse=True)
    if not candidates or not calibrators:
        raise MemberError("a stack needs at least one kind of stacker, and of calibrator, to choose from")
    if len(names) < _MIN_FOLDS:
        raise MemberError(
            f"nested cross-validation needs at least {_MIN_FOLDS} folds, there are {len(names)}; cut the rows into more"
        )
    reads = any(stacker.READS_EVIDENCE for stacker in candidates.values())
    evidence = features(rows, EVIDENCE if reads else ())
    pages = np.unique(rows.groups, return_inverse=True)[1]
    data = _Rows(base_predictions, rows.labels, numbered, pages, rows.genders, evidence)
    tables = _tables(data, candidates, len(names))
    fitted = {name: data.fit(candidates[name]) for name in candidates} if each else {}
    stack = _nested(data, tables, calibrators, lambda name: fitted.get(name) or data.fit(candidates[name]))
    alone = {name: _nested(data, {name: tables[name]}, calibrators, fitted.__getitem__) for name in fitted}
    return replace(stack, alone=alone)


def _nested(
    data: _Rows, tables: Mapping[str, Floats], calibrators: Sequence[str], fit: Callable[[str], Stacker]
) -> NestedStack:
    """Choose, fit and calibrate, from the predictions of each candidate by :func:`_tables`."""
    out_of_fold, choices = np.empty((len(data.labels), 3)), []
    for outer in np.unique(data.folds):
        held = data.folds == outer
        rest = data.take(~held)
        inner = {name: table[outer][~held] for name, table in tables.items()}
        (stacker, kind), _, _ = _choose(rest, inner, calibrators)
        calibrator = rest.fit_calibrator(kind, inner[stacker])
        out_of_fold[held] = calibrator.apply(tables[stacker][outer][held], data.genders[held])
        choices.append((stacker, kind))

    # plain cross-validation: each row predicted by the fit on all folds but its own
    plain = {name: table[data.folds, np.arange(len(data.folds))] for name, table in tables.items()}
    (stacker, kind), losses, errors = _choose(data, plain, calibrators)
    fitted = FittedStacker(fit(stacker), data.fit_calibrator(kind, plain[stacker]))
    return NestedStack(stacker, kind, fitted, out_of_fold, tuple(choices), losses, errors)


@dataclass(frozen=True)
class _Rows:
    base: BasePredictions
    labels: Labels
    folds: Ints
    pages: Ints
    genders: Strings
    evidence: Features

    def take(self, rows: Bools) -> _Rows:
        return _Rows(
            *(self.base[rows], self.labels[rows], self.folds[rows], self.pages[rows], self.genders[rows]),
            self.evidence.take(rows),
        )

    def fit(self, stacker: Stacker) -> Stacker:
        fresh: Stacker = type(stacker)(**stacker.get_params())
        return fresh.fit(self.base, self.labels, self.evidence)

    def fit_calibrator(self, kind: str, probabilities: Probabilities) -> Calibrator:
        return create_calibrator(kind).fit(probabilities, self.labels, self.genders)


def _tables(data: _Rows, candidates: Mapping[str, Stacker], count: int) -> dict[str, Floats]:
    """Predictions (folds, n, 3) of each candidate: [k, i] is that of row i, in fold j, by the fit without j and k."""
    tables = {name: np.empty((count, len(data.labels), 3)) for name in candidates}

    def fit(left_out: tuple[str, int, int]) -> tuple[tuple[str, int, int], Probabilities, Probabilities]:
        """Predictions of both folds' rows by a fit without them."""
        name, *pair = left_out
        first, second = (data.folds == fold for fold in pair)
        fitted = data.take(~(first | second)).fit(candidates[name])
        held = data.take(first), data.take(second)
        of_first, of_second = (fitted.predict_proba(rows.base, rows.evidence) for rows in held)
        return left_out, of_first, of_second

    pairs = list(combinations_with_replacement(range(count), 2))
    jobs = [(name, *pair) for name in candidates for pair in pairs]
    forks = fork_count(len(jobs), len(data.labels))
    with progress("fitting stackers", len(jobs)) as ticker:
        for (name, first, second), of_first, of_second in in_processes(fit, jobs, forks):
            tables[name][second, data.folds == first] = of_first
            tables[name][first, data.folds == second] = of_second
            ticker.advance(note=name)
    return tables


def _choose(
    data: _Rows, predictions: Mapping[str, Probabilities], calibrators: Sequence[str]
) -> tuple[Kind, dict[Kind, float], dict[Kind, float]]:
    """The first pair within one standard error of the best, and all loglosses and errors."""
    losses = {
        (name, kind): example_losses(data.labels, _cross_calibrated(data, probabilities, kind))
        for name, probabilities in predictions.items()
        for kind in calibrators
    }
    means = {kind: float(each.mean()) for kind, each in losses.items()}
    best = min(means, key=lambda kind: means[kind])
    errors = {}
    for kind, each in losses.items():
        differences = each - losses[best]
        sums = np.bincount(data.pages, differences - differences.mean())
        errors[kind] = float(np.sqrt((sums**2).sum()) / len(differences))
    chosen = next(kind for kind in losses if means[kind] - means[best] <= errors[kind])
    return chosen, means, errors


def _cross_calibrated(data: _Rows, probabilities: Probabilities, kind: str) -> Probabilities:
    """Calibrate each fold's probabilities by a fit on the other folds."""
    if kind == "none":
        return probabilities
    calibrated = np.empty_like(probabilities)
    for fold in np.unique(data.folds):
        held = data.folds == fold
        calibrator = data.take(~held).fit_calibrator(kind, probabilities[~held])
        calibrated[held] = calibrator.apply(probabilities[held], data.genders[held])
    return calibrated
