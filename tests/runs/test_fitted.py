"""A finished run answers new rows, whole, by member and by fold; an unfinished or outdated one says what it lacks."""

import shutil

import numpy as np
import pytest

from gapstack.errors import DataError, MemberError
from gapstack.members.baselines import Prior, TokenDistance
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.predict import predict
from gapstack.runs.predictors import FittedRun, load

RECIPE = {
    "name": "tiny",
    "folds": 3,
    "members": [{"name": "prior"}, {"name": "token_distance"}],
    "stackers": [{"name": "logistic"}],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, sample_train, sample_test):
    return run(Recipe.parse(RECIPE, "test"), sample_train, sample_test, root=tmp_path_factory.mktemp("home"))


def predictions(run: FittedRun, rows) -> dict[str, np.ndarray]:
    return {label: system.predict_proba(rows) for label, system in run.systems.items()}


@pytest.fixture
def copy(finished, tmp_path) -> RunFolder:
    """The run in a folder that a test may break."""
    return RunFolder(shutil.copytree(finished.folder.root, tmp_path / "tiny"))


def test_it_answers_the_held_out_rows_as_the_run_did(finished):
    found = predictions(FittedRun(finished.folder), finished.test)
    for result in (*finished.members, finished.stack):
        np.testing.assert_allclose(found[result.label], result.test, atol=1e-12)


def test_one_member_answers_alone_and_the_stack_needs_all(finished, sample_test):
    alone, stack = (FittedRun(finished.folder, [label]) for label in ("prior", "stack"))
    assert (alone.members, list(alone.systems)) == (["prior"], ["prior"])
    assert (stack.members, list(stack.systems)) == (["prior", "token_distance"], ["stack"])
    np.testing.assert_array_equal(
        stack.predict_proba(sample_test), FittedRun(finished.folder).predict_proba(sample_test)
    )
    given = predict(finished.folder, sample_test, "token_distance")
    system = FittedRun(finished.folder).systems["token_distance"]
    np.testing.assert_array_equal(given, system.predict_proba(sample_test))


def test_kept_members_are_read_once(finished, sample_test, monkeypatch):
    kept = FittedRun(finished.folder, keep=True)
    first = predictions(kept, sample_test)
    monkeypatch.setattr("gapstack.members.store.load", lambda path: pytest.fail("read again"))
    for label, answers in predictions(kept, sample_test.unlabelled()[1:]).items():
        np.testing.assert_array_equal(answers, first[label][1:])


def test_all_systems_share_base_predictions_that_each_member_computes_once(
    finished, sample_test, monkeypatch
):
    computed = []
    for kind in (Prior, TokenDistance):
        predict_once = kind.predict_proba
        monkeypatch.setattr(
            kind,
            "predict_proba",
            lambda self, rows, predict=predict_once: computed.append(type(self)) or predict(self, rows),
        )
    run = FittedRun(finished.folder)
    first = predictions(run, sample_test)
    np.testing.assert_array_equal(run.predict_proba(sample_test), first["stack"])
    assert computed == [Prior] * 3 + [TokenDistance] * 3
    predictions(run, sample_test[:5])
    assert len(computed) == 12, "other rows have other base predictions"


def test_a_run_is_contaminated_by_what_it_trained_on(finished, sample_train):
    run = FittedRun(finished.folder)
    trained_on = tuple(f"gap-{split}" for split in finished.recipe.train)
    assert run.contaminated_by == run.systems["prior"].contaminated_by == trained_on


def test_a_saved_run_and_its_systems_are_read_back_as_predictors(finished, sample_test, tmp_path):
    run = FittedRun(finished.folder)
    run.save(tmp_path / "copy" / "tiny")
    loaded = load(tmp_path / "copy" / "tiny")
    assert loaded.identity == run.identity
    np.testing.assert_array_equal(loaded.predict_proba(sample_test), run.predict_proba(sample_test))
    prior = load(f"{tmp_path / 'copy' / 'tiny'}:prior")
    assert prior.identity != load(f"{tmp_path / 'copy' / 'tiny'}:token_distance").identity
    np.testing.assert_array_equal(
        prior.predict_proba(sample_test), run.systems["prior"].predict_proba(sample_test)
    )


def test_who_is_not_in_the_run_is_named(finished):
    with pytest.raises(MemberError, match='no member of run tiny is called "probert"; did you mean prior'):
        FittedRun(finished.folder, ["probert"])


def test_a_fold_that_is_not_done_is_named(copy):
    shutil.rmtree(copy.fold("prior", 2))
    with pytest.raises(DataError, match="fold-2: the run is not finished"):
        FittedRun(copy)
    assert FittedRun(copy, ["token_distance"]).members == ["token_distance"]
    assert FittedRun(copy, folds=2).folds == 2
