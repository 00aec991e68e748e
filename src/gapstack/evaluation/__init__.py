"""Scores of predictions: logloss like Kaggle, F1 and bias like the official GAP scorer, intervals and tests.

:func:`score` scores probabilities, :func:`score_decisions` TRUE/FALSE decisions, :func:`score_file` either from a file,
and :func:`degenerate_scores` constant baselines. :func:`bootstrap`, :func:`paired` and :func:`all_pairs` return
intervals and p-values of metrics; :func:`clustered` resamples any score. :data:`METRICS` lists all metrics. See also
:mod:`~gapstack.evaluation.contribution` and :mod:`~gapstack.evaluation.diagnostics`.
"""

from gapstack.evaluation.diagnostics import reliability
from gapstack.evaluation.metrics import (
    METRICS,
    Predictions,
    answers,
    decisions,
    example_losses,
    gold_decisions,
    log_loss,
    metrics_in,
)
from gapstack.evaluation.prediction_files import read_predictions, score_file, submit_check
from gapstack.evaluation.resampling import (
    Bootstrap,
    Difference,
    Interval,
    all_pairs,
    bootstrap,
    clustered,
    contributions,
    few_pages_warning,
    holm,
    paired,
)
from gapstack.evaluation.scores import (
    GapScores,
    Scores,
    degenerate_scores,
    gap_scores,
    score,
    score_decisions,
)

__all__ = [
    "METRICS",
    "Bootstrap",
    "Difference",
    "GapScores",
    "Interval",
    "Predictions",
    "Scores",
    "all_pairs",
    "answers",
    "bootstrap",
    "clustered",
    "contributions",
    "decisions",
    "degenerate_scores",
    "example_losses",
    "few_pages_warning",
    "gap_scores",
    "gold_decisions",
    "holm",
    "log_loss",
    "metrics_in",
    "paired",
    "read_predictions",
    "reliability",
    "score",
    "score_decisions",
    "score_file",
    "submit_check",
]
