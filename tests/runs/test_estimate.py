"""A dry run counts models, hours and disk space, and names missing inputs."""

from dataclasses import replace
from pathlib import Path

import pytest

from gapstack.encoding.encoders import KNOWN
from gapstack.errors import DataNotFoundError
from gapstack.members.part import Part
from gapstack.runs import estimate
from gapstack.runs.estimate import plan_run
from gapstack.runs.recipe import Recipe, available


@pytest.fixture(autouse=True)
def _no_large_encoders(monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr(estimate, "is_available", lambda name: Path(str(name)).name not in KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", available())
def test_every_recipe_is_planned_without_its_encoders(name):
    recipe = Recipe.load(name)
    plan = plan_run(recipe, "sample")
    planned = {member.label: member for member in plan.members}
    for part in recipe.members:
        if part.label not in planned:
            assert any(line.startswith("left out") for line in plan.missing)  # a resolver that is not there
            continue
        member = planned[part.label]
        if Path(str(part.settings.get("encoder"))).name in KNOWN:
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


def test_hours_follow_parameters_rows_and_the_gpu():
    plan = plan_run(Recipe.load("modern"), "sample")
    plans = {member.label: member for member in plan.members}
    tuned, probert = plans["tuned_spans_deberta-v3-large"], plans["probert_deberta-v3-large"]
    assert tuned.parameters == 434_012_160
    assert 1.9 < tuned.operations / probert.operations < 3  # each row with a copy
    assert tuned.hours_on("H100") == pytest.approx(tuned.launching / 3600)  # batches of 16 leave it waiting
    computing = replace(tuned, launching=0.0)
    assert computing.hours_on("RTX 4090") == pytest.approx(computing.hours_on("H100") * 989 / 165)
    assert tuned.memory > 16 * tuned.parameters
    assert tuned.disk > 0


def test_a_local_language_model_costs_hours_and_one_behind_a_server_requests(tiny_encoder_folder):
    def planned(model: str):
        part = Part("prompted", "prompted", {"model": model})
        return plan_run(replace(Recipe.load("quickstart"), members=(part,)), "sample").members[0]

    local, served = planned(str(tiny_encoder_folder)), planned("http://localhost:1/v1#name")
    assert local.operations > served.operations == 0
    assert 0 < local.tokens < served.tokens  # nothing is written by a model that scores the options
    assert local.requests == served.requests > 0
