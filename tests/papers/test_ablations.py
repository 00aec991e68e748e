"""The overview's findings: each recipe is the whole design, and differences are those of the seeds' mean losses."""

import numpy as np
import pytest

from gapstack.display.report import Report
from gapstack.evaluation import score
from gapstack.papers import ablations
from gapstack.papers.ablations import RECIPES
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    """A run by the name of the first finding, of members that take a moment."""
    parts = (
        *(Part("prior", f"pooling_mean_{seed}") for seed in range(2)),
        Part("token_distance", "pooling_attention_0"),
        Part("topical_entity", "pooling_attention_1"),
    )
    recipe = Recipe(RECIPES[0], parts, folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


@pytest.fixture(autouse=True)
def _without_sentences(monkeypatch):
    monkeypatch.setattr(ablations, "sentences", lambda *_: Report("sentences", ()))


def test_differences_are_of_the_mean_over_the_seeds(finished, monkeypatch):
    one = ablations.measure(ablations.FINDINGS[0], finished)
    scores = {m.label: score(finished.train, m.out_of_fold).value("logloss") for m in finished.members}
    mean, attention = (
        np.array([scores[f"{arm}_{seed}"] for seed in range(2)])
        for arm in ("pooling_mean", "pooling_attention")
    )
    np.testing.assert_allclose(one.logloss["pooling_attention"], attention)
    found = one.differences["pooling_attention"]
    assert found.value == pytest.approx(attention.mean() - mean.mean())
    assert found.low < found.value < found.high
    monkeypatch.setattr(ablations, "FINDINGS", ablations.FINDINGS[:1])
    (table,) = ablations.report([finished]).tables
    cells = dict(table.sections[0].rows)["pooling_attention"]
    assert cells["difference"] == f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
    assert cells["range"].startswith(f"{(attention - mean).min():+.4f} to")


def test_recipes_have_the_arms_that_are_compared():
    for finding in ablations.FINDINGS:
        arms = {system.rpartition("_")[0] or system for system in Recipe.load(finding.recipe).systems}
        assert arms >= {*finding.against, *finding.against.values()}
