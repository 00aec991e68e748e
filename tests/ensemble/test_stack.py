"""A stack is a member: nested, saved, in a run's recipe; refused where it could not be fitted."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, teacher
from gapstack.data.teacher import SoftLabels
from gapstack.ensemble.stack import Stack
from gapstack.errors import MemberError
from gapstack.members import create, saved
from gapstack.runs.predictors import FittedRun, load
from gapstack.runs.recipe import Recipe
from gapstack.runs.runner import run

MEMBERS = ["token_distance", {"name": "surface", "settings": {"rounds": 10, "bags": 1}}]
MEMBERS_OF_A_RECIPE = [{"name": "token_distance"}, MEMBERS[1]]
INNER = {"name": "stack", "label": "inner", "settings": {"members": ["topical_entity", "token_distance"]}}


def test_its_out_of_fold_predictions_are_those_of_a_run_on_the_same_folds(
    sample_train, sample_test, tmp_path
):
    recipe = Recipe.parse(
        {
            "name": "r",
            "folds": 3,
            "seed": 0,
            "members": MEMBERS_OF_A_RECIPE,
            "stackers": [{"name": "logistic"}],
        },
        "test",
    )
    done = run(recipe, sample_train[:80], sample_test[:20], root=tmp_path)
    stack = Stack(members=MEMBERS, stackers=["logistic"], folds=3).fit(sample_train[:80])
    np.testing.assert_array_equal(stack.out_of_fold_, done.stack.out_of_fold)
    np.testing.assert_allclose(stack.predict_proba(sample_test[:20]), done.stack.test, rtol=0, atol=1e-12)


def test_a_fitted_stack_answers_without_its_teacher(sample_train, sample_test, monkeypatch, tmp_path):
    rows = sample_test.unlabelled()
    soft = SoftLabels(rows, np.full((len(rows), 3), 1 / 3))
    monkeypatch.setattr(teacher, "load_teacher", lambda name: soft)
    distilled = {"name": "surface", "settings": {"rounds": 5, "bags": 1, "teacher": "stage2"}}
    stack = Stack(members=["token_distance", distilled], folds=3).fit(sample_train[:80])
    expected = stack.predict_proba(sample_test)
    saved.save(stack, "stack", tmp_path / "saved")
    monkeypatch.setattr(teacher, "load_teacher", lambda name: pytest.fail("the teacher was asked for"))
    np.testing.assert_array_equal(saved.load(tmp_path / "saved").predict_proba(sample_test), expected)


def test_few_pages_make_fewer_folds_and_too_few_are_refused(sample_train):
    pages = [replace(row, url=f"https://page/{number % 4}") for number, row in enumerate(sample_train[:40])]
    stack = Stack(members=["prior", "token_distance"]).fit(Corpus(pages))
    assert len(stack.fits_) == 4
    with pytest.raises(MemberError, match="40 rows of 2 pages cannot be cut into 3 folds"):
        Stack(members=["prior"]).fit(
            Corpus(replace(row, url=str(number % 2)) for number, row in enumerate(pages))
        )


def test_a_stack_in_a_stack_is_saved_and_loaded_as_a_predictor(sample_train, sample_test, tmp_path):
    stack = Stack(members=["prior", INNER], folds=3).fit(sample_train[:80])
    stack.save(tmp_path / "stack")
    loaded = load(tmp_path / "stack")
    assert isinstance(loaded, Stack)
    assert isinstance(loaded.fits_[0]["inner"], Stack)
    assert loaded.identity == stack.identity
    np.testing.assert_array_equal(loaded.predict_proba(sample_test), stack.predict_proba(sample_test))


def test_its_identity_is_that_of_its_members_and_their_labels(tiny_encoder_folder):
    encoder = {"name": "transformer_single", "settings": {"encoder": str(tiny_encoder_folder)}}
    one, other = Stack(members=["prior", encoder]), Stack(members=["random", encoder])
    alone = create("transformer_single", **encoder["settings"])
    assert one.identity["transformer_single.encoder"] == alone.identity["encoder"]
    assert one.identity["prior.source"] == create("prior").identity["source"]
    assert one.identity["settings"] != other.identity["settings"]


def test_a_run_takes_a_stack_as_a_member(sample_train, sample_test, tmp_path):
    recipe = Recipe.parse(
        {"name": "r", "folds": 3, "members": [{"name": "prior"}, INNER], "stackers": [{"name": "simplex"}]},
        "test",
    )
    done = run(recipe, sample_train[:80], sample_test[:20], root=tmp_path)
    systems = FittedRun(done.folder).systems
    for result in (*done.members, done.stack):
        np.testing.assert_allclose(
            systems[result.label].predict_proba(sample_test[:20]), result.test, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a stack needs members"),
        ({"members": ["priro"]}, r'members\.item 1: found "priro", expected one of prior, '),
        ({"members": ["prior", "prior"]}, "members: label prior is used twice"),
        ({"members": [{"label": "x"}]}, r"members\.item 1: has no name"),
        ({"members": [{"name": "surface", "settings": {"rounds": 0}}]}, "surface.rounds: found 0"),
        ({"members": ["prior"], "stackers": ["prior"]}, r'stackers\.item 1: found "prior"'),
        ({"members": ["prior"], "stackers": ["mean", "mean"]}, "stackers: label mean is used twice"),
        ({"members": ["prior"], "augment": ["swap_names"]}, "augment: a stack's members augment"),
    ],
)
def test_what_cannot_be_stacked_is_refused_with_the_setting(sample_train, settings, message):
    with pytest.raises(MemberError, match=message):
        Stack(**settings).fit(sample_train)


def test_a_class_that_is_not_registered_cannot_be_saved(sample_train, tmp_path):
    class Own(Stack):
        pass

    with pytest.raises(MemberError, match="Own is not a registered member"):
        Own(members=["prior"]).fit(sample_train).save(tmp_path / "own")
    assert not (tmp_path / "own").exists()
    saved.save(create("prior").fit(sample_train), "prior", tmp_path / "prior")
    assert load(tmp_path / "prior").identity["settings"] == create("prior").identity["settings"]
