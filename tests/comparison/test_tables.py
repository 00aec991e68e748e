"""Tables of a comparison and of a run: warnings stand in the table itself, and lines stay within a terminal."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.comparison import tables
from gapstack.comparison.results import run_table, score_run
from gapstack.display.render import WIDTH
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


def test_every_question_has_its_table_within_the_width(made):
    joined = "\n".join(table.text() for table in tables(made))
    for expected in (
        *("95% intervals", "against the best", "Pairwise wins", "Similarity of"),
        *("Contribution of each", "Slices: good"),
    ):  # fmt: skip
        assert expected in joined
    assert max(map(len, joined.splitlines())) <= WIDTH


def test_warnings_stand_in_the_scores_by_number_and_notes_below(made):
    shown = tables(replace(made, notes=("no counterfactuals: none asked for",)))[0].text()
    *_, line = (line for line in shown.splitlines() if " decided " in line)
    assert line.split()[-1] == "1"
    words = " ".join(shown.split())
    assert "[1] TRUE for both names in 1 row" in words
    assert "No counterfactuals: none asked for." in words


def test_every_member_has_its_verdict_against_the_best(made):
    (section,) = tables(made)[0].sections
    verdicts = {name.strip(): cells["verdict"] for name, cells in section.rows}
    assert verdicts == {
        "1 good": "best by logloss", "2 middling": "worse", "3 poor": "worse", "4 decided": "not significant by F1 O"
    }  # fmt: skip
    for place, verdict in enumerate(made.against_best()[:2], 1):
        pairs = made.pairs["logloss"]
        assert verdict.difference.value == pairs.difference[place, 0, 0] > 0
        assert verdict.difference.p == pairs.p_holm[place, 0]


@pytest.mark.parametrize(
    ("difference", "p", "outcome"),
    [
        (2.0, 0.01, "better"),
        (-2.0, 0.01, "worse"),
        (2.0, 0.06, "not significant"),
        (2.0, np.nan, "not significant"),
    ],
)
def test_higher_f1_is_better_if_it_is_significant(made, difference, p, outcome):
    pairs = made.pairs["f1_overall"]
    planted = replace(
        pairs,
        difference=np.full_like(pairs.difference, difference),
        p_holm=np.full_like(pairs.p_holm, p),
    )
    verdicts = replace(made, pairs={**made.pairs, "f1_overall": planted}).against_best()
    assert verdicts[-1].outcome == outcome


def test_wins_and_losses_are_those_of_the_tests(made):
    (wins,) = (table for table in tables(made) if table.title == "Pairwise wins")
    counts = {name.strip(): cells for name, cells in wins.sections[0].rows}
    assert (counts["1 good"]["logloss beats"], counts["1 good"]["logloss beaten"]) == (2, 0)
    assert (counts["3 poor"]["logloss beats"], counts["3 poor"]["logloss beaten"]) == (0, 2)


def test_a_terminal_lists_the_most_important_of_many_members(made):
    whole, short = tables(made), tables(made, 2)
    assert len(short[0].sections[0].rows) == len(made.names), "scores are of all"
    added, every = (
        next(table for table in found if "Contribution of each system" in table.title)
        for found in (short, whole)
    )
    values = sorted((cells["left out"] for _, cells in every.sections[0].rows), reverse=True)
    assert [cells["left out"] for _, cells in added.sections[0].rows] == values[:2]
    assert f"2 of {len(values)} systems" in added.caption


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small", (Part("prior", "prior"), Part("random", "random")), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("runs"))


def test_rows_without_labels_are_predicted_and_not_scored(finished, sample_test):
    (out_of_fold,) = score_run(replace(finished, test=sample_test.unlabelled()))
    assert out_of_fold.name == "out of fold"


def test_a_member_that_saw_other_data_says_what_it_is_not_for(finished):
    assert "not for" not in run_table(finished, score_run(finished)).text()
    prior, random = finished.members
    marked = replace(finished, members=(replace(prior, contaminated_by=("winogender", "gap-stage2")), random))
    rows = run_table(marked, score_run(marked)).json()["sections"][1]["rows"]
    not_for = {row["name"]: row["not for"] for row in rows}
    assert (not_for["prior"], not_for["random"]) == ("winogender, gap-stage2", None)
