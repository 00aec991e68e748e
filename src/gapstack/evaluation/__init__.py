"""Scores of predictions: logloss like Kaggle, F1 and bias like the official GAP scorer, and what else they show.

:func:`score` scores probabilities, :func:`score_decisions` TRUE/FALSE decisions, :func:`score_file` either from a file,
and :func:`degenerate_scores` constant baselines. :func:`bootstrap`, :func:`paired` and :func:`permutation_test` return
intervals and p-values, :func:`all_pairs` those of all pairs of members; :func:`clustered` resamples any score.
:data:`METRICS` lists all metrics. See also :mod:`~gapstack.evaluation.slices`,
:mod:`~gapstack.evaluation.contribution`, :mod:`~gapstack.evaluation.reweighting` and
:mod:`~gapstack.evaluation.diagnostics`.
"""

from gapstack.evaluation.bootstrap import (
    Bootstrap,
    PairwiseTests,
    all_pairs,
    bootstrap,
    contributions,
    contributions_of_decisions,
)
from gapstack.evaluation.files import read_predictions, score_file
from gapstack.evaluation.gap import DecisionCounts, GapScores, f1_percent, gap_scores, outcomes
from gapstack.evaluation.metrics import (
    METRICS,
    Metric,
    Predictions,
    answers,
    decisions,
    example_losses,
    expected_calibration_error,
    gold_decisions,
    log_loss,
    metrics_in,
    normalise,
)
from gapstack.evaluation.resampling import (
    Difference,
    Interval,
    clustered,
    few_pages_warning,
    holm,
    paired,
    permutation_test,
)
from gapstack.evaluation.scores import Scores, degenerate_scores, score, score_decisions
from gapstack.evaluation.submission import SubmissionProblem, submit_check

__all__ = [
    "METRICS",
    "Bootstrap",
    "DecisionCounts",
    "Difference",
    "GapScores",
    "Interval",
    "Metric",
    "PairwiseTests",
    "Predictions",
    "Scores",
    "SubmissionProblem",
    "all_pairs",
    "answers",
    "bootstrap",
    "clustered",
    "contributions",
    "contributions_of_decisions",
    "decisions",
    "degenerate_scores",
    "example_losses",
    "expected_calibration_error",
    "f1_percent",
    "few_pages_warning",
    "gap_scores",
    "gold_decisions",
    "holm",
    "log_loss",
    "metrics_in",
    "normalise",
    "outcomes",
    "paired",
    "permutation_test",
    "read_predictions",
    "score",
    "score_decisions",
    "score_file",
    "submit_check",
]
