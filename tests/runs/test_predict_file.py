"""A file in chunks: the same as at once, whole or not at all, nothing done twice and nothing taken from elsewhere."""

import os
import shutil
from functools import lru_cache
from importlib import import_module
from threading import Thread

import pytest

from gapstack.data.cells import Quarantine
from gapstack.data.gap_files import read_gap, write_gap, write_submission
from gapstack.errors import DataError, MemberError, MismatchError
from gapstack.members import create
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.folder import locked
from gapstack.runs.predict import predict, predict_file
from gapstack.runs.predictors import FittedRun
from gapstack.sealed import read_sealed, seal

RECIPE = {
    "name": "tiny",
    "folds": 3,
    "members": [{"name": "prior"}, {"name": "surface", "settings": {"rounds": 5, "bags": 1}}],
    "stackers": [{"name": "logistic"}],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, sample_train, sample_test):
    root = tmp_path_factory.mktemp("home")
    return run(Recipe.parse(RECIPE, "test"), sample_train[:90], sample_test, root=root).folder


@pytest.fixture(autouse=True)
def chunks_of_sixteen(monkeypatch):
    monkeypatch.setattr(import_module("gapstack.runs.predict"), "CHUNK", 16)


@pytest.fixture
def asked(monkeypatch):
    """Ids of the first row of each chunk that was answered; ``asked.stop`` is how many may be, before a kill."""

    class Asked(list):
        stop = 99

    heard, predict_proba = Asked(), FittedRun.predict_proba

    def counted(self, rows):
        if len(heard) == heard.stop:
            raise KeyboardInterrupt
        heard.append(rows.ids[0])
        return predict_proba(self, rows)

    monkeypatch.setattr(FittedRun, "predict_proba", counted)
    return heard


@pytest.fixture
def files(tmp_path, sample_train):
    """Forty rows to answer, three chunks of them, and where the answers go."""
    write_gap(tmp_path / "rows.tsv", sample_train[:40].unlabelled())
    return tmp_path / "rows.tsv", tmp_path / "answers.csv"


def undisturbed(finished, source, tmp_path):
    rows = read_gap(source)
    write_submission(tmp_path / "at_once.csv", rows.ids, predict(finished, rows))
    return (tmp_path / "at_once.csv").read_bytes()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_chunks_give_the_same_bytes_as_all_rows_at_once(finished, files, tmp_path, asked, suffix):
    source, output = files[0], files[1].with_name(files[1].name + suffix)
    assert predict_file(FittedRun(finished, keep=True), source, output) == 40
    assert len(asked) == 3
    rows = read_gap(source)
    write_submission(tmp_path / f"at_once.csv{suffix}", rows.ids, predict(finished, rows))
    assert output.read_bytes() == (tmp_path / f"at_once.csv{suffix}").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {source.name, output.name, f"at_once.csv{suffix}"}


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
def test_workers_give_the_same_bytes(finished, files, tmp_path, executor):
    source, output = files
    if executor == "ray":
        pytest.importorskip("ray")
    name, before = str(finished.root), undisturbed(finished, source, tmp_path)
    assert predict_file(name, source, output, workers=2, executor=executor) == 40
    assert output.read_bytes() == before


def test_a_saved_member_that_has_learned_something_else_is_asked_again(
    files, tmp_path, sample_train, monkeypatch
):
    """A killed call, the member fitted on other rows, the call repeated: no row comes from the old member."""
    source, output = files
    stored = import_module("gapstack.runs.predict").store
    chunks = []

    def dying(*arguments):
        if chunks:
            raise KeyboardInterrupt
        chunks.append(arguments)
        return stored(*arguments)

    create("prior").fit(sample_train[:60]).save(tmp_path / "member")
    monkeypatch.setattr("gapstack.runs.predict.store", dying)
    with pytest.raises(KeyboardInterrupt):
        predict_file(str(tmp_path / "member"), source, output)
    monkeypatch.setattr("gapstack.runs.predict.store", stored)
    other = create("prior").fit(sample_train[60:])
    other.save(tmp_path / "member")
    predict_file(str(tmp_path / "member"), source, output)
    rows = read_gap(source)
    write_submission(tmp_path / "expected.csv", rows.ids, other.predict_proba(rows))
    assert output.read_bytes() == (tmp_path / "expected.csv").read_bytes()


def test_workers_need_a_name(finished, files):
    with pytest.raises(MemberError, match="give the name"):
        predict_file(FittedRun(finished), *files, workers=2)


def test_a_killed_call_goes_on_where_it_was(finished, files, tmp_path, asked):
    source, output = files
    asked.stop = 2
    with pytest.raises(KeyboardInterrupt):
        predict_file(FittedRun(finished, keep=True), source, output)
    assert not output.exists()
    asked.stop = 99
    predict_file(FittedRun(finished, keep=True), source, output)
    ids = read_gap(source).ids
    assert asked == [ids[0], ids[16], ids[32]], "no chunk was answered twice"
    assert output.read_bytes() == undisturbed(finished, source, tmp_path)


@pytest.mark.parametrize("change", ["rows", "label", "run", "damage"])
def test_what_is_no_longer_true_is_not_taken_up(change, finished, files, tmp_path, asked, sample_train):
    source, output = files
    folder, label = RunFolder(shutil.copytree(finished.root, tmp_path / "copy")), ""
    asked.stop = 2
    with pytest.raises(KeyboardInterrupt):
        predict_file(FittedRun(folder, keep=True), source, output)
    asked.clear()
    asked.stop = 99
    again = 3
    if change == "rows":  # of the second chunk
        rows = sample_train[:40]
        write_gap(source, rows.take([*range(16), 17, 16, *range(18, 40)]).unlabelled())
        again = 2
    elif change == "label":
        label = "surface"
    elif change == "run":
        model = next(folder.member("surface").glob("fold-1/member/*.txt"))
        model.write_text(model.read_text().replace("shrinkage=0.1", "shrinkage=0.2"))
        for record in (model.parent / "member.json", model.parents[1] / "job.json"):
            seal(record, read_sealed(record, ()), beside=True)
    else:
        part = next((tmp_path / "answers.csv.partial").glob("*.chunk"))
        part.write_text(part.read_text().replace("0.3", "0.4", 1))
        again = 2
    predict_file(FittedRun(folder, [label] if label else (), keep=True), source, output)
    assert len(asked) == again
    rows = read_gap(source)
    write_submission(tmp_path / "expected.csv", rows.ids, predict(folder, rows, label))
    assert output.read_bytes() == (tmp_path / "expected.csv").read_bytes()


def test_a_bad_row_at_the_end_is_refused_before_any_work(finished, files, asked):
    source, output = files
    with source.open("a") as stream:
        stream.write(source.read_text().splitlines()[1] + "\n")
    with pytest.raises(DataError, match=r"rows.tsv, line 42, column ID: id .* occurs again, first on line 2"):
        predict_file(FittedRun(finished, keep=True), source, output)
    assert (list(asked), output.exists()) == ([], False)


def test_bad_rows_are_set_aside_once(finished, files, tmp_path, asked):
    source, output = files
    with source.open("a") as stream:
        stream.write("broken\n")
    quarantine = Quarantine(tmp_path / "aside")
    assert predict_file(FittedRun(finished, keep=True), source, output, quarantine=quarantine) == 40
    assert (quarantine.count, len(quarantine.paths)) == (1, 1)


def test_a_pipe_is_read_once(finished, files, tmp_path):
    source, output = files
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(source.read_bytes()), daemon=True)
    writer.start()
    assert predict_file(FittedRun(finished, keep=True), pipe, output) == 40
    writer.join()
    assert output.read_bytes() == undisturbed(finished, source, tmp_path)


def test_two_processes_do_not_write_one_output(finished, files, asked):
    source, output = files
    with (
        locked(output.with_name("answers.csv.partial")),
        pytest.raises(MismatchError, match=r"another process is working on .*answers\.csv\.partial"),
    ):
        predict_file(FittedRun(finished, keep=True), source, output)
    assert not asked


def test_members_are_kept_as_far_as_there_is_room(finished, sample_test, monkeypatch):
    module = import_module("gapstack.runs.predictors")
    loaded, load = [], module.store.load
    monkeypatch.setattr(module.store, "load", lambda place: loaded.append(place) or load(place))
    monkeypatch.setattr(module, "KEPT_BYTES", 5_000)  # three priors, no trees
    fitted = FittedRun(finished, keep=True)
    for rows in (sample_test, sample_test[1:]):
        fitted.predict_proba(rows)
    assert [path.parents[1].name for path in loaded] == ["prior"] * 3 + ["surface"] * 6


def test_a_rows_views_are_computed_once_however_few_are_remembered(finished, files, monkeypatch):
    """Of a file longer than the caches, each fold would throw out what the next one needs."""
    module, computed = import_module("gapstack.features.surface"), []
    compute = module._values.__wrapped__
    counted = lru_cache(maxsize=16)(lambda example: computed.append(example.id) or compute(example))
    monkeypatch.setattr(module, "_values", counted)
    source, output = files
    predict_file(FittedRun(finished, keep=True), source, output)
    assert computed == read_gap(source).ids
