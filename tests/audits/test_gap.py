"""GAP test: the suite gives the scorer's figures, and weights that make the genders alike."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.evaluation import score
from tests.audits import policies


@pytest.fixture(scope="module")
def found(gap_folder):
    whole = SUITES["gap"].load()
    few = {name: values[:500] for name, values in whole.facts.items()}
    items = replace(whole, corpus=whole.corpus[:500], facts=few)
    rng = np.random.default_rng(0)
    noisy = 0.7 * policies.oracle(items) + 0.3 * rng.dirichlet([0.4] * 3, len(items.corpus))
    systems = {"oracle": policies.oracle(items), "noisy": noisy}
    panels = SUITES["gap"].measure(items, systems).tables
    return items, systems, {panel.key: panel.rows for panel in panels}


def test_scores_are_the_scorers(found):
    items, systems, panels = found
    for name, probabilities in systems.items():
        expected = score(items.corpus, probabilities)
        row = panels["gap.scores"][name]
        for metric in ("f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy"):
            assert row[metric].value == pytest.approx(expected.value(metric))
    assert panels["gap.scores"]["noisy"]["logloss"].value == pytest.approx(expected.value("logloss"))
    assert panels["gap.scores"]["oracle"]["logloss"] is None, "certainties have none"


def test_an_oracle_is_without_bias_however_rows_are_weighed(found):
    _, _, panels = found
    row = panels["gap.reweighted"]["oracle"]
    assert row["f1_masculine"] == row["f1_feminine"] == (100, 100, 100)
    assert row["bias"].value == 1
    assert 0 < panels["gap.reweighted"]["noisy"]["bias"].value < 2
