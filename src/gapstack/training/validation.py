"""A validation part of the training rows, for early stopping: never the fold that is scored."""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.folds import make_folds
from gapstack.errors import MemberError
from gapstack.training.data import Rows


def validation_rows(corpus: Corpus, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split a labelled training corpus into rows to learn from and rows to stop by.

    Pages stay whole, and gender and label have equal shares in both, as in folds.

    Parameters
    ----------
    corpus : Corpus
    share : float
        Of the rows to hold back, above 0, at most one half; taken as one of 1 / ``share`` folds, rounded.
    seed : int

    Raises
    ------
    MemberError
        If ``share`` is out of range.
    DataError
        If the corpus is too small to be cut so.
    """
    if not 0 < share <= 0.5:
        raise MemberError(f"validation share is {share}; expected a number above 0, at most 0.5")
    learn, stop = make_folds(corpus, round(1 / share), seed=seed).split(0)
    return np.sort(learn), np.sort(stop)
