"""Stacking of submission files for labelled rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.folds import make_folds
from gapstack.ensemble import CALIBRATORS, STACKERS, NestedStack, create_stacker
from gapstack.ensemble.fitted_stacker import FittedStacker
from gapstack.errors import DataError
from gapstack.runs.predictors import FileOfProbabilities
from gapstack.types import Probabilities

KINDS = ("simplex", "conditional", "evidence")
"""Stackers to choose from by default, the simplest first."""


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

    Parameters
    ----------
    paths : sequence of Path
        Submissions, each for all rows.
    rows : Corpus
        Labelled; the files' makers should not have trained on these labels.
    folds, seed : int
        Of the outer and the inner loop.
    kinds : sequence of str
        Stackers to choose from, of :data:`~gapstack.ensemble.STACKERS`.

    Raises
    ------
    DataError
        If a file is no submission for these rows, or there are fewer than two.
    MemberError
        For an unknown kind.
    """
    if len(paths) < 2:
        raise DataError(f"{len(paths)} file to stack", expected="at least two")
    names = _names(paths)
    members = {
        name: FileOfProbabilities(path).predict_proba(rows) for name, path in zip(names, paths, strict=True)
    }
    asked = {kind: create_stacker(kind) for kind in kinds}
    candidates = {kind: asked[kind] for kind in STACKERS if kind in asked}
    base = np.stack(list(members.values()), axis=1)
    assignment = make_folds(rows, folds, seed=seed).assignment
    _, nested = FittedStacker.fit(candidates, tuple(CALIBRATORS), base, rows, assignment)
    return FileStack(rows, members, nested)


def _names(paths: Sequence[Path]) -> list[str]:
    """File names, with their folders where names occur twice."""
    twice = {name for name, count in Counter(path.name for path in paths).items() if count > 1}
    return [str(path) if path.name in twice else path.name.removesuffix(".csv") for path in paths]
