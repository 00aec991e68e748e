"""Cross-validation and stacking in one line, without a recipe or a run's folder; stacking of prediction files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.data import Corpus, Folds, make_folds
from gapstack.ensemble import CALIBRATORS, STACKERS, create_stacker
from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.stack import FitStore, cross_fit
from gapstack.errors import DataError
from gapstack.evaluation import Scores, score
from gapstack.members import create
from gapstack.members.member import Member
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


def cross_validate(member: Member | str, corpus: Corpus, *, folds: int = 5, seed: int = 2019) -> OutOfFold:
    """Predict each row of a labelled corpus by a fit of a member, or one of this name, on the other folds.

    Folds are those of :func:`~gapstack.data.make_folds`, as in a run. Raises UnknownNameError if there is no such
    member; DataError if the corpus has no labels, or too few pages for the folds.
    """
    template = create(member) if isinstance(member, str) else member
    assignment = make_folds(corpus, folds, seed=seed)
    probabilities = cross_fit({"member": template}, corpus, assignment, FitStore()).out_of_fold["member"]
    return OutOfFold(probabilities, assignment, score(corpus, probabilities))


def stack(members: Sequence[Any], corpus: Corpus, **settings: Any) -> Member:
    """Fit a stack of members on a labelled corpus: ``create("stack", members=members, **settings).fit(corpus)``."""
    return create("stack", members=list(members), **settings).fit(corpus)


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
