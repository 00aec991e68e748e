"""Soft labels from submission files."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, gap_data, sources, teacher
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataError


@pytest.fixture
def stage2(monkeypatch, tmp_path):
    """Makes some rows stage 2."""

    def put(rows):
        (tmp_path / "data").mkdir(exist_ok=True)
        write_gap(tmp_path / "data" / "stage2.tsv", Corpus(rows))

    monkeypatch.setattr(sources, "find", lambda name: None)
    monkeypatch.setattr(sources, "require", lambda name: tmp_path / "data" / "stage2.tsv")
    return put


@pytest.fixture
def rows(sample_test, stage2) -> Corpus:
    found = sample_test[:20].unlabelled()
    stage2(found)
    return found


@pytest.fixture
def folder(rows, tmp_path):
    """Two submissions for them, in different orders."""
    sure = np.tile([0.8, 0.1, 0.1], (20, 1))
    write_submission(tmp_path / "one.csv", rows.ids, sure)
    write_submission(tmp_path / "two.csv", rows.ids[::-1], sure[:, [1, 0, 2]])
    return tmp_path


def test_a_teacher_is_the_mean_of_its_files(rows, folder):
    soft_labels = teacher.load_teacher(str(folder))
    assert soft_labels.corpus.ids == rows.ids
    np.testing.assert_allclose(soft_labels.probabilities, np.tile([0.45, 0.45, 0.1], (20, 1)))


def test_rows_that_a_file_leaves_out_are_left_out(rows, folder):
    few = folder / "few.csv"
    write_submission(few, rows.ids[3:5], np.full((2, 3), 1 / 3))
    assert teacher.load_teacher([str(folder / "one.csv"), str(few)]).corpus.ids == rows.ids[3:5]


def test_rows_of_a_page_or_passage_that_was_scored_are_left_out(rows, folder, stage2):
    scored, same_page, same_passage, *others = rows
    same_page = replace(same_page, url=scored.url)
    same_passage = replace(scored, id=same_passage.id, url=same_passage.url)
    stage2([scored, same_page, same_passage, *others])
    file = folder / "unscored.csv"
    write_submission(file, rows.ids[1:], np.full((19, 3), 1 / 3))
    clean = [row.id for row in others if row.url != scored.url]
    assert teacher.load_teacher(str(file)).corpus.ids == clean


def test_a_folder_with_rows_of_its_own_joins_in(rows, folder, sample_test, stage2):
    scored, unanswered, *own = sample_test[20:30].unlabelled()
    stage2([*rows, scored])
    (folder / "own").mkdir()
    same_page = replace(own[0], id="same-page", url=scored.url)
    mined = Corpus([same_page, unanswered, *own])
    write_gap(folder / "own" / teacher.ROWS, mined)
    answers = [row.id for row in mined if row is not unanswered]
    write_submission(folder / "own" / "answers.csv", answers, np.tile([0.2, 0.2, 0.6], (len(answers), 1)))
    soft_labels = teacher.load_teacher([str(folder), str(folder / "own")])
    clean = [row.id for row in own if row.url != scored.url]
    assert soft_labels.corpus.ids == [*rows.ids, *clean]
    np.testing.assert_allclose(
        soft_labels.probabilities[len(rows) :], np.tile([0.2, 0.2, 0.6], (len(clean), 1))
    )
    assert teacher.load_teacher(str(folder / "own")).corpus.ids == [row.id for row in (same_page, *own)]


def test_what_teaches_nothing_is_refused(rows, folder, tmp_path):
    write_submission(folder / "one.csv", ["other"], np.full((1, 3), 1 / 3))
    with pytest.raises(DataError, match=r"no row of stage2 is in all of one.csv, two.csv"):
        teacher.load_teacher(str(folder))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no submission"):
        teacher.load_teacher(str(tmp_path / "empty"))


def test_the_published_files_teach_what_is_not_in_gap_test(gap_folder, tmp_path):
    (tmp_path / "gap_stage2").mkdir()
    write_gap(tmp_path / "gap_stage2" / "test_stage_2.tsv", gap_data.stage2()[:1500])
    files = sorted(sources.require("stage2-submissions").glob("*.csv*"))[:2]
    with sources.data_in(tmp_path):
        soft_labels = teacher.load_teacher([str(file) for file in files])
    assert len(soft_labels.corpus) > 1300  # the rest was scored, or shares passages with GAP
    assert not set(soft_labels.corpus.texts) & set(gap_data.gap_split("test").texts)
    np.testing.assert_allclose(soft_labels.probabilities.sum(axis=1), 1)
