"""What is measured agrees with the scoring room asked directly; label errors that are planted are found."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.comparison import label_sets, measure, read_entries, record, tables
from gapstack.comparison.page import page
from gapstack.data import Corpus, Label
from gapstack.data.gap_files import read_submission, write_submission
from gapstack.errors import DataError
from gapstack.evaluation import METRICS
from gapstack.evaluation.scores import score_predictions
from gapstack.evaluation.slices import SLICE_SCORES


def test_the_best_by_logloss_is_first_and_decisions_are_last(made):
    assert made.names == ("good", "middling", "poor", "decided")


def test_points_are_the_scores(made, sample_test):
    for place, entry in enumerate(made.entries):
        expected = score_predictions(sample_test, entry.answers)
        for metric in METRICS:
            value = expected.value(metric)
            assert made.main.points(metric)[place] == pytest.approx(
                np.nan if value is None else value, nan_ok=True
            )


def test_slices_cover_what_the_issue_names(made):
    asked = {
        "gender",
        "form",
        "position",
        "distance",
        "same sentence",
        "URL overlap",
        "name overlap",
        "length",
    }
    assert asked | {"rows", "label", "difficulty"} <= {part.dimension for part in made.slices}
    assert all(set(part.scores) == set(SLICE_SCORES) for part in made.slices)
    (whole,) = (part for part in made.slices if part.dimension == "rows")
    assert whole.scores["f1_gap"][0, 0] == pytest.approx(
        made.main.points("f1_feminine")[0] - made.main.points("f1_masculine")[0]
    )


def test_shapley_values_add_up_and_twins_are_worth_nothing_alone(made, files, sample_test):
    assert made.contribution.members == ("good", "middling", "poor")
    assert made.contribution.shapley[:, 0].sum() == pytest.approx(
        made.contribution.prior - made.contribution.full
    )
    good = read_entries([str(files / "good.csv")], sample_test)[1][0]
    both = measure([sample_test], [good, replace(good, name="twin")], replicates=100)
    assert np.abs(both.contribution.left_out[:, 0]).max() < 1e-3
    assert both.contribution.shapley[0, 0] == pytest.approx(both.contribution.shapley[1, 0], abs=1e-3)


def test_reweighted_figures_are_those_of_rows_that_weigh_the_same_for_both_genders(made, sample_test):
    weighs = {
        gender: made.weights[sample_test.genders == gender].sum() for gender in ("feminine", "masculine")
    }
    assert weighs["feminine"] == pytest.approx(weighs["masculine"])
    assert (made.weights[sample_test.labels == Label.NEITHER] == 0).all()
    doubtful = made.names.index("poor")
    assert made.balanced.points("bias")[doubtful] != made.main.points("bias")[doubtful]


def test_without_masculine_rows_nothing_is_reweighted_and_a_note_says_why(files, sample_test, tmp_path):
    feminine = sample_test.take(np.flatnonzero(sample_test.genders == "feminine"))
    answers = read_submission(files / "good.csv")
    chosen = np.isin(answers.ids, feminine.ids)
    write_submission(tmp_path / "good.csv", feminine.ids, answers.probabilities[chosen])
    rows, entries = read_entries([str(tmp_path / "good.csv")], feminine)
    comparison = measure([rows], entries, replicates=100)
    assert comparison.weights is None
    assert comparison.balanced is None
    assert len([note for note in comparison.notes if "there are no rows of both genders" in note]) == 1


def test_wrong_labels_come_first_among_label_errors(files, sample_test):
    wrong = [4, 20, 33]
    turned = [
        replace(example, label=Label((example.label + 1) % 3)) if row in wrong else example
        for row, example in enumerate(sample_test)
    ]
    official = Corpus(turned, name="turned")
    corrected = Corpus(sample_test, label_set="liu", name="turned")
    rows, entries = read_entries([str(files / "good.csv")], official)
    found = measure([rows, corrected], entries, replicates=100)
    assert set(wrong) <= set(np.argsort(found.label_errors.quality)[:8].tolist())
    assert np.flatnonzero(found.label_errors.corrected).tolist() == wrong
    assert found.label_errors.precision == pytest.approx(3 / len(sample_test))
    assert found.scores["liu"].points("logloss")[0] < found.main.points("logloss")[0]


def test_decisions_alone_can_be_compared(files, sample_test):
    _, entries = read_entries([str(files / "decided.tsv")], sample_test)
    found = measure([sample_test], entries, replicates=100)
    assert found.contribution is None
    assert found.label_errors is None
    assert found.main.points("accuracy")[0] == pytest.approx(1 - 1 / len(sample_test)), (
        "its first row is TRUE twice"
    )


def test_nobody_and_other_rows_are_refused(made, sample_train, sample_test):
    with pytest.raises(DataError, match="nothing to compare"):
        measure([sample_test], [])
    with pytest.raises(DataError, match="different rows"):
        measure([sample_test, sample_train], made.entries)


def test_label_sets_at_hand(gap_splits, gap_folder, sample_test):
    assert [found.label_set for found in label_sets(sample_test)] == ["official"]
    found = label_sets(gap_splits["validation"], "liu", gap_folder)
    assert [each.label_set for each in found] == ["liu", "official", "kaggle", "attree", "majority"]
    assert len({each.fingerprint for each in found}) == 1


@pytest.mark.parametrize(("pages", "words"), [(1, "no intervals"), (12, "Only 12 pages")])
def test_few_pages_are_warned_of_wherever_intervals_are_shown(made, sample_test, pages, words):
    numbers = iter(range(len(sample_test)))
    rows = sample_test.map(lambda row: replace(row, url=f"page-{next(numbers) % pages}"))
    few = measure([rows], made.entries, replicates=100)
    assert words in tables(few)[0].caption.replace("There are no", "no")
    assert words.lower() in page(few)
    ends = [line["low"] for kind in ("scores", "pairs", "slices") for line in record(few)[kind]]
    assert any(end is not None for end in ends) == (pages > 1)
