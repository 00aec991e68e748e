"""A run as a target: its stack and members answer as `gap predict` does."""

import numpy as np
import pytest

from gapstack.audit import RunTarget, target_of
from gapstack.corpus import Corpus
from gapstack.errors import MemberError
from gapstack.runs import Recipe, RunFolder, predict, run

RECIPE = {
    "name": "tiny",
    "folds": 3,
    "members": [{"name": "prior"}, {"name": "random"}],
    "stackers": [{"name": "logistic"}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sample_train, sample_test) -> RunFolder:
    """A finished run of two members and their stack on the sample."""
    root = tmp_path_factory.mktemp("home")
    return run(Recipe.parse(RECIPE, "test"), sample_train, sample_test, root=root).folder


def test_with_all_folds_the_stack_answers_as_predict_does(folder, sample_test):
    target = RunTarget(folder, folds=3)
    assert list(target.systems) == ["prior", "random", "stack"]
    found = target.answer(sample_test, ["prior", "stack"])
    assert list(found) == ["prior", "stack"]
    np.testing.assert_allclose(found["stack"], predict(folder, sample_test))
    np.testing.assert_allclose(found["prior"].sum(axis=1), 1)


def test_one_fold_answers_by_default_and_the_note_says_so(folder, sample_test):
    target = RunTarget(folder, "prior")
    assert "first fold's fits of 3 folds" in target.note
    given = target.answer(sample_test, ["prior"])["prior"]
    assert given.shape == (len(sample_test), 3)
    assert np.ptp(given, axis=0).max() == 0


def test_what_a_run_trained_on_is_told(folder):
    assert RunTarget(folder, "random").systems == {"random": ("gap-development", "gap-validation")}


def test_a_run_is_found_by_name_and_by_folder_and_its_member_by_colon(folder, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(folder.root.parent.parent))
    suites = ("winogender",)
    assert len(target_of("tiny", suites).systems) == len(target_of(str(folder.root), suites).systems) == 3
    assert list(target_of("tiny:random", suites).systems) == ["random"]
    assert list(target_of(f"{folder.root}:stack", suites).systems) == ["stack"]
    with pytest.raises(MemberError, match="it has: prior, random, stack"):
        target_of("tiny:probert", suites)


def test_no_rows_have_no_answers(folder):
    assert RunTarget(folder, "prior").answer(Corpus([]), ["prior"])["prior"].shape == (0, 3)
