"""The table that ends a run."""

from dataclasses import replace

import pytest

from gapstack.comparison.results import run_table, score_run
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


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
