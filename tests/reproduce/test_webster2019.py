"""The shared task's tables: every system that the papers report is a member, and every member has its line."""

import json

import pandas as pd
import pytest

from gapstack.corpus.papers import paper
from gapstack.features.blocks import needs_parses
from gapstack.members import MEMBERS, create
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.reproduce import webster2019
from gapstack.reproduce.webster2019 import NOTES, OURS, reported
from gapstack.runs import Recipe, run
from gapstack.runs.recipe import Part

LINES = [line for lines in reported().values() for line in lines]


@pytest.fixture(scope="module")
def report(sample_train, sample_test, tmp_path_factory):
    parts = (Part("prior", "prior"), Part("topical_entity", "topical"))
    recipe = Recipe("small", parts, (Part("logistic", "logistic"),), folds=3)
    return webster2019.report(run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run")))


def test_every_reported_system_is_a_member_and_has_a_team():
    assert set(reported()) <= set(MEMBERS)
    assert set(OURS) == set(NOTES["teams"])
    assert set(NOTES["teams"].values()) == set(NOTES["stage2"])
    assert {member for line in NOTES["stage2"].values() for member in line["members"]} <= set(OURS)


def test_the_recipe_has_every_member_that_a_paper_reports():
    recipe = Recipe.load(webster2019.RECIPE)
    assert set(reported()) | set(OURS) <= {part.name for part in recipe.members}


@pytest.mark.parametrize("name", OURS)
def test_table_3s_columns_of_ours_are_what_the_member_is(name):
    tuning, _, resources = OURS[name]
    member = create(name)
    settings = member.get_params()
    if isinstance(member, FineTuned):
        is_tuned = any("encoder" not in plan.frozen for plan in member._plans())
        assert (tuning is not None) == is_tuned
    # a pipeline of its own, or a block that needs one
    parsed = "parser" in settings or any(map(needs_parses, settings.get("blocks", ())))
    assert ("syntax" in resources) == parsed


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['who']}-{line['split']}")
def test_a_reported_figure_says_what_it_is_of_and_is_in_range(line):
    assert {"who", "models", "split", "labels", "encoder", "source", "note"} <= set(line)
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


def test_no_figure_of_the_papers_is_kept_among_the_notes(gap_folder):
    """They have one source; what the notes hold beside it are figures that the papers do not have."""
    overview = {team[1] for team in paper("webster2019", gap_folder)["systems"].values()}
    kept = [line.get("logloss") for lines in NOTES["systems"].values() for line in lines]
    kept += [line.get("logloss") for line in NOTES["stage2"].values()]
    assert not overview & set(kept)
    assert not any(line["who"].startswith("Webster") for lines in NOTES["systems"].values() for line in lines)


def test_baselines_and_stage_2_are_read_from_the_papers(gap_folder):
    lines = reported(gap_folder)
    assert [(line["split"], line["f1_overall"]) for line in lines["url"]] == [
        ("GAP test, names not given", 70.6),
        ("GAP development", 72.9),
    ]
    assert [line["logloss"] for line in lines["msnet"] if line["split"] == "stage 2"] == [0.17289]


def test_without_the_papers_the_notes_are_left(monkeypatch):
    monkeypatch.setattr(webster2019, "paper", lambda *_: {})
    lines = reported()
    assert "url" not in lines
    assert all("logloss" not in line for line in lines["msnet"] if line["split"] == "stage 2")
    nothing = dict.fromkeys(webster2019.METRICS)
    system = webster2019.System("grep", "grep", "", None, (), nothing, nothing, None, 0, ())
    assert "- our grep" in webster2019.Report((system,), {}, "", "").tables[1].text()


def test_figures_scored_here_are_those_of_an_independent_scorer(gap_folder):
    golden = pd.read_csv(gap_folder / "submissions" / "scores_official_labels.csv")
    golden = golden[golden["split"] == "test"]
    of_one_file = [
        line
        for line in LINES
        if line["source"] == webster2019.SCORED_HERE and not line["models"].startswith("mean")
    ]
    assert of_one_file
    for line in of_one_file:
        row = golden.iloc[(golden["logloss"] - line["logloss"]).abs().argmin()]
        for name in webster2019.METRICS:
            assert line[name] == pytest.approx(row[name], rel=1e-6)


def test_no_member_is_dropped(report):
    text = report.text()
    assert text.count("no published figure") == 3
    members = report.json()["systems"]
    assert [one["member"] for one in members] == ["prior", "topical", "stack"]
    assert 0.5 < members[0]["measured"]["held_out"]["logloss"] < 1.5
    for one in report.systems:
        assert f"\n{one.label} " in text


def test_what_a_paper_reports_stands_beneath_what_was_measured(report, gap_folder):
    system = report.systems[0]
    told = webster2019.System(
        **{**vars(system), "label": "grep", "name": "grep", "contaminated_by": ("gap-stage2",)}
        | {"reported": tuple(reported(gap_folder)["grep"])}
    )
    overview = paper("webster2019", gap_folder)
    scores, teams = (table.text(140) for table in webster2019.Report((told,), overview, "", "").tables)
    lines = scores.splitlines()
    assert lines[2].startswith("grep (not for gap-stage2) ")
    assert lines[4].startswith("- Attree*: GAP test, labels of Attree ")
    assert lines[4].split()[-7:] == ["0.317", "94.0", "91.1", "92.5", "0.970", "-", "-"]
    assert lines[6].split()[:6] == ["-", "Attree,", "mean", "of", "50:", "stage"]
    assert "0.137" in lines[6]
    assert max(map(len, (*lines, *teams.splitlines()))) <= 140
    rows = teams.splitlines()
    attree = next(index for index, row in enumerate(rows) if row.startswith("Attree"))
    assert rows[attree].split()[1:4] == ["1", "0.13667", "1"]
    assert rows[attree].endswith("syntax, coref, URL")
    assert rows[attree + 1].split()[:3] == ["-", "our", "grep"]
    assert sum(row.startswith("Xu and Yang") for row in rows) == 1


def test_it_is_written_as_markdown_and_json(report, tmp_path):
    markdown, values = report.write(tmp_path)
    assert markdown.name == "webster2019.md"
    assert "| topical |" in markdown.read_text()
    assert len(json.loads(values.read_text())["systems"]) == 3
