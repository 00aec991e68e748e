"""Prediction in chunks: the same as at once, whole or not at all, nothing computed twice and nothing stale reused."""

import os
from importlib import import_module
from threading import Thread

import pytest

from gapstack import resumable
from gapstack.data.cells import Quarantine
from gapstack.data.gap_files import read_gap, write_gap, write_submission
from gapstack.errors import DataError, MemberError, MismatchError
from gapstack.files import locked
from gapstack.members import create
from gapstack.records import read_sealed, seal
from gapstack.runs.predict import predict_file
from gapstack.runs.predictors import FittedRun
from tests.runs.conftest import predict

MODULE = import_module("gapstack.runs.predict")


@pytest.fixture(autouse=True)
def chunks_of_sixteen(monkeypatch):
    monkeypatch.setattr(MODULE, "CHUNK", 16)


@pytest.fixture
def predicted(monkeypatch):
    """First id of each chunk that was predicted; ``predicted.stop`` chunks are, before a kill."""

    class Predicted(list):
        stop = 99

    chunks, predict_proba = Predicted(), FittedRun.predict_proba

    def counted(self, rows):
        if len(chunks) == chunks.stop:
            raise KeyboardInterrupt
        chunks.append(rows.ids[0])
        return predict_proba(self, rows)

    monkeypatch.setattr(FittedRun, "predict_proba", counted)
    return chunks


@pytest.fixture
def fitted(finished):
    return FittedRun(finished.folder)


@pytest.fixture
def files(tmp_path, sample_train):
    """Forty rows to predict, three chunks of them, and the output."""
    write_gap(tmp_path / "rows.tsv", sample_train[:40].unlabelled())
    return tmp_path / "rows.tsv", tmp_path / "answers.csv"


def at_once(folder, source, tmp_path, suffix="", label="") -> bytes:
    rows, path = read_gap(source), tmp_path / f"at_once.csv{suffix}"
    write_submission(path, rows.ids, predict(folder, rows, label))
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_chunks_give_the_same_bytes_as_all_rows_at_once(finished, fitted, files, tmp_path, predicted, suffix):
    source, output = files[0], files[1].with_name(files[1].name + suffix)
    assert predict_file(fitted, source, output) == 40
    assert len(predicted) == 3
    assert {path.name for path in tmp_path.iterdir()} == {source.name, output.name}
    assert output.read_bytes() == at_once(finished.folder, source, tmp_path, suffix)


@pytest.mark.slow
def test_workers_give_the_same_bytes(finished, files, tmp_path):
    assert predict_file(str(finished.folder.root), *files, workers=2) == 40
    assert files[1].read_bytes() == at_once(finished.folder, files[0], tmp_path)


@pytest.mark.parametrize("change", ["nothing", "rows", "label", "run", "damage"])
def test_a_killed_call_continues_with_what_is_still_valid(change, copy, files, tmp_path, predicted):
    source, output = files
    ids, label, again = read_gap(source).ids, "", {"nothing": 1, "rows": 2, "damage": 2}.get(change, 3)
    predicted.stop = 2
    with pytest.raises(KeyboardInterrupt):
        predict_file(FittedRun(copy), source, output)
    assert (list(predicted), output.exists()) == ([ids[0], ids[16]], False)
    predicted.clear()
    predicted.stop = 99
    if change == "rows":  # of the second chunk
        rows = read_gap(source)
        write_gap(source, rows.take([*range(16), 17, 16, *range(18, 40)]))
    elif change == "label":
        label = "surface"
    elif change == "run":
        model = next(copy.member("surface").glob("fold-1/member/*.txt"))
        model.write_text(model.read_text().replace("shrinkage=0.1", "shrinkage=0.2"))
        for record in (model.parent / "member.json", model.parents[1] / "job.json"):
            seal(record, read_sealed(record, ()), with_files=True)
    elif change == "damage":
        part = next((tmp_path / "answers.csv.partial").glob("*.chunk"))
        part.write_text(part.read_text().replace("0.3", "0.4", 1))
    predict_file(FittedRun(copy, label), source, output)
    assert len(predicted) == again
    assert output.read_bytes() == at_once(copy, source, tmp_path, label=label)


def test_a_killed_call_reuses_nothing_of_a_member_that_was_fitted_again(
    files, tmp_path, sample_train, monkeypatch
):
    stored = resumable.store

    def dying(*arguments):
        stored(*arguments)
        raise KeyboardInterrupt

    create("prior").fit(sample_train[:60]).save(tmp_path / "member")
    monkeypatch.setattr(resumable, "store", dying)
    with pytest.raises(KeyboardInterrupt):
        predict_file(str(tmp_path / "member"), *files)
    monkeypatch.setattr(resumable, "store", stored)
    other = create("prior").fit(sample_train[60:])
    other.save(tmp_path / "member")
    predict_file(str(tmp_path / "member"), *files)
    rows = read_gap(files[0])
    write_submission(tmp_path / "expected.csv", rows.ids, other.predict_proba(rows))
    assert files[1].read_bytes() == (tmp_path / "expected.csv").read_bytes()


def test_bad_rows_are_refused_before_any_work_or_set_aside_once(fitted, files, tmp_path, predicted):
    source, output = files
    with pytest.raises(MemberError, match="give the name"):
        predict_file(fitted, *files, workers=2)
    with (
        locked(output.with_name("answers.csv.partial")),
        pytest.raises(MismatchError, match=r"another process .*answers\.csv\.partial"),
    ):
        predict_file(fitted, source, output)
    with source.open("a") as stream:
        stream.write(source.read_text().splitlines()[1] + "\n")
    with pytest.raises(DataError, match=r"rows.tsv, line 42, column ID: id .* first on line 2"):
        predict_file(fitted, source, output)
    assert (list(predicted), output.exists()) == ([], False)
    quarantine = Quarantine(tmp_path / "aside")
    assert predict_file(fitted, source, output, quarantine=quarantine) == 40
    assert (len(quarantine.problems), len(quarantine.paths)) == (1, 1)


def test_a_pipe_is_read_once(finished, fitted, files, tmp_path):
    source, output = files
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(source.read_bytes()), daemon=True)
    writer.start()
    assert predict_file(fitted, pipe, output) == 40
    writer.join()
    assert output.read_bytes() == at_once(finished.folder, source, tmp_path)
