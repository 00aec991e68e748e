"""What every fine-tuned member can be asked for beyond its paper: other rows first, phases."""

import numpy as np
import pytest

from gapstack.data import Corpus, teacher
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.encoding.encoders import EncoderSize
from gapstack.errors import MemberError
from gapstack.members import create, fine_tuned, saved
from gapstack.members.probert import ProBERT
from gapstack.training import TrainingPlan, loop

QUICK = {"epochs": 1, "head_lr": 1e-2, "precision": "float32"}


@pytest.fixture
def stage2_rows(sample_test, monkeypatch, tmp_path) -> Corpus:
    """Rows that stand for stage 2, and a folder of two submissions for them."""
    rows = sample_test[:20].unlabelled()
    monkeypatch.setattr(teacher.sources, "find", lambda name: None)
    write_gap(tmp_path / "stage2.tsv", rows)
    monkeypatch.setattr(teacher.sources, "require", lambda name: tmp_path / "stage2.tsv")
    sure = np.tile([0.8, 0.1, 0.1], (20, 1))
    write_submission(tmp_path / "teachers" / "one.csv", rows.ids, sure)
    write_submission(tmp_path / "teachers" / "two.csv", rows.ids[::-1], sure[:, [1, 0, 2]])
    return rows


@pytest.mark.parametrize(
    ("parameters", "rate", "decay"),
    [(22e6, 1e-4, 1.0), (110e6, 3e-5, 0.9), (435e6, 1e-5, 0.9), (8e9, 1e-4, 1.0)],
)
def test_the_plan_follows_the_encoders_size_and_settings_come_last(parameters, rate, decay, monkeypatch):
    monkeypatch.setattr(fine_tuned, "encoder_size", lambda name: EncoderSize(12, int(parameters), 1, 32))
    (plan,) = create("probert").plans()
    assert (plan.encoder_lr, plan.layer_decay, plan.schedule.warmup) == (rate, decay, 0.1)
    head, whole = create("msnet").plans()
    assert (head.head_lr, whole.encoder_lr) == (1e-3, rate)
    (plan,) = create("probert", training={"encoder_lr": 5e-4}).plans()
    assert (plan.encoder_lr, plan.layer_decay) == (5e-4, decay)


def test_the_first_stage_is_trained_once_for_all_folds(
    stage2_rows, sample_train, sample_test, tiny_encoder_folder, tmp_path, monkeypatch
):
    trained = []
    monkeypatch.setattr(loop, "train", lambda *a, f=loop.train, **k: trained.append(1) or f(*a, **k))
    settings = {"encoder": str(tiny_encoder_folder), "max_pieces": 96, "training": QUICK}
    distilled = create(
        "probert", teacher=str(tmp_path / "teachers"), pretraining={"head_lr": 1e-2}, **settings
    )
    assert distilled.contaminated_by == ("gap-stage2",)
    answers = [
        distilled.fit(sample_train[part]).predict_proba(sample_test[20:])
        for part in (slice(16), slice(16, 32))
    ]
    assert len(trained) == 1
    assert np.abs(answers[0] - answers[1]).max() > 1e-3


class TwoPhases(ProBERT):
    """ProBERT whose head is trained first."""

    PLAN = (
        TrainingPlan(epochs=2, frozen=("encoder",), head_lr=1e-2, precision="float32"),
        TrainingPlan(epochs=1, encoder_lr=1e-4, precision="float32"),
    )


def test_a_phase_with_a_frozen_encoder_learns_what_the_whole_network_would(
    sample_train, sample_test, tiny_encoder_folder, monkeypatch
):
    rows = sample_train[:24]
    settings = {"encoder": str(tiny_encoder_folder), "max_pieces": 96}
    apart = TwoPhases(**settings).fit(rows)
    assert [len(history.evaluations) for history in apart.history_] == [2, 1]
    monkeypatch.setattr("gapstack.members.fine_tuned.freezes_encoder", lambda plan: False)
    whole = TwoPhases(**settings).fit(rows)
    # hidden states pass through float16
    np.testing.assert_allclose(apart.predict_proba(sample_test), whole.predict_proba(sample_test), atol=2e-3)
    with pytest.raises(MemberError, match="in 2 phases; training has 1"):
        TwoPhases(**settings, training=[QUICK]).fit(rows)


def test_int8_answers_nearly_the_same_row_by_row(sample_train, sample_test, tiny_encoder_folder, tmp_path):
    member = create("probert", encoder=str(tiny_encoder_folder), training=QUICK, max_pieces=96)
    whole = member.fit(sample_train[:8]).predict_proba(sample_test[:6])
    member.int8 = True
    saved.save(member, "probert", tmp_path / "int8")
    read = saved.load(tmp_path / "int8")
    rounded = read.predict_proba(sample_test[:6])
    assert 0 < np.abs(rounded - whole).max() < 0.02
    np.testing.assert_array_equal(read.predict_proba(sample_test[2:3]), rounded[2:3])
    read.int8 = False
    np.testing.assert_array_equal(read.predict_proba(sample_test[:6]), whole)


def test_int8_is_refused_where_no_encoder_learns(sample_train, tiny_encoder_folder):
    frozen = {**QUICK, "frozen": ["encoder"]}
    with pytest.raises(MemberError, match="int8"):
        create("probert", encoder=str(tiny_encoder_folder), training=frozen, int8=True).fit(sample_train[:8])


def test_adapters_alone_learn_are_stored_and_change_the_predictions(
    tiny_encoder_folder, sample_train, tmp_path
):
    member = create("probert", encoder=str(tiny_encoder_folder), lora=2, training={"epochs": 1, "frozen": []})
    rows = sample_train[:30]
    answers = member.fit(rows).predict_proba(rows)
    encoder = [name for name in member.arrays_ if name.startswith("encoder.")]
    assert encoder
    assert all(".lora_" in name for name in encoder)
    assert any(np.any(member.arrays_[name]) for name in encoder if ".lora_B." in name)
    saved.save(member, "probert", tmp_path / "member")
    np.testing.assert_allclose(saved.load(tmp_path / "member").predict_proba(rows), answers, atol=1e-6)
