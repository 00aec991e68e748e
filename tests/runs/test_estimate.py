"""A dry run counts models, hours and disk space, and names missing inputs."""

from dataclasses import replace
from pathlib import Path

import pytest

from gapstack.data import sources
from gapstack.encoding.encoders import KNOWN
from gapstack.errors import DataNotFoundError
from gapstack.members.part import Part
from gapstack.runs import estimate
from gapstack.runs.estimate import plan_run
from gapstack.runs.recipe import Recipe, available
from tests.runs.test_published import TEAMS


@pytest.fixture(autouse=True)
def _no_large_encoders(monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr(estimate, "is_available", lambda name: Path(str(name)).name not in KNOWN)


def planned(recipe):
    with sources.data_in("sample"):
        return plan_run(recipe)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in TEAMS else pytest.mark.slow) for name in available()]
)
def test_every_recipe_is_planned_without_its_encoders(name):
    recipe = Recipe.load(name)
    plan = planned(recipe)
    members = {member.label: member for member in plan.members}
    if name in TEAMS:
        assert (len(plan.members), plan.total.models) == TEAMS[name]
    for part in recipe.members:
        if part.label not in members:
            assert any(line.startswith("left out") for line in plan.missing)  # a resolver that is not there
            continue
        assert members[part.label].seconds > 0
        for encoder in {part.settings.get(key) for key in ("encoder", "second_encoder")} - {None}:
            assert Path(encoder).name not in KNOWN or any(encoder in line for line in plan.missing)
    assert "all members" in plan.table().text()


def test_a_dry_run_adds_up_passes_updates_and_bytes():
    attree, liu = (planned(Recipe.load(name)) for name in ("attree2019", "liu2019"))
    train, test = attree.train[1], attree.test[1]
    size, grep = estimate.encoder_size("bert-large-uncased"), attree.members[0]
    texts = [*sources.sample()["train"], *sources.sample()["test"]]
    pieces = sum(len(example.text) for example in texts) / len(texts) / 4.5 + 2
    # 20 epochs on 4 of 5 parts, five times; all rows out of fold, and the held-out ones by each fold
    passes = 6 * 20 * 4 * train + 2 * (train + 5 * test)
    assert grep.operations == pytest.approx(passes * size.per_piece * pieces)
    # weights of five folds in half precision, and a checkpoint
    assert grep.disk == pytest.approx((5 * 2 + 16) * size.parameters)
    # 25 networks of five seeds and folds: 1,000 epochs in batches of 32 rows and their three copies
    pure = next(member for member in liu.members if member.label == "pure_cased")
    updates = 1000 * -(-(train * 4 // 5) * 4 // 32)
    assert pure.other == pytest.approx(25 * updates * 3e-3)


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
    plan = planned(Recipe.load("modern"))
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
    def member(model: str):
        part = Part("prompted", "prompted", {"model": model})
        return planned(replace(Recipe.load("quickstart"), members=(part,))).members[0]

    local, served = member(str(tiny_encoder_folder)), member("http://localhost:1/v1#name")
    assert local.operations > served.operations == 0
    assert 0 < local.tokens < served.tokens  # nothing is written by a model that scores the options
    assert local.requests == served.requests > 0
