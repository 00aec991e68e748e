"""Cross-validation and stacking of members in one line, without a recipe and without a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapstack.corpus import Corpus, Folds, make_folds
from gapstack.members import Member, create
from gapstack.members.member import Probabilities
from gapstack.scoring import Scores, score


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold probabilities (n, 3) of one member, the folds, and the scores of these probabilities."""

    probabilities: Probabilities
    folds: Folds
    scores: Scores


def cross_validate(member: Member | str, corpus: Corpus, *, folds: int = 5, seed: int = 2019) -> OutOfFold:
    """Predict each row of a labelled corpus by a fit on the folds that it is not in.

    Folds are grouped by page and stratified by gender and label (:func:`~gapstack.corpus.make_folds`), as in a run.

    Parameters
    ----------
    member : Member or str
        A member, which stays as it is, or the name of one with its defaults.
    corpus : Corpus
    folds, seed : int
        Number of folds, and the seed of their assignment.

    Raises
    ------
    UnknownNameError
        If there is no such member.
    DataError
        If the corpus has no labels, or too few pages for the folds.
    """
    template = create(member) if isinstance(member, str) else member
    assignment = make_folds(corpus, folds, seed=seed)
    template.prepare(corpus)
    probabilities = np.empty((len(corpus), 3))
    splits = [assignment.split(fold) for fold in range(assignment.k)]
    fits = template.fit_each([corpus.take(fitted_rows) for fitted_rows, _ in splits])
    for fitted, (_, held_rows) in zip(fits, splits, strict=True):
        probabilities[held_rows] = fitted.predict_proba(corpus.take(held_rows))
    return OutOfFold(probabilities, assignment, score(corpus, probabilities))


def stack(members: Sequence[Any], corpus: Corpus, **settings: Any) -> Member:
    """Fit a stack of members on a labelled corpus: ``create("stack", members=members, **settings).fit(corpus)``."""
    return create("stack", members=list(members), **settings).fit(corpus)
