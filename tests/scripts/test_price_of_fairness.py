"""The price of fairness: computed from a run's folder alone, out of fold where it says so, and chosen there."""

import numpy as np
import pytest

from gapstack.errors import DataError
from gapstack.members.store import load
from gapstack.registry import UnknownNameError
from gapstack.runs import Recipe, run
from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD
from gapstack.runs.recipe import Part
from gapstack.scoring.intervals import bootstrap, contributions
from scripts.price_of_fairness import AS_IT_IS, FinishedRun, fairest, remedies, table

MEMBERS = (Part("prior", "prior"), Part("token_distance", "token_distance"))


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small-sample", MEMBERS, (Part("conditional", "conditional"),), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def again(finished):
    return FinishedRun(finished.folder)


@pytest.fixture(scope="module")
def answers(again):
    return remedies(again, ["token_distance"])


def test_the_runs_own_stacker_gives_the_runs_own_probabilities(finished, again):
    own = again.answers(again.system(*again.chosen()), again.rows)
    np.testing.assert_allclose(own[OUT_OF_FOLD], finished.stack.out_of_fold, atol=1e-9)
    np.testing.assert_allclose(own[HELD_OUT], finished.stack.test, atol=1e-9)


def test_every_remedy_is_in_the_table_of_both_parts(again, answers):
    shown = table(again, answers, replicates=50)
    assert [section.title.split(":")[0] for section in shown.sections] == [OUT_OF_FOLD, HELD_OUT]
    for section in shown.sections:
        assert [name for name, _ in section.rows] == list(answers)
        assert "change" not in dict(section.rows)[AS_IT_IS]
    chosen = shown.caption.rpartition("out of fold: ")[2].rstrip(".")
    assert chosen in answers
    assert all(len(line) <= 100 for line in shown.text().splitlines())


def test_swapped_copies_that_no_member_predicts_anew_change_nothing(again):
    copy, _ = again.swapped([])
    np.testing.assert_array_equal(copy.out_of_fold, again.rows.out_of_fold)


def test_swapped_copies_are_predicted_by_the_fit_without_their_fold(again):
    copy, both = again.swapped(["token_distance"])
    train, test = (both[part][1] for part in (OUT_OF_FOLD, HELD_OUT))
    for fold in range(3):
        member = load(again.folder.fold("token_distance", fold) / "member")
        held = np.flatnonzero(train.changed & (again.folds.assignment == fold))
        assert len(held)
        np.testing.assert_array_equal(
            copy.out_of_fold[held, 1], member.predict_proba(train.corpus).take(held, axis=0)
        )
        np.testing.assert_array_equal(copy.by_fold[fold][:, 1], member.predict_proba(test.corpus))
    np.testing.assert_array_equal(copy.out_of_fold[:, 0], again.rows.out_of_fold[:, 0])


def test_the_fairest_is_sought_among_those_within_a_standard_error(sample_test):
    truth = np.eye(3)[sample_test.labels]
    feminine = (sample_test.genders == "feminine")[:, None]
    some = (np.arange(len(truth)) % 3 == 0)[:, None]
    best = np.where(feminine & some, 0.3 + 0.1 * truth[:, ::-1], 0.05 + truth)
    fair_but_worse = 0.3 + 0.1 * truth
    sums = {
        name: contributions(sample_test, each / each.sum(axis=1, keepdims=True))
        for name, each in {"best": best, "fair but worse": fair_but_worse}.items()
    }
    assert fairest(bootstrap(sample_test.groups, sums, replicates=200)) == "best"


def test_what_the_run_lacks_is_named(again, sample_train, sample_test, tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean token_distance"):
        again.swapped(["token_distence"])
    alone = run(Recipe("alone-sample", MEMBERS[:1], folds=3), sample_train, sample_test, root=tmp_path)
    with pytest.raises(DataError, match="alone-sample has no stack"):
        FinishedRun(alone.folder)
