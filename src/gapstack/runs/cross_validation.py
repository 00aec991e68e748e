"""Cross-validation and stacking in one line, without a recipe or a run's folder; stacking of prediction files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.data import Corpus, Folds, make_folds
from gapstack.ensemble import CALIBRATORS, STACKERS, create_stacker
from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.stack import FitStore, Stack, cross_fit
from gapstack.errors import DataError
from gapstack.evaluation import Scores, score
from gapstack.members.adapters import as_member
from gapstack.runs.predictors import FileOfProbabilities
from gapstack.types import Probabilities

KINDS = ("simplex", "conditional", "evidence")
"""Stackers of files to choose from by default, the simplest first."""


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold probabilities (n, 3) of one member, the folds, and the scores of these probabilities."""

    probabilities: Probabilities
    folds: Folds
    scores: Scores


def cross_validate(member: Any, corpus: Corpus, *, folds: int = 5, seed: int = 2019) -> OutOfFold:
    """Predict each row of a labelled corpus by a fit of a member on the other folds.

    ``member`` is a name, a Member, a scikit-learn classifier or a function from a corpus to probabilities (n, 3). Folds
    are those of :func:`~gapstack.data.make_folds`, as in a run. Raises UnknownNameError if there is no such member;
    DataError if the corpus has no labels, or too few pages for the folds.
    """
    assignment = make_folds(corpus, folds, seed=seed)
    probabilities = cross_fit({"member": as_member(member)}, corpus, assignment, FitStore()).out_of_fold[
        "member"
    ]
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
    """Fit a stack of members on a labelled corpus.

    ``members`` are names, tables of name, label and settings, Member objects (each fold fits a copy, also of a fitted
    one), scikit-learn classifiers (over hand-made features), and functions from a corpus to probabilities (n, 3), such
    as the ``predict_proba`` of a member that is to stay as it is fitted. ``stackers`` and ``calibrators`` are those to
    choose from, the simplest first. A stack with a member whose class is not registered cannot be saved. Raises
    MemberError if something is not a member, or a setting or the corpus does not do.
    """
    each = [member if isinstance(member, str | Mapping) else as_member(member) for member in members]
    return Stack(members=each, stackers=stackers, calibrators=calibrators, folds=folds, seed=seed).fit(corpus)


@dataclass(frozen=True)
class FileStack:
    """Probabilities (n, 3) of each file in the order of the rows, and their nested stack."""

    rows: Corpus
    members: dict[str, Probabilities]
    nested: NestedStack


def stack_files(
    paths: Sequence[Path],
    rows: Corpus,
    *,
    folds: int = 10,
    seed: int = 2019,
    kinds: Sequence[str] = KINDS,
) -> FileStack:
    """Stack submission files for labelled rows by nested cross-validation over page-grouped folds.

    ``kinds`` are the stackers to choose from. Raises DataError if a file is not a submission for these rows, or there
    are fewer than two; MemberError for an unknown stacker.
    """
    if len(paths) < 2:
        raise DataError(f"{len(paths)} file to stack", expected="at least two")
    counts = Counter(path.name for path in paths)
    members = {}
    for path in paths:
        name = path.name.removesuffix(".csv") if counts[path.name] == 1 else str(path)
        members[name] = FileOfProbabilities(path).predict_proba(rows)
    candidates = {kind: create_stacker(kind) for kind in sorted(kinds, key=[*STACKERS, *kinds].index)}
    assignment = make_folds(rows, folds, seed=seed).assignment
    base_predictions = np.stack(list(members.values()), axis=1)
    nested = fit_nested(candidates, base_predictions, rows, assignment, list(CALIBRATORS))
    return FileStack(rows, members, nested)
