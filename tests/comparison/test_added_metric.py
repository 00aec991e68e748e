"""A metric is one entry of METRICS: scores, intervals, tests, the ranking and tables take it from there."""

import numpy as np
import pytest

from gapstack.comparison import compare
from gapstack.comparison.tables import scores_table as compared
from gapstack.display.report import scores_table
from gapstack.evaluation import METRICS, score
from gapstack.evaluation.metrics import Metric, mean_score
from tests.fixtures_comparison import base_predictions


@pytest.fixture
def added():
    """The spherical score, before all other metrics."""

    def spherical(corpus, found):
        right = found.probabilities[np.arange(len(corpus)), corpus.labels]
        return (right / np.linalg.norm(found.probabilities, axis=1))[:, None]

    metric = Metric(
        name="spherical",
        title="spherical",
        better="high",
        decimals=3,
        rows=spherical,
        score=mean_score,
        tables=("score", "compare", "pairs", "summary", "ranking"),
        probabilities=True,
    )
    before = dict(METRICS)
    METRICS.clear()
    METRICS.update({metric.name: metric} | before)
    yield metric
    METRICS.clear()
    METRICS.update(before)


@pytest.fixture
def systems(sample_test):
    return {f"sharpness {k}": base_predictions(sample_test.labels, k, seed=3) for k in (0.0, 1.0, 2.0)}


def test_it_is_in_scores_intervals_tests_ranking_and_tables(added, systems, sample_test):
    values = {name: score(sample_test, p).value("spherical") for name, p in systems.items()}
    assert (
        score(sample_test, systems["sharpness 2.0"]).spherical
        > score(sample_test, np.ones((len(sample_test), 3))).spherical
    )
    comparison = compare(systems, sample_test, replicates=100)
    assert comparison.ranking == "spherical"
    assert comparison.names == tuple(sorted(values, key=values.__getitem__, reverse=True))
    best = comparison.names[0]
    interval = comparison.main.interval(best, "spherical")
    assert interval.value == pytest.approx(values[best])
    assert interval.low < interval.value < interval.high
    assert comparison.pairs["spherical"].compared(0, 1).value > 0
    assert "spherical" in [column.title for column in compared(comparison).columns]
    shown = scores_table({"rows": [(name, score(sample_test, p)) for name, p in systems.items()]})
    assert "spherical" in shown.markdown()
