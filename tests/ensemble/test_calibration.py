"""Calibrators recover what was bent, treat A and B alike, and survive a file."""

import numpy as np
import pytest

from gapstack.ensemble import CALIBRATORS, create_calibrator
from gapstack.ensemble.stacker import SWAPPED
from gapstack.evaluation import log_loss
from gapstack.members.learned_state import read_state, write_state

N = 4000
RNG = np.random.default_rng(3)
TRUE = RNG.dirichlet([2, 2, 0.7], size=N)
DRAWN = np.array([RNG.choice(3, p=row) for row in TRUE])
GENDERS = np.array(["feminine", "masculine", "masculine", "neutral"])[np.arange(N) % 4]


def bent(power: float) -> np.ndarray:
    """The true probabilities, made too sure (power above 1) or too shy."""
    raised = np.clip(TRUE, 1e-9, None) ** power
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["temperature", "vector"])
@pytest.mark.parametrize("power", [0.5, 2.0])
def test_a_planted_temperature_is_found(kind, power):
    calibrator = create_calibrator(kind).fit(bent(power), DRAWN, GENDERS)
    assert np.exp(calibrator.values_[0]) == pytest.approx(1 / power, rel=0.1)
    assert log_loss(DRAWN, calibrator.apply(bent(power), GENDERS)) < log_loss(DRAWN, TRUE) + 0.003


@pytest.mark.parametrize("kind", list(CALIBRATORS)[1:])
def test_what_was_bent_becomes_better(kind):
    held = slice(2000, None)
    calibrator = create_calibrator(kind).fit(bent(3.0)[:2000], DRAWN[:2000], GENDERS[:2000])
    assert (
        log_loss(DRAWN[held], calibrator.apply(bent(3.0)[held], GENDERS[held]))
        < log_loss(DRAWN[held], bent(3.0)[held]) - 0.05
    )


@pytest.mark.parametrize("kind", CALIBRATORS)
def test_names_are_treated_alike_and_answers_stay_probabilities(kind, tmp_path):
    calibrator = create_calibrator(kind).fit(bent(2.0), DRAWN, GENDERS)
    answers = calibrator.apply(TRUE, GENDERS)
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    assert (answers > 0).all()
    np.testing.assert_allclose(calibrator.apply(TRUE[:, SWAPPED], GENDERS), answers[:, SWAPPED], atol=1e-12)
    write_state(calibrator.state(), tmp_path / "calibrator")
    again = create_calibrator(kind).restore(read_state(tmp_path / "calibrator"))
    np.testing.assert_array_equal(again.apply(TRUE, GENDERS), answers)


def test_each_gender_gets_its_own_temperature_and_any_other_the_common_one():
    """Masculine rows are too sure, feminine ones too shy: one temperature for both can do nothing about it."""
    feminine = GENDERS == "feminine"
    probabilities = np.where(feminine[:, None], bent(0.5), bent(2.0))
    own = create_calibrator("by_gender").fit(probabilities, DRAWN, GENDERS)
    common = create_calibrator("vector").fit(probabilities, DRAWN, GENDERS)
    for gender in ("feminine", "masculine"):
        rows = gender == GENDERS
        after = log_loss(DRAWN[rows], own.apply(probabilities[rows], GENDERS[rows]))
        assert after < log_loss(DRAWN[rows], TRUE[rows]) + 0.03  # drawn towards the common one
        assert after < log_loss(DRAWN[rows], common.apply(probabilities[rows], GENDERS[rows])) - 0.004
    np.testing.assert_array_equal(own.apply(TRUE, np.full(N, "neutral")), common.apply(TRUE, GENDERS))
