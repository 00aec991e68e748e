"""A dry run counts models, hours and disk space, and names missing inputs."""

import pytest

from gapstack.encoding.encoders import KNOWN
from gapstack.errors import DataNotFoundError
from gapstack.runs import estimate
from gapstack.runs.estimate import plan_run
from gapstack.runs.recipe import Recipe, available


@pytest.fixture(autouse=True)
def _no_large_encoders(monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr(estimate, "is_available", lambda name: name not in KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", available())
def test_every_recipe_is_planned_without_its_encoders(name):
    recipe = Recipe.load(name)
    plan = plan_run(recipe, "sample")
    for part, member in zip(recipe.members, plan.members, strict=True):
        assert member.label == part.label
        if part.settings.get("encoder") in KNOWN:
            assert member.seconds > 0
            assert any(part.settings["encoder"] in line for line in plan.missing)
    assert "all members" in plan.table().text()


def test_missing_rows_are_named_and_counted_as_published(monkeypatch):
    monkeypatch.setattr(
        estimate, "corpora", lambda *_: (_ for _ in ()).throw(DataNotFoundError("no stage 2"))
    )
    plan = plan_run(Recipe.load("attree2019"))
    assert "no stage 2" in plan.missing
    assert (plan.train[1], plan.test[1]) == (4454, 12_359)


def test_rules_cost_next_to_nothing_and_a_frozen_encoder_runs_once():
    plan = plan_run(Recipe.load("quickstart"))
    seconds = {member.label: member.seconds for member in plan.members}
    readers = {"frozen_spans", "frozen_cues"}
    assert all(cost < 5 for label, cost in seconds.items() if label not in readers)
    assert 0 < seconds["frozen_cues"] < seconds["frozen_spans"]
