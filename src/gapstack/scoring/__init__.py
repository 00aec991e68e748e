"""Scores of predictions: logloss as Kaggle, F1 and bias as the official GAP scorer.

:func:`score` scores probabilities, :func:`score_decisions` TRUE/FALSE decisions, :func:`score_file` either from a file,
and :func:`degenerate_scores` constant baselines. :func:`bootstrap` and :func:`permutation_test` give intervals and
p-values, :func:`all_pairs` those of all pairs of members. Beside them: :mod:`~gapstack.scoring.slices`,
:mod:`~gapstack.scoring.contribution` (Shapley values), :mod:`~gapstack.scoring.reweighting`,
:mod:`~gapstack.scoring.agreement`, :mod:`~gapstack.scoring.reliability` and :mod:`~gapstack.scoring.label_errors`.
"""

from gapstack.scoring.degenerate import degenerate_scores
from gapstack.scoring.files import Predictions, read_predictions, score_file
from gapstack.scoring.gap import Counts, GapScores, gap_scores, outcomes
from gapstack.scoring.intervals import (
    Bootstrap,
    Difference,
    Interval,
    bootstrap,
    bootstrap_label_sets,
    contributions,
    contributions_of_decisions,
    permutation_test,
)
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
from gapstack.scoring.pairs import Pairs, all_pairs, holm
from gapstack.scoring.scores import Scores, gold_decisions, score, score_decisions
from gapstack.scoring.submission import Problem, submit_check

__all__ = [
    "METRICS",
    "Bootstrap",
    "Counts",
    "Difference",
    "GapScores",
    "Interval",
    "Metric",
    "Pairs",
    "Predictions",
    "Problem",
    "Scores",
    "accuracy",
    "all_pairs",
    "answers",
    "bootstrap",
    "bootstrap_label_sets",
    "brier",
    "contributions",
    "contributions_of_decisions",
    "decisions",
    "degenerate_scores",
    "example_losses",
    "expected_calibration_error",
    "gap_scores",
    "gold_decisions",
    "holm",
    "log_loss",
    "normalise",
    "outcomes",
    "permutation_test",
    "read_predictions",
    "score",
    "score_decisions",
    "score_file",
    "submit_check",
]
