import numpy as np
import pytest

from gapstack.ensemble import create_stacker, fit_nested
from gapstack.ensemble.stackers import Opinions, Stacker
from gapstack.errors import MemberError
from gapstack.members.base import Probabilities, State
from gapstack.scoring import log_loss
from tests.ensemble.test_stackers import LABELS, OPINIONS

FOLDS = np.arange(len(LABELS)) % 5


class Memoriser(Stacker):
    """Recites the label of any row it has seen and knows nothing else: its honest score is that of a guess."""

    def _fit(self, opinions: Opinions, labels: np.ndarray) -> None:
        self.seen_ = {row.tobytes(): label for row, label in zip(opinions, labels, strict=True)}

    def _predict(self, opinions: Opinions) -> Probabilities:
        answers = np.full((len(opinions), 3), 1 / 3)
        for i, row in enumerate(opinions):
            if row.tobytes() in self.seen_:
                answers[i] = np.where(np.arange(3) == self.seen_[row.tobytes()], 0.98, 0.01)
        return answers

    def _state(self) -> State:
        return State()

    def _restore(self, state: State) -> None: ...


def test_no_row_is_scored_by_a_fit_that_saw_it():
    nested = fit_nested({"memoriser": Memoriser()}, OPINIONS, LABELS, FOLDS)
    np.testing.assert_allclose(nested.out_of_fold, 1 / 3)
    assert log_loss(LABELS, nested.stacker.predict_proba(OPINIONS)) < 0.1  # the final fit did see all


def test_memoriser_never_wins_against_an_honest_stacker():
    nested = fit_nested(
        {"memoriser": Memoriser(), "logistic": create_stacker("logistic")}, OPINIONS, LABELS, FOLDS
    )
    assert nested.name == "logistic"
    assert nested.choices == ("logistic",) * 5
    assert nested.logloss["logistic"] < nested.logloss["memoriser"]


def test_choice_of_an_outer_fold_ignores_that_fold():
    labels = LABELS.copy()
    baseline = fit_nested({"logistic": create_stacker("logistic")}, OPINIONS, labels, FOLDS)
    held = FOLDS == 2
    labels[held] = (labels[held] + 1) % 3  # lies about one fold
    lied = fit_nested({"logistic": create_stacker("logistic")}, OPINIONS, labels, FOLDS)
    np.testing.assert_array_equal(lied.out_of_fold[held], baseline.out_of_fold[held])
    assert not np.allclose(lied.out_of_fold[~held], baseline.out_of_fold[~held])


@pytest.mark.parametrize(
    ("candidates", "folds", "message"), [({}, 5, "at least one"), ({"m": Memoriser()}, 2, "3 folds")]
)
def test_impossible_nesting_is_refused(candidates, folds, message):
    with pytest.raises(MemberError, match=message):
        fit_nested(candidates, OPINIONS, LABELS, np.arange(len(LABELS)) % folds)
