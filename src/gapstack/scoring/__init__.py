"""What an answer is worth: logloss as Kaggle, F1 and bias as the official GAP scorer.

:func:`score` turns probabilities into :class:`Scores`; :func:`score_decisions` does so for TRUE/FALSE
decisions; :func:`degenerate_scores` shows what no thought at all would have scored.
"""

from gapstack.scoring.degenerate import degenerate_scores
from gapstack.scoring.gap import Counts, GapScores, gap_scores, outcomes
from gapstack.scoring.metrics import (
    METRICS,
    Metric,
    accuracy,
    answers,
    brier,
    decisions,
    example_losses,
    expected_calibration_error,
    log_loss,
    normalise,
)
from gapstack.scoring.scores import Scores, gold_decisions, score, score_decisions

__all__ = [
    "METRICS",
    "Counts",
    "GapScores",
    "Metric",
    "Scores",
    "accuracy",
    "answers",
    "brier",
    "decisions",
    "degenerate_scores",
    "example_losses",
    "expected_calibration_error",
    "gap_scores",
    "gold_decisions",
    "log_loss",
    "normalise",
    "outcomes",
    "score",
    "score_decisions",
]
