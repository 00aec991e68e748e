"""Files, runs and members become entries in order, under unique names, with warnings and learning curves."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from gapstack.comparison import read_entries
from gapstack.comparison.entries import learning_curves
from gapstack.data import Corpus
from gapstack.data.gap_files import read_submission, write_submission
from gapstack.errors import DataError, GapstackError
from gapstack.members.baselines import Prior
from gapstack.runs import predictors
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from tests.training.toys import write_log


@pytest.fixture(scope="module")
def home(sample_train, sample_test, tmp_path_factory):
    """A folder with two finished runs."""
    root = tmp_path_factory.mktemp("home")
    parts = (Part("prior", "prior"), Part("random", "random"))
    for name in ("one-sample", "two-sample"):
        recipe = Recipe(name, parts, (Part("logistic", "logistic"),), folds=3)
        run(recipe, sample_train, sample_test, root=root)
    return root


@pytest.fixture(autouse=True)
def _at_home(home, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(home))


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["one-sample"], ["prior", "random", "stack"]),
        (["one-sample:random", "one-sample:stack"], ["random", "stack"]),
        (["one-sample:prior", "two-sample:prior"], ["one-sample:prior", "two-sample:prior"]),
        (["{home}/models/two-sample:stack"], ["stack"]),
        (["{files}/poor.csv", "one-sample:prior", "{files}/decided.tsv"], ["poor", "prior", "decided"]),
    ],
)
def test_sources_become_entries_in_order(home, files, sample_test, sources, names):
    rows, entries = read_entries([each.format(home=home, files=files) for each in sources], sample_test)
    assert rows is sample_test
    assert [entry.name for entry in entries] == names


@pytest.mark.parametrize(("out_of_fold", "part"), [(False, "held out"), (True, "out of fold")])
def test_a_run_brings_its_own_rows(sample_train, sample_test, out_of_fold, part):
    rows, entries = read_entries(["one-sample"], out_of_fold=out_of_fold)
    assert rows.fingerprint == (sample_train if out_of_fold else sample_test).fingerprint
    assert {entry.part for entry in entries} == {part}
    warned = [entry.name for entry in entries if any("nested" in warning for warning in entry.warnings)]
    assert warned == (["stack"] if out_of_fold else [])


def test_probabilities_are_those_of_the_file_in_the_order_of_the_rows(files, sample_test):
    order = np.random.default_rng(0).permutation(len(sample_test))
    _, (entry,) = read_entries([str(files / "good.csv")], sample_test.take(order))
    expected = read_submission(files / "good.csv").probabilities[order]
    np.testing.assert_allclose(entry.answers.probabilities, expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["nowhere.csv"], "not a file, run or saved member"),
        (["nowhere:prior"], "not a file, run or saved member"),
        (["one-sample:nobody"], "nobody"),
        (["one-sample", "one-sample:prior"], "given twice"),
        (["{files}/good.csv"], "gold="),
    ],
)
def test_sources_that_cannot_be_compared_are_named(files, sources, message):
    with pytest.raises(GapstackError, match=message):
        read_entries([each.format(files=files) for each in sources])


def warnings_of(sources, *arguments, **options):
    return {entry.name: entry.warnings for entry in read_entries(sources, *arguments, **options)[1]}


def test_rows_that_a_files_maker_learned_from_have_a_warning(files, sample_train, sample_test):
    learned = Corpus([*sample_train, sample_test[3]], name="mine")
    found = warnings_of([str(files / "good.csv")], sample_test, trained_on=[learned])["good"]
    assert f"1 of {len(sample_test)} rows share ids with mine, on which its authors trained" in found


def test_a_run_that_learned_from_scored_rows_has_a_warning(sample_train, sample_test, monkeypatch):
    leaked = Corpus([*sample_train, replace(sample_test[0], id="other")], name="leaked")
    corpora = {"held out": sample_test, "out of fold": leaked}
    monkeypatch.setattr("gapstack.runs.stored_results.run_corpora", lambda folder: corpora)
    found = warnings_of(["one-sample"], sample_test)
    assert all(any("share texts with leaked" in line for line in lines) for lines in found.values())


def test_a_saved_member_predicts_the_rows(sample_train, sample_test, tmp_path, monkeypatch):
    prior = Prior().fit(sample_train)
    prior.save(tmp_path / "mine")
    monkeypatch.setattr(predictors, "shipped_model", lambda: tmp_path / "mine")
    monkeypatch.setattr(Prior, "contaminated_by", ("gap-test", "winobias"))
    rows = Corpus(replace(row, id=f"test-{number}") for number, row in enumerate(sample_test))
    _, (entry,) = read_entries(["default"], rows)
    assert entry.name == "mine"
    assert entry.answers.probabilities == pytest.approx(prior.predict_proba(rows))
    assert entry.warnings == ("learned from data that share rows with gap-test",)
    with pytest.raises(DataError, match="corpus="):
        read_entries(["default"])


def test_members_that_learned_from_the_scored_data_have_a_warning(sample_test, monkeypatch):
    monkeypatch.setattr("gapstack.comparison.entries.known_test_sets", lambda ids: ("gap-test",))
    monkeypatch.setattr(Prior, "contaminated_by", ("winobias", "gap-test"))
    found = warnings_of(["one-sample"], sample_test)
    warned = {
        name for name, lines in found.items() if any("share rows with gap-test" in line for line in lines)
    }
    assert warned == {"prior", "stack"}
    assert not any("winobias" in line for lines in found.values() for line in lines)


def test_twins_and_rows_true_for_both_names_have_a_warning(files, sample_test, tmp_path):
    ids, answers = read_submission(files / "good.csv")
    write_submission(tmp_path / "copy.csv", ids, answers)
    sources = [str(files / "good.csv"), str(files / "decided.tsv"), str(tmp_path / "copy.csv")]
    found = warnings_of(sources, sample_test)
    assert found["good"] == ()
    assert "the same answers as good" in found["copy"]
    assert any(line.startswith("TRUE for both names in 1 row") for line in found["decided"])


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder(tmp_path / "run")
    first, second = (folder.fold("probert", fold) / "training" for fold in (0, 1))
    write_log(first / "abc", (0, 5, 0.9, 0.8), (0, 10, 0.7, 0.6), (1, 4, 0.5, 0.55))
    write_log(second / "abc", (0, 5, 1.0, None))
    write_log(second / "abd", (0, 5, 0.8, None))
    return folder


def test_each_training_of_a_fold_has_a_curve_with_phases_in_order(folder):
    curves = learning_curves(folder, "probert")
    assert [curve.name for curve in curves] == ["fold 0", "fold 1, training 1", "fold 1, training 2"]
    assert curves[0].updates.tolist() == [5, 10, 14]
    assert curves[0].training.tolist() == [0.9, 0.7, 0.5]
    assert curves[0].validation.tolist() == [0.8, 0.6, 0.55]
    assert np.isnan(curves[1].validation).all()
    assert learning_curves(folder, "surface") == ()


def test_a_damaged_curve_is_left_out_with_a_warning(folder, caplog):
    path = next(folder.fold("probert", 0).rglob("history.jsonl"))
    path.write_text('{"phase": 0}\n')
    with caplog.at_level(logging.WARNING, "gapstack"):
        assert len(learning_curves(folder, "probert")) == 2
    assert "history.jsonl" in caplog.text
