"""Measurements agree with the functions that compute them."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.comparison import compare, label_sets, measure, read_entries, record, tables
from gapstack.comparison.comparison_page import page
from gapstack.data import Corpus, Label
from gapstack.errors import DataError
from gapstack.evaluation import METRICS
from gapstack.evaluation.scores import SLICE_SCORES, score_predictions


def test_points_are_the_scores_and_the_best_by_logloss_comes_first(made, sample_test):
    assert made.names == ("good", "middling", "poor", "decided"), "decisions are last"
    for place, entry in enumerate(made.entries):
        scores = score_predictions(sample_test, entry.answers)
        expected = {m: np.nan if scores.value(m) is None else scores.value(m) for m in METRICS}
        found = {metric: made.main.points(metric)[place] for metric in METRICS}
        assert found == pytest.approx(expected, nan_ok=True)


def test_slices_cover_every_dimension(made):
    assert {part.dimension for part in made.slices} >= {
        *("rows", "gender", "form", "position", "distance", "same sentence", "URL overlap", "name overlap"),
        *("length", "label", "difficulty"),
    }
    assert all(set(part.scores) == set(SLICE_SCORES) for part in made.slices)
    (whole,) = (part for part in made.slices if part.dimension == "rows")
    gap = made.main.points("f1_feminine")[0] - made.main.points("f1_masculine")[0]
    assert whole.scores["f1_overall_gap"][0, 0] == pytest.approx(gap)


def test_twins_are_worth_nothing_alone(made, sample_test):
    assert made.contribution.members == ("good", "middling", "poor")
    good = made.entries[0]
    both = measure([sample_test], [good, replace(good, name="twin")], replicates=100).contribution
    assert np.abs(both.left_out[:, 0]).max() < 1e-3


def test_rows_are_reweighted_so_that_both_genders_weigh_the_same(made, sample_test):
    weights = made.weights
    feminine, masculine = (weights[sample_test.genders == g].sum() for g in ("feminine", "masculine"))
    assert feminine == pytest.approx(masculine)
    assert (weights[sample_test.labels == Label.NEITHER] == 0).all()
    poor = made.names.index("poor")
    assert made.balanced.points("bias")[poor] != made.main.points("bias")[poor]


def test_without_masculine_rows_nothing_is_reweighted_and_a_note_says_why(made, sample_test):
    chosen = np.flatnonzero(sample_test.genders == "feminine")
    probabilities = made.entries[0].answers.probabilities[chosen]
    comparison = compare({"good": probabilities}, sample_test.take(chosen), replicates=100)
    assert comparison.weights is None
    assert comparison.balanced is None
    assert len([note for note in comparison.notes if "both genders" in note]) == 1


def test_wrong_labels_are_the_most_doubtful(files, sample_test):
    wrong = [4, 20, 33]
    turned = [
        replace(example, label=Label((example.label + 1) % 3)) if row in wrong else example
        for row, example in enumerate(sample_test)
    ]
    official = Corpus(turned, name="turned")
    corrected = Corpus(sample_test, label_set="liu", name="turned")
    rows, entries = read_entries([str(files / "good.csv")], official)
    found = measure([rows, corrected], entries, replicates=100)
    assert set(wrong) <= set(np.argsort(found.quality)[:8])
    assert found.scores["liu"].points("logloss")[0] < found.main.points("logloss")[0]


def test_decisions_alone_can_be_compared(made, sample_test):
    found = measure([sample_test], made.entries[-1:], replicates=100)
    assert (found.contribution, found.quality) == (None, None)
    expected = 1 - 1 / len(sample_test)  # its first row is TRUE twice
    assert found.main.points("accuracy")[0] == pytest.approx(expected)


def test_no_entries_and_other_rows_are_refused(made, sample_train, sample_test):
    with pytest.raises(DataError, match="nothing to compare"):
        measure([sample_test], [])
    with pytest.raises(DataError, match="different rows"):
        measure([sample_test, sample_train], made.entries)


def test_every_available_label_set_is_found(gap_splits, gap_folder, sample_test):
    assert [found.label_set for found in label_sets(sample_test)] == ["official"]
    found = label_sets(gap_splits["validation"], "liu")
    assert [each.label_set for each in found] == ["liu", "official", "kaggle", "attree", "majority"]
    assert len({each.fingerprint for each in found}) == 1


@pytest.mark.parametrize(("pages", "words"), [(1, "no intervals"), (12, "only 12 pages")])
def test_few_pages_have_a_warning_wherever_intervals_are_shown(made, sample_test, pages, words):
    numbers = iter(range(len(sample_test)))
    rows = sample_test.map(lambda row: replace(row, url=f"page-{next(numbers) % pages}"))
    few = measure([rows], made.entries, replicates=100)
    assert words in tables(few)[0].caption.lower()
    assert words in page(few).lower()
    ends = [line["low"] for kind in ("scores", "pairs", "slices") for line in record(few)[kind]]
    assert any(end is not None for end in ends) == (pages > 1)
