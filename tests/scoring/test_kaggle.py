"""Submission through a stand-in for Kaggle's command line."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gapstack.corpus.writers import write_gap, write_submission
from gapstack.errors import DataError, ExtraError, RemoteError
from gapstack.scoring.kaggle import submit
from tests.commands import gap


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
