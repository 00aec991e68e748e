"""The shared task's table: every system that the papers report is a member, and every member has its line."""

import json

import pytest

from gapstack.members import MEMBERS
from gapstack.report import shared_task
from gapstack.runs import Recipe, run
from gapstack.runs.recipe import Part


@pytest.fixture(scope="module")
def report(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small", (Part("prior", "prior"), Part("random", "random")), folds=3)
    return shared_task.report(run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run")))


def test_the_recipe_has_every_member_that_a_paper_reports():
    recipe = Recipe.load(shared_task.RECIPE)
    assert set(shared_task.PAPER["systems"]) & set(MEMBERS) <= {part.name for part in recipe.members}


def test_reported_figures_are_in_range():
    for lines in shared_task.PAPER["systems"].values():
        for line in lines:
            assert set(line) == {"system", "on", "encoder", "logloss", "f1"}
            assert line["logloss"] is None or 0.1 < line["logloss"] < 1
            assert line["f1"] is None or 50 < line["f1"] < 100
            assert line["logloss"] or line["f1"]


def test_no_member_is_dropped(report):
    text = report.text()
    for name in ("prior", "random"):
        assert f"{name}: no published figure" in text
    rows = report.json()["measured"]["sections"][0]["rows"]
    assert [row["name"] for row in rows] == ["prior", "random"]
    assert 0.5 < rows[0]["test_logloss"] < 1.5


def test_it_is_written_as_markdown_and_json(report, tmp_path):
    markdown, values = report.write(tmp_path)
    assert "What the papers report" in markdown.read_text()
    assert json.loads(values.read_text())["reported"]["sections"]
