"""A dry run counts trainings, repeats the seconds of an earlier run, and names missing inputs."""

from dataclasses import replace
from pathlib import Path

import pytest

from gapstack.data import sources
from gapstack.encoding.encoders import KNOWN
from gapstack.errors import DataNotFoundError
from gapstack.members.part import Part
from gapstack.runs import dry_run
from gapstack.runs.dry_run import plan_run
from gapstack.runs.recipe import Recipe, available
from tests.runs.test_published import TEAMS


@pytest.fixture(autouse=True)
def _no_large_encoders(monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr(dry_run, "is_available", lambda name: Path(str(name)).name not in KNOWN)


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
        assert (len(plan.members), plan.trainings) == TEAMS[name]
    for part in recipe.members:
        if part.label not in members:
            assert any(line.startswith("left out") for line in plan.missing)  # a resolver that is not there
            continue
        assert members[part.label].trainings >= recipe.folds
        for encoder in {part.settings.get(key) for key in ("encoder", "second_encoder")} - {None}:
            assert Path(encoder).name in members[part.label].encoders
            assert Path(encoder).name not in KNOWN or any(encoder in line for line in plan.missing)
    assert plan.seconds is None
    assert "all members" in plan.table().text()


def test_missing_rows_are_named_and_counted_as_published(monkeypatch):
    monkeypatch.setattr(dry_run, "corpora", lambda *_: (_ for _ in ()).throw(DataNotFoundError("no stage 2")))
    plan = plan_run(Recipe.load("attree2019"))
    assert "no stage 2" in plan.missing
    assert (plan.train[1], plan.test[1]) == (4454, 12_359)


def test_seconds_are_those_of_an_earlier_run(monkeypatch):
    recipe = Recipe.load("quickstart")
    first = recipe.members[0]
    monkeypatch.setattr(
        dry_run, "finished_jobs", lambda *_: {first.label: [{"seconds": 2.0}, {"seconds": 4.0}]}
    )
    plan = planned(recipe)
    assert {member.label: member.seconds for member in plan.members if member.seconds} == {
        first.label: 3.0 * recipe.folds
    }
    assert plan.seconds is None
    alone = planned(replace(recipe, members=(first,)))
    assert alone.seconds == 3.0 * recipe.folds


def test_inputs_that_do_not_depend_on_a_missing_encoder_are_named_with_it(tmp_path):
    settings = {"encoder": "bert-large-cased", "teacher": str(tmp_path / "no_such.csv")}
    recipe = replace(Recipe.load("quickstart"), members=(Part("probert", "probert", settings),))
    missing = planned(recipe).missing
    assert any("bert-large-cased" in line for line in missing)
    assert len(missing) > 1
