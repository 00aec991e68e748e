import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.ensemble import create_stacker
from gapstack.ensemble.nested import fit_nested
from gapstack.ensemble.stacker import Stacker
from gapstack.errors import MemberError
from gapstack.evaluation import log_loss
from gapstack.types import BasePredictions, Probabilities
from tests.ensemble.test_stacker import BASE, LABELS

FOLDS = np.arange(len(LABELS)) % 5


def rows_with(labels: np.ndarray, pages: np.ndarray | None = None) -> Corpus:
    """Rows that only have labels, each on a page of its own by default."""
    pages = np.arange(len(labels)) if pages is None else pages
    spans = Span(0, 3), Span(4, 7), Span(8, 11)
    return Corpus(
        Example(str(n), "She Ann Eve", *spans, url=f"https://x/{page}", label=Label(label))
        for n, (label, page) in enumerate(zip(labels, pages, strict=True))
    )


ROWS = rows_with(LABELS)
LOGISTIC = {"logistic": create_stacker("logistic")}


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


def test_no_row_is_scored_by_a_fit_that_saw_it_and_the_final_fit_sees_all():
    nested = fit_nested({"memoriser": Memoriser()}, BASE, ROWS, FOLDS)
    np.testing.assert_allclose(nested.out_of_fold, 1 / 3)
    assert log_loss(LABELS, nested.fitted.predict_proba([BASE], ROWS)) < 0.1


def test_memoriser_never_wins_against_an_honest_stacker():
    nested = fit_nested({"memoriser": Memoriser(), **LOGISTIC}, BASE, ROWS, FOLDS)
    assert nested.name == "logistic"
    assert nested.choices == (("logistic", "none"),) * 5
    assert nested.logloss["logistic", "none"] < nested.logloss["memoriser", "none"]


def test_choice_of_an_outer_fold_ignores_that_fold():
    baseline = fit_nested(LOGISTIC, BASE, ROWS, FOLDS)
    held = FOLDS == 2
    wrong = np.where(held, (LABELS + 1) % 3, LABELS)
    found = fit_nested(LOGISTIC, BASE, rows_with(wrong), FOLDS)
    np.testing.assert_array_equal(found.out_of_fold[held], baseline.out_of_fold[held])
    assert not np.allclose(found.out_of_fold[~held], baseline.out_of_fold[~held])


class Shrunk(Memoriser):
    """Says what the first member says, drawn towards a guess: a temperature puts it right."""

    def _fit(self, base, labels, evidence=None): ...

    def _predict(self, base, evidence=None):
        flat = base[:, 0] ** 0.2
        return flat / flat.sum(axis=1, keepdims=True)


def test_calibration_is_chosen_where_it_helps_and_left_out_where_it_does_not():
    kinds = ("none", "temperature")
    nested = fit_nested({"shrunk": Shrunk()}, BASE, ROWS, FOLDS, kinds)
    assert nested.calibration == "temperature"
    assert log_loss(LABELS, nested.out_of_fold) < nested.logloss["shrunk", "none"]
    calibrated = fit_nested({"conditional": create_stacker("conditional")}, BASE, ROWS, FOLDS, kinds)
    assert calibrated.calibration == "none"
    assert calibrated.errors == pytest.approx(
        {("conditional", "none"): 0, ("conditional", "temperature"): 0.00395}, abs=1e-4
    )


def test_of_two_that_do_alike_the_simpler_one_is_chosen():
    nested = fit_nested({"first": LOGISTIC["logistic"], "second": LOGISTIC["logistic"]}, BASE, ROWS, FOLDS)
    assert nested.name == "first"
    assert min(nested.errors.values()) == 0


def test_each_candidate_alone_has_the_scores_of_a_choice_without_others():
    candidates = {"memoriser": Memoriser(), "conditional": create_stacker("conditional"), **LOGISTIC}
    found = fit_nested(candidates, BASE, ROWS, FOLDS, ("none", "temperature"), each=True)
    assert list(found.alone) == list(candidates)
    for name, stacker in candidates.items():
        expected = fit_nested({name: stacker}, BASE, ROWS, FOLDS, ("none", "temperature"))
        np.testing.assert_allclose(found.alone[name].out_of_fold, expected.out_of_fold, atol=1e-12)
        assert found.alone[name].calibration == expected.calibration


@pytest.mark.parametrize(
    ("candidates", "folds", "message"), [({}, 5, "at least one"), ({"m": Memoriser()}, 2, "3 folds")]
)
def test_impossible_nesting_is_refused(candidates, folds, message):
    with pytest.raises(MemberError, match=message):
        fit_nested(candidates, BASE, ROWS, np.arange(len(LABELS)) % folds)
