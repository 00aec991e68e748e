"""Validation rows for early stopping, split off the training rows."""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.folds import make_folds
from gapstack.errors import MemberError
from gapstack.types import Rows


def validation_rows(corpus: Corpus, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split a labelled corpus into training rows and validation rows for early stopping.

    As in folds, pages stay whole, and gender and label are stratified.

    Parameters
    ----------
    corpus : Corpus
    share : float
        Share of validation rows, above 0, at most one half: one of 1 / ``share`` folds, rounded.
    seed : int

    Raises
    ------
    MemberError
        If ``share`` is out of range.
    DataError
        If the corpus is too small for that many folds.
    """
    if not 0 < share <= 0.5:
        raise MemberError(f"validation share is {share}; expected a number above 0, at most 0.5")
    learn, stop = make_folds(corpus, round(1 / share), seed=seed).split(0)
    return np.sort(learn), np.sort(stop)
