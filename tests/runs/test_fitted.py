"""A finished run answers new rows, whole, by member and by fold; an unfinished or outdated one says what it lacks."""

import shutil

import numpy as np
import pytest

from gapstack.errors import DataError, MemberError
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.fitted import FittedRun
from gapstack.runs.predict import predict
from gapstack.sealed import read_sealed, seal

RECIPE = {
    "name": "tiny",
    "folds": 3,
    "members": [{"name": "prior"}, {"name": "token_distance"}],
    "stackers": [{"name": "logistic"}],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, sample_train, sample_test):
    return run(Recipe.parse(RECIPE, "test"), sample_train, sample_test, root=tmp_path_factory.mktemp("home"))


@pytest.fixture
def copy(finished, tmp_path) -> RunFolder:
    """The run in a folder that a test may break."""
    return RunFolder(shutil.copytree(finished.folder.root, tmp_path / "tiny"))


def test_it_answers_the_held_out_rows_as_the_run_did(finished):
    found = FittedRun(finished.folder).ask(finished.test)
    for result in (*finished.members, finished.stack):
        np.testing.assert_allclose(found[result.label], result.test, atol=1e-12)


def test_one_member_answers_alone_and_the_stack_asks_all(finished, sample_test):
    alone, stack = (FittedRun(finished.folder, [label]) for label in ("prior", "stack"))
    assert (alone.members, list(alone.not_for)) == (["prior"], ["prior"])
    assert (stack.members, list(stack.not_for)) == (["prior", "token_distance"], ["stack"])
    assert list(stack.ask(sample_test)) == ["stack"]
    given = predict(finished.folder, sample_test, "token_distance")
    np.testing.assert_array_equal(given, FittedRun(finished.folder).ask(sample_test)["token_distance"])


def test_folds_that_answer_are_averaged(finished, sample_test):
    by_count = [
        FittedRun(finished.folder, ["prior"], folds=k).ask(sample_test)["prior"][0] for k in (1, 2, 9)
    ]
    each = [
        np.mean(
            [
                FittedRun(finished.folder, ["prior"])._member("prior", i).predict_proba(sample_test)[0]
                for i in range(k)
            ],
            axis=0,
        )
        for k in (1, 2, 3)
    ]
    np.testing.assert_allclose(by_count, each)


def test_kept_members_are_read_once(finished, sample_test, monkeypatch):
    kept = FittedRun(finished.folder, keep=True)
    first = kept.ask(sample_test)
    monkeypatch.setattr("gapstack.runs.fitted.load", lambda path: pytest.fail("read again"))
    for label, answers in kept.ask(sample_test).items():
        np.testing.assert_array_equal(answers, first[label])


def test_who_is_not_in_the_run_is_named(finished):
    with pytest.raises(MemberError, match='no member of run tiny is called "probert"; did you mean prior'):
        FittedRun(finished.folder, ["probert"])


def test_a_fold_that_is_not_done_is_named(copy):
    shutil.rmtree(copy.fold("prior", 2))
    with pytest.raises(DataError, match="fold-2: the run is not finished"):
        FittedRun(copy)
    assert FittedRun(copy, ["token_distance"]).members == ["token_distance"]
    assert FittedRun(copy, folds=2).folds == 2


def test_a_stack_of_other_members_says_whose_it_is(copy):
    path = copy.member("stack") / "stack.json"
    seal(path, read_sealed(path) | {"members": ["prior"]}, beside=True)
    with pytest.raises(
        DataError, match="the stack weighs prior; expected the recipe's members: prior, token_distance"
    ):
        FittedRun(copy)
