"""Checks of submissions, and their upload through a stand-in for Kaggle's command line."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataError, ExtraError, RemoteError
from gapstack.evaluation import submit_check
from gapstack.evaluation.submission import submit
from tests.commands import gap

GOOD = "ID,A,B,NEITHER\nrow-0,0.8,0.1,0.1\nrow-1,0.1,0.8,0.1\nrow-2,0.2,0.2,0.6\n"


@pytest.fixture(scope="module")
def rows(make_corpus):
    return make_corpus([0, 1, 2], ["he", "she", "her"]).unlabelled()


@pytest.mark.parametrize(
    ("text", "fatal", "said"),
    [
        (GOOD, False, []),
        (GOOD.rstrip("\n"), False, []),
        (GOOD.replace("row-0", '"row-0"'), False, []),
        (GOOD.replace("0.8,0.1,0.1", "1,0,0"), False, ["no chance at all"]),
        (GOOD.replace("0.8,0.1,0.1", "8,1,1"), False, ["1 rows do not sum to 1"]),
        (GOOD.replace("row-0", "x").replace("row-1", "row-0").replace("x", "row-1"), False, ["order"]),
        (GOOD.replace("ID,A,B", "id,a,b"), True, ["header"]),
        (GOOD.replace("ID,A,B", "ID,B,A"), True, ["header"]),
        (GOOD.replace(",NEITHER", ""), True, ["header"]),
        (GOOD.split("\n", 1)[1], True, ["header"]),
        (GOOD.replace(",", "\t"), True, ["tab"]),
        ("\ufeff" + GOOD, True, ["byte-order mark"]),
        ("", True, ["is empty"]),
        (
            GOOD.replace("row-2", "row-1"),
            True,
            ["line 4", "1 id of made is not in the file (row-2)"],
        ),
        (
            GOOD.replace("row-2", "row-9"),
            True,
            ["not in the file (row-2)", "not in made (row-9)"],
        ),
        (GOOD.replace("0.6", "nan"), True, ["line 4, column NEITHER"]),
        (GOOD.replace("0.6", "-0.6"), True, ["line 4, column NEITHER"]),
        (GOOD.replace("0.6", "much"), True, ["line 4, column NEITHER"]),
        (GOOD.replace("0.6", ""), True, ["line 4, column NEITHER"]),
        (GOOD.replace("0.2,0.2,0.6", "0,0,0"), True, ["line 4"]),
        (GOOD.replace(",0.6", ""), True, ["line 4"]),
        (GOOD.replace("0.", "x"), True, ["line 2", "line 3", "line 4"]),
    ],
)
def test_kaggle_would_take_it_or_it_is_said_why_not(rows, tmp_path, text, fatal, said) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(text, encoding="utf-8", newline="\n")
    problems = submit_check(path, rows)
    assert [problem.fatal for problem in problems] == [fatal] * len(said)
    for problem, words in zip(problems, said, strict=True):
        assert words in str(problem)


def test_many_bad_rows_are_counted_not_listed(make_corpus, tmp_path) -> None:
    corpus = make_corpus([0] * 100, ["he"] * 100)
    path = tmp_path / "submission.csv"
    path.write_text("ID,A,B,NEITHER\n" + "".join(f"{one},a,1,1\n" for one in corpus.ids), encoding="utf-8")
    problems = submit_check(path, corpus)
    assert len(problems) <= 6
    assert any("100" in str(problem) or "95" in str(problem) for problem in problems)


def test_what_gapstack_writes_kaggle_takes(rows, tmp_path) -> None:
    path = tmp_path / "submission.csv"
    probabilities = np.random.default_rng(0).dirichlet([1, 1, 1], 3)
    write_submission(path, rows.ids, probabilities)
    assert submit_check(path, rows) == []


@dataclass
class Workplace:
    rows: Path
    submission: Path
    calls: Path

    @property
    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def workplace(tmp_path, monkeypatch, sample_test):
    """Rows, a submission for them, and a ``kaggle`` on PATH that writes down its arguments, one a line."""
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
    return Workplace(tmp_path / "rows.tsv", tmp_path / "mine.csv", tmp_path / "calls")


def test_a_sound_submission_reaches_kaggle_with_its_message(workplace):
    asked = ("--kaggle", "gap", "--against", workplace.rows, "--message", "two; words")
    assert "Successfully submitted" in gap("submit", workplace.submission, *asked)
    file = str(workplace.submission)
    assert workplace.asked == ["competitions", "submit", "-c", "gap", "-f", file, "-m", "two; words"]
    assert json.loads(gap("submit", file, *asked, "--json"))["answer"] == "Successfully submitted to GAP"


def test_what_kaggle_would_refuse_is_not_sent(workplace, sample_test):
    write_submission(workplace.submission, sample_test.ids[1:], [[0.5, 0.3, 0.2]] * (len(sample_test) - 1))
    with pytest.raises(DataError, match="would refuse it, so it was not sent"):
        gap("submit", workplace.submission, "--kaggle", "gap", "--against", workplace.rows)
    assert workplace.asked == []


def test_what_kaggle_says_against_it_is_the_error(workplace):
    with pytest.raises(RemoteError, match="for closed: 403 - the competition is closed"):
        submit("closed", workplace.submission, "late")


def test_a_missing_command_names_the_extra(workplace, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ExtraError, match=r"pip install 'gapstack\[kaggle\]'"):
        submit("gap", workplace.submission, "")
