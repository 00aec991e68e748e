"""Learning curves: fewer rows are whole pages and the first of more, each row is answered by who has not learned it."""

import numpy as np
import pytest

from gapstack.corpus import make_folds
from gapstack.members.surface import Surface
from gapstack.scoring.metrics import log_loss
from scripts.learning_curves import KINDS, _FewerTaught, _pages, measured, out_of_fold


@pytest.fixture(scope="module")
def folds(sample_train):
    return make_folds(sample_train, 3, seed=1)


def test_fewer_rows_are_whole_pages_and_among_those_of_more(sample_train, folds):
    fitted = folds.split(0)[0]
    few, more = _pages(sample_train, fitted, 20), _pages(sample_train, fitted, 60)
    assert set(few) < set(more) < set(fitted)
    assert 20 <= len(few) < 40
    pages = sample_train.groups
    assert not set(pages[few]) & set(pages[np.setdiff1d(fitted, few)])


def test_a_point_is_the_score_of_answers_out_of_fold(sample_train, folds):
    class Trees(_FewerTaught, Surface):
        pass

    answers = out_of_fold(Trees(rounds=5, bags=1), sample_train, folds, gold=40)
    fitted, held = folds.split(2)
    alone = Trees(rounds=5, bags=1).fit(sample_train.take(_pages(sample_train, fitted, 40)))
    np.testing.assert_array_equal(answers[held], alone.predict_proba(sample_train.take(held)))
    point = measured("GAP's rows", "trees", 40, sample_train, answers)
    assert point.low < point.logloss < point.high
    assert point.logloss == pytest.approx(log_loss(sample_train.labels, answers), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_members_learn_from_so_many_rows_of_the_teacher(kind, sample_train, monkeypatch):
    teacher = sample_train.unlabelled(), np.tile([0.5, 0.25, 0.25], (len(sample_train), 1))
    monkeypatch.setattr("gapstack.members.parts.learner.Learner._taught", lambda self: teacher)
    member = KINDS[kind](True).set_params(most=7)
    corpus, targets = member._taught()
    assert len(corpus) == len(targets) == 7
    assert set(corpus.ids) < set(sample_train.ids)
