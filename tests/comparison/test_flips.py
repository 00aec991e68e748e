"""Answers that turn with the counterfactual are counted, and no others."""

import numpy as np
import pytest

from gapstack.comparison import measure, read_entries, tables
from gapstack.comparison.flips import counterfactual_flips
from gapstack.data import Gender
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


@pytest.fixture(scope="module")
def entries(sample_train, sample_test, tmp_path_factory):
    root = tmp_path_factory.mktemp("home")
    parts = (Part("prior", "prior"), Part("token_distance", "token_distance"))
    run(Recipe("cues-sample", parts, folds=3), sample_train, sample_test, root=root)
    return read_entries([str(root / "models" / "cues-sample")], sample_test)[1]


def test_constant_answers_turn_with_the_order_alone_and_distance_with_nothing(entries, sample_test):
    found = counterfactual_flips(sample_test, entries, 40, replicates=100)
    prior, distance = (found.members.index(name) for name in ("prior", "token_distance"))
    assert found.rows["order"] == 40
    assert found.shares["order"][prior].tolist() == [1.0, 1.0, 1.0], "it always says the same letter"
    assert found.shares["gender"][prior, 0] == found.shares["names"][prior, 0] == 0.0
    assert found.shares["order"][distance, 0] == found.shares["gender"][distance, 0] == 0.0


def test_a_member_that_goes_by_gender_always_turns_with_it(entries, sample_test, monkeypatch):
    def predict_proba(system, rows):
        feminine = np.array([example.gender is Gender.FEMININE for example in rows])
        return np.eye(3)[feminine.astype(int)]

    monkeypatch.setattr("gapstack.runs.predictors.FittedRun.predict_proba", predict_proba)
    found = counterfactual_flips(sample_test, entries, 30, replicates=100)
    assert np.all(found.shares["gender"][:, 0] == 1.0)
    assert np.all(found.shares["names"][:, 0] == 0.0)


def test_a_comparison_has_them_on_request_or_notes_why_not(entries, made, sample_test):
    found = measure([sample_test], entries, replicates=100, flips=10)
    (table,) = (table for table in tables(found) if table.title == "Counterfactual flips")
    assert "order (10)" in table.text()
    alone = measure([sample_test], made.entries[:1], replicates=100, flips=10)
    assert alone.flips is None
    assert any(note.startswith("no counterfactuals: ") for note in alone.notes)
    assert made.flips is None
