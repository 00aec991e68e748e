"""Files of predictions: scores of real competitors, what each format accepts, and submissions to Kaggle."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from gapstack.data import Corpus, Label
from gapstack.data.gap_data import gap_split
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.data.sources import find
from gapstack.errors import DataError, ExtraError, RemoteError
from gapstack.evaluation import prediction_files, read_predictions, score, score_file, submit_check
from gapstack.evaluation.prediction_files import submit
from tests.commands import gap

FOLDERS = {"test": "gap_test", "development": "gap_dev"}
SUBMISSIONS, RESOLVERS = find("submissions"), find("resolvers")

needs_submissions = pytest.mark.skipif(SUBMISSIONS is None, reason="no real submissions in the data folder")
needs_resolvers = pytest.mark.skipif(RESOLVERS is None, reason="no resolver output in the data folder")


def golden() -> list[dict[str, str]]:
    """Rows of the golden file; without one, a single row that the mark skips with its reason."""
    if SUBMISSIONS is None:
        return [{"split": "none", "file": "none"}]
    with (SUBMISSIONS / "scores_official_labels.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def gold() -> dict[str, Corpus]:
    return {split: gap_split(split) for split in FOLDERS}


@needs_submissions
@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['split']}-{row['file']}")
def test_real_submission_scores_as_the_golden_file_says(gold, row) -> None:
    scores, notes = score_file(SUBMISSIONS / FOLDERS[row["split"]] / row["file"], gold[row["split"]])
    assert notes == ()
    assert scores.logloss == pytest.approx(float(row["logloss"]), abs=1e-6)
    for name in ("f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy"):
        assert scores.value(name) == pytest.approx(float(row[name]), abs=1e-4), name


@needs_resolvers
@pytest.mark.parametrize(("split", "f1"), [("development", 55.1), ("test", 54.2)])
def test_real_resolver_scores_on_its_covered_rows_as_known(gold, split, f1) -> None:
    stem = RESOLVERS / f"neuralcoref_hf_{split}"
    missing = set(stem.with_suffix(".missing.txt").read_text(encoding="utf-8").split())
    corpus = gold[split]
    covered = corpus.take(row for row, example in enumerate(corpus) if example.id not in missing)
    scores, notes = score_file(stem.with_suffix(".pred.tsv"), covered)
    assert scores.f1_overall == pytest.approx(f1, abs=0.05)
    assert len(notes) == 1
    assert "ignored" in notes[0]
    assert scores.double_true > 0
    assert scores.logloss is None


@pytest.fixture(scope="module")
def four(make_corpus) -> Corpus:
    """row-0 to row-3: he A, his B, she NEITHER, her A."""
    return make_corpus([0, 1, 2, 0], ["he", "his", "she", "her"])


SUBMISSION = "ID,A,B,NEITHER\nrow-0,8,1,1\nrow-1,.1,.8,.1\nrow-2,0,0,1\nrow-3,.4,.4,.2\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "predictions"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_submission_is_put_in_the_order_of_the_corpus(four, tmp_path) -> None:
    lines = SUBMISSION.splitlines(keepends=True)
    shuffled = "".join([lines[0], lines[3], lines[1], lines[4], lines[2]])
    predictions = read_predictions(written(tmp_path, shuffled), four)
    np.testing.assert_allclose(
        predictions.probabilities, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0, 0, 1], [0.4, 0.4, 0.2]]
    )
    assert predictions.decided.tolist() == [[True, False], [False, True], [False, False], [True, False]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SUBMISSION.replace("row-1,", "row-9,"), r"not in the file \(row-1\); .*not in made \(row-9\)"),
        (SUBMISSION + "row-9,1,1,1\n", "row-9"),
        (SUBMISSION + "row-1,1,1,1\n", "row-1"),
        (SUBMISSION.replace("row", "line"), "4 ids are not in the file"),
        ("line-0\tTRUE\tFALSE\n", "4 ids are not in the file"),
    ],
)
def test_ids_that_the_format_does_not_allow_are_refused(four, tmp_path, text, problem) -> None:
    with pytest.raises(DataError, match=problem):
        score_file(written(tmp_path, text), four)


def test_scorer_rows_count_as_the_official_scorer_counts_them(four, tmp_path) -> None:
    """row-0 right; row-1 first wrong, then right: the first counts; row-2 half silent; row-3 absent."""
    text = "row-1\tTRUE\tFALSE\nrow-1\tFALSE\tTRUE\nrow-0\ttrue\tFalse\nrow-2\t\tFALSE\nrow-9\tTRUE\tTRUE\n"
    scores, notes = score_file(written(tmp_path, text), four)
    masculine, feminine = scores.gap.masculine, scores.gap.feminine
    assert (masculine.tp, masculine.fp, masculine.fn, masculine.tn) == (1, 1, 1, 1)
    # row-2's silence on A is a false negative although gold is FALSE, and so are both of row-3's
    assert (feminine.tp, feminine.fp, feminine.fn, feminine.tn) == (0, 0, 3, 1)
    assert scores.bias is None
    for note, words in zip(notes, ("(row-3)", "(row-9)", "again", "empty"), strict=True):
        assert words in note


GOOD = "ID,A,B,NEITHER\nrow-0,0.8,0.1,0.1\nrow-1,0.1,0.8,0.1\nrow-2,0.2,0.2,0.6\n"


@pytest.mark.parametrize(
    ("text", "fatal", "problems"),
    [
        (GOOD, False, []),
        (GOOD.replace("row-0", '"row-0"'), False, []),
        (GOOD.replace("0.8,0.1,0.1", "1,0,0"), False, ["no chance at all"]),
        (GOOD.replace("0.8,0.1,0.1", "8,1,1"), False, ["1 row with a sum other than 1"]),
        (GOOD.replace("row-0", "x").replace("row-1", "row-0").replace("x", "row-1"), False, ["order"]),
        (GOOD.replace("ID,A,B", "id,a,b"), True, ["header"]),
        (GOOD.replace(",NEITHER", ""), True, ["header"]),
        (GOOD.replace(",", "\t"), True, ["header"]),
        (GOOD.replace("\n", "\r\n"), False, ["CRLF"]),
        ("\ufeff" + GOOD, True, ["byte-order mark"]),
        ("", True, ["is empty"]),
        (GOOD.replace("row-2", "row-1"), True, ["line 4"]),
        (GOOD.replace("row-2", "row-9"), True, ["not in the file (row-2)"]),
        (GOOD.replace("0.6", "nan"), True, ["line 4, column NEITHER"]),
    ],
)
def test_submissions_are_checked_as_kaggle_does(make_corpus, tmp_path, text, fatal, problems):
    found = submit_check(written(tmp_path, text), make_corpus([0, 1, 2], ["he", "she", "her"]).unlabelled())
    assert [problem.fatal for problem in found] == [fatal] * len(problems)
    for problem, words in zip(found, problems, strict=True):
        assert words in str(problem)


@pytest.fixture
def workplace(tmp_path, monkeypatch, sample_test):
    """A folder with rows, a submission, and a ``kaggle`` on PATH that writes down its arguments, one a line."""
    write_gap(tmp_path / "rows.tsv", sample_test)
    write_submission(tmp_path / "mine.csv", sample_test.ids, [[0.5, 0.3, 0.2]] * len(sample_test))
    command = tmp_path / "bin" / "kaggle"
    command.parent.mkdir()
    command.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$@" > '{tmp_path}/calls'
if [ "$4" = closed ]; then echo '403 - the competition is closed' >&2; exit 1; fi
echo 'Successfully submitted to GAP'
"""
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    return tmp_path


def test_a_sound_submission_reaches_kaggle_with_its_message(workplace):
    file = str(workplace / "mine.csv")
    rows = workplace / "rows.tsv"
    asked = ("submit", file, "--kaggle", "gap", "--against", rows, "--message", "two; words")
    assert json.loads(gap(*asked, "--json"))["answer"] == "Successfully submitted to GAP"
    calls = (workplace / "calls").read_text().splitlines()
    assert calls == ["competitions", "submit", "-c", "gap", "-f", file, "-m", "two; words"]


def test_a_submission_that_kaggle_would_refuse_is_not_sent(workplace, sample_test):
    write_submission(workplace / "mine.csv", sample_test.ids[1:], [[0.5, 0.3, 0.2]] * (len(sample_test) - 1))
    with pytest.raises(DataError, match="not sent"):
        gap("submit", workplace / "mine.csv", "--kaggle", "gap", "--against", workplace / "rows.tsv")
    assert not (workplace / "calls").exists()


def test_failures_of_kaggles_command_are_errors(workplace, monkeypatch):
    with pytest.raises(RemoteError, match="403 - the competition is closed"):
        submit("closed", workplace / "mine.csv", "late")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ExtraError, match=r"\[kaggle\]"):
        submit("gap", workplace / "mine.csv", "")


def test_parts_of_the_solution_are_scored_apart(tmp_path, sample_test, monkeypatch):
    monkeypatch.setattr(prediction_files, "stage2", sample_test.unlabelled)
    answers = {Label.A: "1,0,0", Label.B: "0,1,0", Label.NEITHER: "0,0,1"}
    usages = ["Public", "Private", "Ignored"]
    lines = [f"{row.id},{answers[row.label]},{usages[i % 3]}" for i, row in enumerate(sample_test)]
    (tmp_path / "solution.csv").write_text("\n".join(["ID,A,B,NEITHER,Usage", *lines]), encoding="utf-8")
    random = np.random.default_rng(0).dirichlet([1, 1, 1], len(sample_test))
    write_submission(tmp_path / "mine.csv", sample_test.ids, random)
    found = prediction_files.score_solution(tmp_path / "mine.csv", tmp_path / "solution.csv")
    assert {usage: len(rows) for usage, (rows, _) in found.items()} == {
        usage: len(range(start, len(sample_test), 3)) for start, usage in enumerate(usages[:2])
    }
    assert found["Public"][1].logloss == pytest.approx(score(sample_test[::3], random[::3]).logloss)
    printed = gap("score", tmp_path / "mine.csv", "--gold", tmp_path / "solution.csv")
    assert "mine.csv Public" in printed
    assert "mine.csv Private" in printed
