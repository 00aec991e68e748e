"""The shared task's tables: every system that the papers report is a member, and every member has its line."""

import pytest

from gapstack.members import MEMBERS
from gapstack.papers import webster2019
from gapstack.papers.webster2019 import NOTES, OURS, reported
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


@pytest.fixture(scope="module")
def report(sample_train, sample_test, tmp_path_factory):
    parts = (Part("prior", "prior"), Part("topical_entity", "topical"))
    recipe = Recipe("small", parts, (Part("logistic", "logistic"),), folds=3)
    return webster2019.report(run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run")))


def test_every_reported_system_is_a_member_with_a_team_and_in_the_recipe():
    assert set(reported()) <= set(MEMBERS)
    assert set(OURS) == set(NOTES["teams"])
    assert set(NOTES["teams"].values()) == set(NOTES["stage2"])
    assert {member for line in NOTES["stage2"].values() for member in line["members"]} <= set(OURS)
    recipe = Recipe.load(webster2019.RECIPE)
    assert set(reported()) | set(OURS) <= {part.name for part in recipe.members}


def test_baselines_and_stage_2_are_read_from_the_papers(gap_folder):
    lines = reported()
    assert [(line["split"], line["f1_overall"]) for line in lines["url"]] == [
        ("GAP test, names not given", 70.6),
        ("GAP development", 72.9),
    ]
    assert [line["logloss"] for line in lines["msnet"] if line["split"] == "stage 2"] == [0.17289]


def test_no_member_is_dropped(report):
    members = report.record["systems"]
    assert [one["member"] for one in members] == ["prior", "topical", "stack"]
    assert 0.5 < members[0]["measured"]["held_out"]["logloss"] < 1.5
    names = [name for name, _ in report.tables[0].sections[0].rows]
    assert names == [name for one in members for name in (one["member"], "- no published figure")]


def test_the_first_three_teams_have_the_scores_of_the_overviews_table_1(gap_folder):
    table = webster2019.teams_table([], webster2019.paper("webster2019"))
    rows = dict(row for section in table.sections for row in section.rows)
    shown = [(row["stage2"], row["f1_overall"], row["bias"]) for row in list(rows.values())[:4]]
    assert shown == [
        (0.13667, 96.2, 0.99),
        (0.17289, 95.7, 0.99),
        (0.18397, 95.4, 0.99),
        (0.18498, None, None),
    ]
