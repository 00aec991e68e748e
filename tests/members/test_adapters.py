"""Objects as members: what a stack does with them, what each is called, and what cannot be one."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import gapstack
from gapstack.data import Corpus
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.adapters import ClassifierMember, as_member
from gapstack.members.member import Member

TREES = {"rounds": 20, "bags": 1, "min_leaf": 5}


class Own(Member):
    """How often each class is right; not registered."""

    LEARNED = ("shares",)

    def _fit(self, corpus: Corpus) -> None:
        self.shares_ = (np.bincount(corpus.labels, minlength=3) + 1) / (len(corpus) + 3)

    def _predict_proba(self, corpus: Corpus) -> np.ndarray:
        return np.tile(self.shares_, (len(corpus), 1))


def first(corpus: Corpus) -> list[list[float]]:
    return [[0.6, 0.3, 0.1] if row.a < row.b else [0.3, 0.6, 0.1] for row in corpus]


def test_a_stack_of_objects_is_the_stack_of_their_names_and_settings(sample_train, sample_test, tmp_path):
    fitted = create("token_distance").fit(sample_train[:20])
    objects = gapstack.stack([create("surface", **TREES), fitted, "prior"], sample_train[:80], folds=3)
    named = [{"name": "surface", "settings": TREES}, "token_distance", "prior"]
    names = gapstack.stack(named, sample_train[:80], folds=3)
    expected = names.predict_proba(sample_test)
    np.testing.assert_array_equal(objects.predict_proba(sample_test), expected)
    objects.save(tmp_path / "stack")
    loaded = gapstack.load(tmp_path / "stack")
    np.testing.assert_array_equal(loaded.predict_proba(sample_test), expected)
    assert loaded.identity == objects.identity == names.identity


def test_own_members_functions_and_classifiers_are_stacked_and_asked(sample_train, sample_test, tmp_path):
    fitted = create("prior").fit(sample_train[:20])
    members = [Own(), first, LogisticRegression(C=0.01), fitted.predict_proba, create("surface", **TREES)]
    stack = gapstack.stack([*members, create("surface", **TREES)], sample_train[:80], folds=3)
    labels = ["Own", "first", "LogisticRegression", "predict_proba", "surface", "surface_2"]
    assert list(stack.parts()) == labels
    assert [list(fits) for fits in stack.fits_] == [labels] * 3
    fixed = [fits["predict_proba"].predict_proba(sample_test) for fits in stack.fits_]
    np.testing.assert_allclose(fixed, [fitted.predict_proba(sample_test)] * 3)
    assert gapstack.score(sample_test, stack.predict_proba(sample_test)).logloss < np.log(3)
    assert stack.ask("Kate told Mary that she should leave.")
    assert dict(stack.identity) == dict(stack.identity)
    with pytest.raises(MemberError, match="Own is not a registered member"):
        stack.save(tmp_path / "stack")
    assert not (tmp_path / "stack").exists()


def test_a_classifier_is_cross_validated_and_may_lack_a_class(sample_train, sample_test):
    scores = gapstack.cross_validate(LogisticRegression(C=0.01), sample_train).scores
    assert scores.logloss < gapstack.cross_validate("prior", sample_train).scores.logloss
    named = Corpus([row for row in sample_train if row.label < 2])
    answers = ClassifierMember(estimator=LogisticRegression()).fit(named).predict_proba(sample_test)
    assert (answers[:, 2] == 0).all()


@pytest.mark.parametrize("item", [Own, 3, None])
def test_what_does_not_predict_is_refused(item):
    with pytest.raises(MemberError, match="is not a member"):
        as_member(item)


@pytest.mark.parametrize("returned", [np.zeros(2), np.full((80, 3), -1.0)])
def test_a_function_that_returns_no_probabilities_is_refused(returned, sample_train):
    with pytest.raises(MemberError, match="expected probabilities"):
        gapstack.stack([lambda corpus: returned], sample_train[:80])


class PlainClassifier:
    """Has ``fit`` and ``predict_proba``, and nothing else of scikit-learn."""

    def __init__(self, columns=3):
        self.columns, self.fits = columns, 0

    def fit(self, table, labels):
        self.fits += 1
        self.shares = np.bincount(labels, minlength=3)[: self.columns] / len(labels)

    def predict_proba(self, table):
        return np.tile(self.shares, (len(table), 1))


def test_a_plain_classifier_is_copied_for_each_fold(sample_train, sample_test):
    plain = PlainClassifier()
    stack = gapstack.stack([plain, "prior"], sample_train[:80], folds=3)
    assert stack.predict_proba(sample_test).shape == (len(sample_test), 3)
    assert plain.fits == 0
    shares = as_member(plain).fit(sample_train).predict_proba(sample_test[:1])
    np.testing.assert_allclose(shares[0], np.bincount(sample_train.labels) / len(sample_train))


def test_a_plain_classifier_with_other_columns_is_refused(sample_train):
    member = as_member(PlainClassifier(columns=2)).fit(sample_train)
    with pytest.raises(MemberError, match="PlainClassifier"):
        member.predict_proba(sample_train)
