"""Cross-validation and stacking in one line, without a recipe or a run's folder; stacking of prediction files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.data import Corpus
from gapstack.data.folds import Folds, make_folds
from gapstack.ensemble import CALIBRATORS, STACKERS, create_stacker
from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.stack import FitStore, Stack, cross_fit
from gapstack.errors import DataError
from gapstack.evaluation import Scores, score
from gapstack.members.adapters import as_member
from gapstack.runs.predictors import file_probabilities
from gapstack.types import Probabilities

KINDS = ("simplex", "conditional", "evidence")
"""Stackers of prediction files to choose from by default, the preferred first."""


@dataclass(frozen=True, eq=False, repr=False)
class OutOfFold:
    """Result of :func:`gapstack.cross_validate`."""

    probabilities: Probabilities
    """Out-of-fold probabilities of A, B and NEITHER, (n, 3)."""
    folds: Folds
    """The fold of each row."""
    scores: Scores
    """Scores of the probabilities."""

    def __repr__(self) -> str:
        return f"Out of fold, {self.folds.k} folds: {self.scores!r}"


def cross_validate(member: Any, corpus: Corpus, *, folds: int = 5, seed: int = 2019) -> OutOfFold:
    """Cross-validate a member: predict each row by a fit on the other folds.

    Parameters
    ----------
    member : str, Member, scikit-learn classifier or callable
        A classifier reads hand-made features; a callable maps a corpus to probabilities (n, 3).
    corpus : Corpus
        Labelled rows.
    folds : int
        Number of folds. They keep pages together and are stratified by gender and label, as in a run.
    seed : int
        Seed of the folds.

    Returns
    -------
    OutOfFold
        Probabilities, folds and scores.

    Raises
    ------
    UnknownNameError
        If the name of a member is unknown.
    DataError
        If the corpus has no labels, or too few pages.
    """
    assignment = make_folds(corpus, folds, seed=seed)
    fits = cross_fit({"member": as_member(member)}, corpus, assignment, FitStore())
    probabilities = fits.out_of_fold["member"]
    return OutOfFold(probabilities, assignment, score(corpus, probabilities))


def stack(
    members: Sequence[Any],
    corpus: Corpus,
    *,
    stackers: Sequence[str | Mapping[str, Any]] = Stack.stackers,
    calibrators: Sequence[str] = Stack.calibrators,
    folds: int = Stack.folds,
    seed: int = Stack.seed,
) -> Stack:
    """Fit a stack: cross-validate members, and combine them by a stacker chosen by nested cross-validation.

    Parameters
    ----------
    members : sequence
        Names; tables with name, label and settings; Member objects, of which each fold fits a copy; scikit-learn
        classifiers, which read hand-made features; callables from a corpus to probabilities (n, 3), which are not
        fitted.
    corpus : Corpus
        Labelled rows.
    stackers, calibrators : sequence
        Names to choose from, the preferred first.
    folds, seed : int
        Number and seed of the folds.

    Returns
    -------
    Stack
        A fitted member. It can be saved if the classes of its members are registered.

    Raises
    ------
    MemberError
        If something is not a member, a setting is invalid, or the corpus has too few pages.
    """
    each = [member if isinstance(member, str | Mapping) else as_member(member) for member in members]
    return Stack(members=each, stackers=stackers, calibrators=calibrators, folds=folds, seed=seed).fit(corpus)


def stack_files(
    paths: Sequence[Path],
    rows: Corpus,
    *,
    folds: int = 10,
    seed: int = 2019,
    kinds: Sequence[str] = KINDS,
) -> tuple[dict[str, Probabilities], NestedStack]:
    """Stack submission files for labelled rows, choosing among the stackers ``kinds`` by nested cross-validation.

    Returns the probabilities (n, 3) of each file in the order of the rows, and the stack. Raises DataError if there are
    fewer than two files, or a file does not fit the rows.
    """
    if len(paths) < 2:
        raise DataError(f"there is {len(paths)} file to stack", expected="at least two")
    counts = Counter(path.name for path in paths)
    members = {}
    for path in paths:
        name = path.name.removesuffix(".csv") if counts[path.name] == 1 else str(path)
        members[name] = file_probabilities(path, rows)
    candidates = {kind: create_stacker(kind) for kind in sorted(kinds, key=[*STACKERS, *kinds].index)}
    assignment = make_folds(rows, folds, seed=seed).assignment
    base_predictions = np.stack(list(members.values()), axis=1)
    return members, fit_nested(candidates, base_predictions, rows, assignment, list(CALIBRATORS))
