"""Learning from more than labels: what is learned, how much it weighs, and what it contaminates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import log_softmax

from gapstack.data import Label, teacher
from gapstack.data.teacher import SoftLabels
from gapstack.members import create
from gapstack.members.soft_labels import TrainingSet

SURE_OF_A = np.array([0.9, 0.06, 0.04])


@pytest.fixture
def teacher_rows(sample_test, monkeypatch):
    """A teacher that predicts A for every row."""
    rows = sample_test.unlabelled()
    soft = SoftLabels(rows, np.tile(SURE_OF_A, (len(rows), 1)))
    monkeypatch.setattr(teacher, "load_teacher", lambda name: soft)
    return soft


@given(
    arrays.arrays(np.float64, (6, 3), elements=st.floats(0, 1)).filter(lambda t: (t.sum(axis=1) > 0.1).all()),
    arrays.arrays(np.float64, 6, elements=st.floats(0.1, 4)),
    arrays.arrays(np.float64, (6, 3), elements=st.floats(-9, 9)),
)
def test_classes_and_weights_have_the_logloss_of_the_targets(targets, weights, logits):
    targets = targets / targets.sum(axis=1, keepdims=True)
    rows, classes, shares = TrainingSet(range(6), targets, weights, gold=2).as_classes()
    logs = log_softmax(logits, axis=1)
    np.testing.assert_allclose(
        -(shares * logs[rows, classes]).sum(), -(weights[:, None] * targets * logs).sum(), atol=1e-9
    )


def test_given_rows_weigh_as_asked_and_all_rows_one_in_the_mean(teacher_rows, sample_train):
    training_set = create("surface", teacher="any", gold_weight=3.0)._training_set(sample_train[:30])
    assert (training_set.gold, len(training_set)) == (30, 30 + len(teacher_rows.corpus))
    assert training_set.weights.mean() == pytest.approx(1)
    assert training_set.weights[0] / training_set.weights[-1] == pytest.approx(3)
    np.testing.assert_allclose(training_set.weighted.sum(axis=1), training_set.weights)
    np.testing.assert_array_equal(training_set.targets[:30].argmax(axis=1), sample_train[:30].labels)
    assert all(example.label is None for example in training_set.corpus[30:])


def test_copies_of_a_row_with_soft_labels_have_its_answer_in_their_own_columns(teacher_rows, sample_train):
    training_set = create("surface", teacher="any", augment=["swap_names"])._training_set(sample_train[:30])
    copies = [at for at, example in enumerate(training_set.corpus) if example.id.endswith("~swap_names")]
    assert len(copies) == len(teacher_rows.corpus)
    for at in copies:
        np.testing.assert_array_equal(training_set.targets[at], SURE_OF_A[[1, 0, 2]])


SURE_OF_NEITHER = np.array([0.04, 0.06, 0.9])
TAUGHT = (
    ("surface", {"rounds": 10, "bags": 1}, Label.A),
    ("anonymised", {"training": {"epochs": 10, "head_lr": 1e-2}, "copies": []}, Label.A),
    ("kernel_svm", {}, Label.A),
    # what they learn is how often a choice is right, and is the same for A and B
    *((name, {}, Label.NEITHER) for name in ("token_distance", "prior", "random")),
    ("transformer_multi", {"trees": 10}, Label.NEITHER),
)


@pytest.mark.parametrize(("name", "settings", "label"), TAUGHT, ids=[name for name, *_ in TAUGHT])
def test_a_member_comes_to_predict_what_its_teacher_does(
    name, settings, label, teacher_rows, sample_train, sample_test, tiny_encoder_folder
):
    if "encoder" in create(name).get_params():
        settings = settings | {"encoder": str(tiny_encoder_folder)}
    if label == Label.NEITHER:
        teacher_rows.probabilities[:] = SURE_OF_NEITHER
    rows = sample_train[:40]

    def mean(**more):
        return create(name, **settings, **more).fit(rows).predict_proba(sample_test)[:, label].mean()

    followed = mean(teacher="any")
    assert followed > mean() + 0.05
    assert followed > mean(teacher="any", gold_weight=1e6) + 0.05
    assert "gap-stage2" in create(name, teacher="any").contaminated_by
    assert "gap-stage2" not in create(name).contaminated_by
