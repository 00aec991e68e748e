import numpy as np
import pytest

from gapstack.ensemble import create_stacker, fit_nested
from gapstack.ensemble.stacker import Stacker
from gapstack.errors import MemberError
from gapstack.evaluation import log_loss
from gapstack.members.member import Probabilities, State
from gapstack.types import BasePredictions
from tests.ensemble.test_stacker import BASE, LABELS

FOLDS = np.arange(len(LABELS)) % 5


class Memoriser(Stacker):
    """Recites the label of any row it has seen and knows nothing else: its honest score is that of a guess."""

    def _fit(self, base: BasePredictions, labels: np.ndarray, evidence=None) -> None:
        self.seen_ = {row.tobytes(): label for row, label in zip(base, labels, strict=True)}

    def _predict(self, base: BasePredictions, evidence=None) -> Probabilities:
        answers = np.full((len(base), 3), 1 / 3)
        for i, row in enumerate(base):
            if row.tobytes() in self.seen_:
                answers[i] = np.where(np.arange(3) == self.seen_[row.tobytes()], 0.98, 0.01)
        return answers

    def _state(self) -> State:
        return State()

    def _restore(self, state: State) -> None: ...


def test_no_row_is_scored_by_a_fit_that_saw_it():
    nested = fit_nested({"memoriser": Memoriser()}, BASE, LABELS, FOLDS)
    np.testing.assert_allclose(nested.out_of_fold, 1 / 3)
    assert log_loss(LABELS, nested.stacker.predict_proba(BASE)) < 0.1  # the final fit did see all


def test_memoriser_never_wins_against_an_honest_stacker():
    nested = fit_nested(
        {"memoriser": Memoriser(), "logistic": create_stacker("logistic")}, BASE, LABELS, FOLDS
    )
    assert nested.name == "logistic"
    assert nested.choices == (("logistic", "none"),) * 5
    assert nested.logloss["logistic", "none"] < nested.logloss["memoriser", "none"]


def test_choice_of_an_outer_fold_ignores_that_fold():
    labels = LABELS.copy()
    baseline = fit_nested({"logistic": create_stacker("logistic")}, BASE, labels, FOLDS)
    held = FOLDS == 2
    labels[held] = (labels[held] + 1) % 3  # lies about one fold
    lied = fit_nested({"logistic": create_stacker("logistic")}, BASE, labels, FOLDS)
    np.testing.assert_array_equal(lied.out_of_fold[held], baseline.out_of_fold[held])
    assert not np.allclose(lied.out_of_fold[~held], baseline.out_of_fold[~held])


class Shrunk(Memoriser):
    """Says what the first member says, drawn towards a guess: a temperature puts it right."""

    def _fit(self, base, labels, evidence=None): ...

    def _predict(self, base, evidence=None):
        flat = base[:, 0] ** 0.2
        return flat / flat.sum(axis=1, keepdims=True)


def test_calibration_is_chosen_where_it_helps_and_left_out_where_it_does_not():
    kinds = ("none", "temperature")
    nested = fit_nested({"shrunk": Shrunk()}, BASE, LABELS, FOLDS, calibrators=kinds)
    assert nested.calibration == "temperature"
    assert log_loss(LABELS, nested.out_of_fold) < nested.logloss["shrunk", "none"]
    calibrated = fit_nested(
        {"conditional": create_stacker("conditional")}, BASE, LABELS, FOLDS, calibrators=kinds
    )
    assert calibrated.calibration == "none"
    assert calibrated.errors == pytest.approx(
        {("conditional", "none"): 0, ("conditional", "temperature"): 0.00395}, abs=1e-4
    )


def test_of_two_that_do_alike_the_simpler_one_is_chosen():
    alike = {"first": create_stacker("logistic"), "second": create_stacker("logistic")}
    nested = fit_nested(alike, BASE, LABELS, FOLDS)
    assert nested.name == "first"
    assert min(nested.errors.values()) == 0


def test_pages_widen_the_error():
    twice = np.repeat(np.arange(len(LABELS) // 2), 2)
    kinds = {"conditional": create_stacker("conditional"), "simplex": create_stacker("simplex")}
    rows = np.repeat(np.arange(len(LABELS) // 2), 2)  # each row stands twice: half as many are independent
    alone = fit_nested(kinds, BASE[rows], LABELS[rows], twice % 5)
    by_page = fit_nested(kinds, BASE[rows], LABELS[rows], twice % 5, pages=twice)
    for kind, error in alone.errors.items():
        assert by_page.errors[kind] == pytest.approx(error * np.sqrt(2))


@pytest.mark.parametrize(
    ("candidates", "folds", "message"), [({}, 5, "at least one"), ({"m": Memoriser()}, 2, "3 folds")]
)
def test_impossible_nesting_is_refused(candidates, folds, message):
    with pytest.raises(MemberError, match=message):
        fit_nested(candidates, BASE, LABELS, np.arange(len(LABELS)) % folds)
