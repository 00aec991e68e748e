"""Constant baselines that ignore the text, to compare scores with.

Both TRUE on every row earns an F1 of 62.0 on GAP development, more than several real systems, because a
Neither row costs two false positives and every other row one.
"""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.corpus.corpus import Gold
from gapstack.scoring.scores import Scores, score, score_decisions
from gapstack.types import Labels


def degenerate_scores(corpus: Corpus | Gold, training_labels: Labels | None = None) -> dict[str, Scores]:
    """Score always A, always B, both TRUE and the class prior on a labelled corpus.

    Raises DataError if the corpus is empty or lacks a label.

    Parameters
    ----------
    corpus : Corpus
        Labelled.
    training_labels : (m,) int array, optional
        Labels whose frequencies are the class prior. Without them the frequencies are those of ``corpus``
        itself, and the row's name says so: no constant answer has a lower logloss on it.

    Returns
    -------
    Scores by the name of the row, in the order of a table.
    """
    n = len(corpus)
    certain = np.eye(len(Label))
    source = "training labels" if training_labels is not None else "these labels"
    labels = corpus.labels if training_labels is None else training_labels
    prior = np.bincount(labels, minlength=len(Label)).astype(np.float64)
    return {
        "always A": score(corpus, np.tile(certain[Label.A], (n, 1))),
        "always B": score(corpus, np.tile(certain[Label.B], (n, 1))),
        "both TRUE": score_decisions(corpus, np.ones((n, 2), dtype=bool)),
        f"class prior of {source}": score(corpus, np.tile(prior, (n, 1))),
    }
