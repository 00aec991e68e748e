from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.ensemble import STACKERS, create_stacker
from gapstack.ensemble.stacker import SWAPPED, Stacker
from gapstack.errors import MemberError, NotFittedError
from gapstack.evaluation import log_loss
from gapstack.features import Features
from gapstack.members.learned_state import read_state, write_state


def base_on(labels: np.ndarray, sharpness: list[float], seed: int = 0) -> np.ndarray:
    """Base predictions of members that know the label to the extent of their sharpness."""
    rng = np.random.default_rng(seed)
    truth = np.eye(3)[labels][:, None, :] * np.array(sharpness)[None, :, None]
    logits = truth + rng.normal(size=(len(labels), len(sharpness), 3))
    weights = np.exp(logits)
    return weights / weights.sum(axis=2, keepdims=True)


OF_NAMES = ("own", "gaps", "words", "before", "same_sentence", "title_share")
OF_ROWS = ("row", "feminine", "other_names", "cue_ab_path")


def evidence_on(labels: np.ndarray, seed: int = 0) -> Features:
    """One feature of each name that says how often it is right, one with gaps, a row's gender, and nothing else."""
    rng = np.random.default_rng(seed)
    own = np.eye(3)[labels][:, :2, None] + rng.normal(size=(len(labels), 2, 1))
    gaps = np.where(rng.random((len(labels), 2, 1)) < 0.5, np.nan, 1.0)
    rows = np.column_stack(
        [rng.normal(size=len(labels)), np.arange(len(labels)) % 2, *np.zeros((2, len(labels)))]
    )
    candidates = np.concatenate([own, gaps, np.zeros((len(labels), 2, 4))], axis=2)
    return Features(OF_NAMES, OF_ROWS, candidates, rows)


LABELS = np.random.default_rng(7).choice(3, size=600, p=[0.45, 0.45, 0.1])
BASE = base_on(LABELS, [2.0, 1.0, 0.0])
EVIDENCE = evidence_on(LABELS)
TRAIN, HELD = slice(0, 400), slice(400, 600)


QUICK = {
    "mean": {"weights": [9, 1, 0], "of": "logits"},
    "dense": {"steps": 60, "seeds": 1},
    "pool": {"steps": 80, "seeds": 1},
    "evidence": {"rounds": 40},
}


@cache
def fitted(kind: str) -> Stacker:
    stacker = create_stacker(kind, **QUICK.get(kind, {}))
    return stacker.fit(BASE[TRAIN], LABELS[TRAIN], EVIDENCE.take(np.arange(400)))


HELD_EVIDENCE = EVIDENCE.take(np.arange(400, 600))


@pytest.mark.parametrize("kind", STACKERS)
class TestEveryKind:
    def test_beats_its_best_member_on_fresh_rows(self, kind):
        best = min(log_loss(LABELS[HELD], BASE[HELD, m]) for m in range(3))
        assert log_loss(LABELS[HELD], fitted(kind).predict_proba(BASE[HELD], HELD_EVIDENCE)) < best + 1e-5

    def test_swapping_names_swaps_columns(self, kind):
        stacker = fitted(kind)
        straight = stacker.predict_proba(BASE[HELD], HELD_EVIDENCE)
        swapped = stacker.predict_proba(BASE[HELD][:, :, SWAPPED], HELD_EVIDENCE.swapped())
        np.testing.assert_allclose(swapped, straight[:, SWAPPED], atol=1e-12)

    def test_restores_to_identical_probabilities(self, kind, tmp_path):
        stacker = fitted(kind)
        write_state(stacker.state(), tmp_path / "stack")
        again = create_stacker(kind, **QUICK.get(kind, {})).restore(read_state(tmp_path / "stack"))
        np.testing.assert_array_equal(
            again.predict_proba(BASE[HELD], HELD_EVIDENCE), stacker.predict_proba(BASE[HELD], HELD_EVIDENCE)
        )

    def test_refuses_another_number_of_members_and_unfitted_use(self, kind):
        with pytest.raises(NotFittedError):
            create_stacker(kind).predict_proba(BASE, EVIDENCE)
        with pytest.raises(MemberError, match="3 members; base predictions are of 2"):
            fitted(kind).predict_proba(BASE[HELD][:, :2], HELD_EVIDENCE)

    def test_evidence_is_missed_where_it_is_read_and_ignored_elsewhere(self, kind):
        stacker = fitted(kind)
        if stacker.READS_EVIDENCE:
            with pytest.raises(MemberError, match="reads evidence of the rows, and none was given"):
                stacker.predict_proba(BASE[HELD])
        else:
            np.testing.assert_array_equal(
                stacker.predict_proba(BASE[HELD]), stacker.predict_proba(BASE[HELD], HELD_EVIDENCE)
            )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-15, 1e-3))
def test_logistic_answers_stay_probabilities_when_a_member_is_certain(seed, tiny):
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, size=60)
    base = base_on(labels, [1.0, 3.0], seed)
    base[:, 1] = np.where(np.eye(3)[rng.choice(3, size=60)] > 0, 1 - 2 * tiny, tiny)
    answers = create_stacker("logistic").fit(base, labels).predict_proba(base)
    assert np.isfinite(answers).all()
    assert (answers > 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1)


def test_pooling_starts_as_the_conditional_logit():
    conditional = fitted("conditional").predict_proba(BASE[HELD], HELD_EVIDENCE)
    rows = EVIDENCE.take(np.arange(400))
    still = create_stacker("pool", seeds=1, steps=1, rate=1e-9).fit(BASE[TRAIN], LABELS[TRAIN], rows)
    np.testing.assert_allclose(still.predict_proba(BASE[HELD], HELD_EVIDENCE), conditional, atol=1e-5)
