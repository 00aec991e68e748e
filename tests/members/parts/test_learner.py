"""Learning from more than labels: what is learned, how much it weighs, and what it contaminates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import log_softmax

from gapstack.corpus import Label
from gapstack.corpus.corpus import one_hot
from gapstack.corpus.teacher import SoftLabels
from gapstack.members import create
from gapstack.members.parts import learner
from gapstack.members.parts.learner import Lessons, side_by_side

SURE_OF_A = np.array([0.9, 0.06, 0.04])


@pytest.fixture
def taught(request, sample_test, monkeypatch):
    """A teacher that says the same of every row, whatever it is: A by default."""
    rows = sample_test.unlabelled()
    soft = SoftLabels(rows, np.tile(getattr(request, "param", SURE_OF_A), (len(rows), 1)), ("one",))
    monkeypatch.setattr(learner, "load_teacher", lambda name: soft)
    return soft


@given(
    arrays.arrays(np.float64, (6, 3), elements=st.floats(0, 1)).filter(lambda t: (t.sum(axis=1) > 0.1).all()),
    arrays.arrays(np.float64, 6, elements=st.floats(0.1, 4)),
    arrays.arrays(np.float64, (6, 3), elements=st.floats(-9, 9)),
)
def test_classes_and_weights_have_the_logloss_of_the_targets(targets, weights, logits):
    targets = targets / targets.sum(axis=1, keepdims=True)
    rows, classes, shares = Lessons(range(6), targets, weights, gold=2).as_classes()
    logs = log_softmax(logits, axis=1)
    np.testing.assert_allclose(
        -(shares * logs[rows, classes]).sum(), -(weights[:, None] * targets * logs).sum(), atol=1e-9
    )


def test_lessons_side_by_side_weigh_in_each_as_they_did_alone(sample_train):
    parts = [sample_train.take(np.arange(start, start + 6)) for start in (0, 3)]
    lessons = [Lessons.given(part) for part in parts]
    lessons[1] = Lessons(parts[1], one_hot(parts[1].labels), np.array([2.0, 2, 0.5, 0.5, 0.5, 0.5]), 2)
    corpus, targets = side_by_side(lessons)
    assert corpus.ids == sample_train[:9].ids
    np.testing.assert_allclose(targets.sum(axis=2).mean(axis=0), [1, 1])
    np.testing.assert_allclose(targets[:6, 0], one_hot(parts[0].labels) * 9 / 6)
    np.testing.assert_allclose(targets[3:, 1], lessons[1].targets * lessons[1].weights[:, None] * 9 / 6)
    assert not targets[6:, 0].any()
    assert not targets[:3, 1].any()


def test_given_rows_weigh_as_asked_and_all_rows_one_in_the_mean(taught, sample_train):
    lessons = create("surface", teacher="any", gold_weight=3.0)._lessons(sample_train[:30])
    assert (lessons.gold, len(lessons)) == (30, 30 + len(taught.corpus))
    assert lessons.weights.mean() == pytest.approx(1)
    assert lessons.weights[0] / lessons.weights[-1] == pytest.approx(3)
    np.testing.assert_allclose(lessons.weighted.sum(axis=1), lessons.weights)
    np.testing.assert_array_equal(lessons.targets[:30].argmax(axis=1), sample_train[:30].labels)
    assert all(example.label is None for example in lessons.corpus[30:])


def test_copies_of_a_taught_row_have_its_answer_in_their_own_columns(taught, sample_train):
    lessons = create("surface", teacher="any", augment=["swap_names"])._lessons(sample_train[:30])
    copies = [at for at, example in enumerate(lessons.corpus) if example.id.endswith("~swap_names")]
    assert len(copies) == len(taught.corpus)
    for at in copies:
        np.testing.assert_array_equal(lessons.targets[at], SURE_OF_A[[1, 0, 2]])


SMALL = {
    "surface": {"rounds": 10, "bags": 1},
    "frozen_spans": {"seeds": 2, "epochs": 20, "learning_rate": 1e-2},
    "siamese": {"training": {"epochs": 20, "head_lr": 1e-2}},
    "anonymised": {"training": {"epochs": 20, "head_lr": 1e-2}},
    "kernel_svm": {},
}


@pytest.mark.parametrize("name", SMALL)
def test_a_member_comes_to_say_what_its_teacher_says(
    name, taught, sample_train, sample_test, tiny_encoder_folder
):
    settings = SMALL[name] | ({} if name == "surface" else {"encoder": str(tiny_encoder_folder)})
    rows = sample_train[:40]
    alone = create(name, **settings).fit(rows).predict_proba(sample_test)
    pupil = create(name, **settings, teacher="any").fit(rows)
    followed = pupil.predict_proba(sample_test)
    assert followed[:, Label.A].mean() > alone[:, Label.A].mean() + 0.05
    assert "gap-stage2" in pupil.contaminated_by
    assert "gap-stage2" not in create(name, **settings).contaminated_by


SURE_OF_NEITHER = np.array([0.04, 0.06, 0.9])
CHOOSE_BY_RULE = (
    "token_distance",
    "topical_entity",
    "prior",
    "random",
    "transformer_single",
    "transformer_multi",
)
"""What they learn is how often a choice is right, and is the same for A and B."""


@pytest.mark.parametrize("name", CHOOSE_BY_RULE)
@pytest.mark.parametrize("taught", [SURE_OF_NEITHER], indirect=True, ids=["neither"])
def test_a_member_that_chooses_by_rule_learns_how_often_it_is_right(
    name, taught, sample_train, sample_test, tiny_encoder_folder
):
    settings = {"encoder": str(tiny_encoder_folder)} if name.startswith("transformer") else {}
    rows = sample_train[:40]
    alone = create(name, **settings).fit(rows).predict_proba(sample_test)
    pupil = create(name, **settings, teacher="any").fit(rows)
    followed = pupil.predict_proba(sample_test)
    stubborn = create(name, **settings, teacher="any", gold_weight=1e6).fit(rows).predict_proba(sample_test)
    assert followed[:, Label.NEITHER].mean() > alone[:, Label.NEITHER].mean() + 0.05
    assert stubborn[:, Label.NEITHER].mean() < followed[:, Label.NEITHER].mean() - 0.05
    assert "gap-stage2" in pupil.contaminated_by


@pytest.mark.parametrize("name", CHOOSE_BY_RULE)
def test_a_sure_teacher_of_the_same_rows_is_as_good_as_their_labels(
    name, sample_train, monkeypatch, tiny_encoder_folder
):
    """Rows and weights are doubled alike, so what is learned differs by the penalties alone."""
    settings = {"encoder": str(tiny_encoder_folder)} if name.startswith("transformer") else {}
    settings |= {"ridge": 0.0} if name in ("token_distance", "topical_entity", "transformer_single") else {}
    rows = sample_train[:60]
    soft = SoftLabels(rows.unlabelled(), one_hot(rows.labels), ("one",))
    monkeypatch.setattr(learner, "load_teacher", lambda name: soft)
    alone = create(name, **settings).fit(rows)
    pupil = create(name, **settings, teacher="any").fit(rows)
    np.testing.assert_allclose(pupil.predict_proba(rows), alone.predict_proba(rows), atol=0.01)


def test_taught_rows_are_prepared_once_and_never_by_who_is_fitted(taught, sample_train, monkeypatch):
    member = create("surface", teacher="any", rounds=2, bags=1)
    prepared = []
    monkeypatch.setattr(type(member), "_prepare", lambda self, corpus: prepared.append(len(corpus)))
    member.prepare(sample_train[:30])
    assert prepared == [30, len(taught.corpus)]
    member.is_fitted_ = True
    member.prepare(sample_train[:30])
    assert prepared[2:] == [30]


def test_what_is_learned_in_stages_has_no_weight_of_its_own():
    with pytest.raises(Exception, match="gold_weight"):
        create("probert", gold_weight=2.0)
