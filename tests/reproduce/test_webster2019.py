"""The shared task's table: every system that the papers report is a member, and every member has its line."""

import json

import pandas as pd
import pytest

from gapstack.members import MEMBERS
from gapstack.reproduce import shared_task
from gapstack.runs import Recipe, run
from gapstack.runs.recipe import Part

LINES = [line for lines in shared_task.PAPER["systems"].values() for line in lines]


@pytest.fixture(scope="module")
def report(sample_train, sample_test, tmp_path_factory):
    parts = (Part("prior", "prior"), Part("topical_entity", "topical"))
    recipe = Recipe("small", parts, (Part("logistic", "logistic"),), folds=3)
    return shared_task.report(run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run")))


def test_every_reported_system_is_a_member():
    assert set(shared_task.PAPER["systems"]) <= set(MEMBERS)


def test_the_recipe_has_every_member_that_a_paper_reports():
    recipe = Recipe.load(shared_task.RECIPE)
    assert set(shared_task.PAPER["systems"]) <= {part.name for part in recipe.members}


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['who']}-{line['split']}")
def test_a_reported_figure_says_what_it_is_of_and_is_in_range(line):
    assert {"who", "models", "split", "labels", "encoder", "source"} <= set(line)
    ranges = {
        "cross_validated": (0.1, 1),
        "logloss": (0.1, 1),
        "bias": (0.9, 1.1),
        **dict.fromkeys(("f1_masculine", "f1_feminine", "f1_overall"), (50, 100)),
    }
    figures = set(line) & set(ranges)
    assert figures
    for name in figures:
        low, high = ranges[name]
        assert low < line[name] < high
    if {"f1_masculine", "bias"} <= figures:
        assert line["f1_feminine"] / line["f1_masculine"] == pytest.approx(line["bias"], abs=0.0051)


def test_figures_scored_here_are_those_of_an_independent_scorer(gap_folder):
    golden = pd.read_csv(gap_folder / "submissions" / "scores_official_labels.csv")
    golden = golden[golden["split"] == "test"]
    of_one_file = [
        line
        for line in LINES
        if line["source"] == shared_task.SCORED_HERE and not line["models"].startswith("mean")
    ]
    assert of_one_file
    for line in of_one_file:
        row = golden.iloc[(golden["logloss"] - line["logloss"]).abs().argmin()]
        for name in shared_task.METRICS:
            assert line[name] == pytest.approx(row[name], rel=1e-6)


def test_no_member_is_dropped(report):
    text = report.text()
    assert text.count("no published figure") == 3
    members = report.json()["systems"]
    assert [one["member"] for one in members] == ["prior", "topical", "stack"]
    assert 0.5 < members[0]["measured"]["held_out"]["logloss"] < 1.5
    for one in report.systems:
        assert f"\n{one.label} " in text


def test_what_a_paper_reports_stands_beneath_what_was_measured(report):
    system = report.systems[0]
    told = shared_task.System(
        **{**vars(system), "label": "grep", "contaminated_by": ("gap-stage2",)}
        | {"reported": tuple(shared_task.PAPER["systems"]["grep"])}
    )
    lines = shared_task.Report((told,), "", "").text().splitlines()
    assert lines[2].startswith("grep (not for gap-stage2) ")
    assert lines[4].startswith("- Attree: GAP test, labels of Attree ")
    assert lines[4].split()[-7:] == ["0.317", "94.0", "91.1", "92.5", "0.970", "-", "-"]
    assert max(map(len, lines)) <= 140


def test_it_is_written_as_markdown_and_json(report, tmp_path):
    markdown, values = report.write(tmp_path)
    assert "| topical |" in markdown.read_text()
    assert len(json.loads(values.read_text())["systems"]) == 3
