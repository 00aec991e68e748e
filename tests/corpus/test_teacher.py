"""Soft labels from submission files."""

import numpy as np
import pytest

from gapstack.corpus import Corpus, sources, teacher
from gapstack.corpus.writers import write_gap, write_submission
from gapstack.errors import DataError


@pytest.fixture
def rows(sample_test, monkeypatch, tmp_path) -> Corpus:
    """Rows that stand for stage 2."""
    found = sample_test[:20].unlabelled()
    monkeypatch.setattr(teacher.sources, "stage2", lambda data=None: found)
    monkeypatch.setattr(teacher.sources, "find", lambda name, data=None: None)
    write_gap(tmp_path / "stage2.tsv", found)
    monkeypatch.setattr(teacher.sources, "require", lambda name, data=None: tmp_path / "stage2.tsv")
    return found


@pytest.fixture
def folder(rows, tmp_path):
    """Two submissions for them, in different orders."""
    sure = np.tile([0.8, 0.1, 0.1], (20, 1))
    write_submission(tmp_path / "one.csv", rows.ids, sure)
    write_submission(tmp_path / "two.csv", rows.ids[::-1], sure[:, [1, 0, 2]])
    return tmp_path


def test_a_teacher_is_the_mean_of_its_files(rows, folder):
    taught = teacher.load_teacher(str(folder))
    assert taught.corpus.ids == rows.ids
    assert taught.teachers == ("one.csv", "two.csv")
    np.testing.assert_allclose(taught.probabilities, np.tile([0.45, 0.45, 0.1], (20, 1)))


def test_rows_that_a_file_leaves_out_are_left_out(rows, folder):
    few = folder / "few.csv"
    write_submission(few, rows.ids[3:5], np.full((2, 3), 1 / 3))
    assert teacher.load_teacher([str(folder / "one.csv"), str(few)]).corpus.ids == rows.ids[3:5]


def test_answers_to_other_rows_teach_nothing(rows, folder):
    write_submission(folder / "one.csv", ["other"], np.full((1, 3), 1 / 3))
    with pytest.raises(DataError, match=r"no row of stage 2 is in all of one.csv, two.csv"):
        teacher.load_teacher(str(folder))


def test_a_folder_without_submissions_is_refused(rows, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no submission here.*expected files"):
        teacher.load_teacher(str(tmp_path / "empty"))


def test_the_published_files_teach_what_is_not_in_gap_test(gap_folder):
    taught = teacher.load_teacher(teacher.STAGE2)
    assert len(taught.teachers) == 7
    # of the 11,599 rows that were not scored; what is missing shares passages with GAP, one a whole text
    assert len(taught.corpus) == 11_584
    assert not set(taught.corpus.texts) & set(sources.gap_split("test").texts)
    np.testing.assert_allclose(taught.probabilities.sum(axis=1), 1)
