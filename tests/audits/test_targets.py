"""Targets: a run answers as `gap predict` does; files of probabilities and of clusters, by suite and system."""

import numpy as np
import pytest

from gapstack.audits import files_target, run_target, target_of
from gapstack.cli.common import refuse_unknown_run
from gapstack.data import Corpus
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.data.gap_files import write_submission
from gapstack.errors import DataError, MemberError
from gapstack.registry import UnknownNameError
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Recipe
from gapstack.runs.runner import run
from tests.runs.conftest import predict

RECIPE = {
    "name": "tiny",
    "folds": 3,
    "members": [{"name": "prior"}, {"name": "random"}],
    "stackers": [{"name": "logistic"}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sample_train, sample_test) -> RunFolder:
    """A finished run of two members and their stack on the sample."""
    root = tmp_path_factory.mktemp("home")
    return run(Recipe.parse(RECIPE, "test"), sample_train, sample_test, root=root).folder


def test_with_all_folds_the_stack_answers_as_predict_does(folder, sample_test):
    target = run_target(folder, folds=3)
    assert list(target.systems) == ["prior", "random", "stack"]
    np.testing.assert_allclose(
        target.systems["stack"].predict_proba(sample_test), predict(folder, sample_test)
    )
    np.testing.assert_allclose(target.systems["prior"].predict_proba(sample_test).sum(axis=1), 1)


def test_one_fold_answers_by_default_and_the_note_says_so(folder, sample_test):
    target = run_target(folder, "prior")
    assert "first fold's fits of 3 folds" in target.note
    given = target.systems["prior"].predict_proba(sample_test)
    assert given.shape == (len(sample_test), 3)
    assert np.ptp(given, axis=0).max() == 0


def test_a_run_is_found_by_name_and_by_folder_and_its_member_by_colon(folder, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(folder.root.parent.parent))
    suites = ("winogender",)
    assert len(target_of("tiny", suites).systems) == len(target_of(str(folder.root), suites).systems) == 3
    assert list(target_of("tiny:random", suites).systems) == ["random"]
    assert list(target_of(f"{folder.root}:stack", suites).systems) == ["stack"]
    with pytest.raises(MemberError, match='no member of run tiny is called "probert"'):
        target_of("tiny:probert", suites)


def test_a_run_is_found_on_the_hub(folder, tmp_path, monkeypatch):
    fetched = {}

    def download(name, problem, **options):
        fetched.update({"name": name} | options)
        return folder.root

    monkeypatch.setattr("gapstack.runs.folder.hub_snapshot", download)
    monkeypatch.chdir(tmp_path)
    for name in ("owner/tiny@v1:random", "owner/tiny@v1"):
        refuse_unknown_run(name)
    assert list(target_of("owner/tiny@v1:random", ("winogender",)).systems) == ["random"]
    assert fetched == {"name": "owner/tiny", "revision": "v1"}
    (tmp_path / "owner").mkdir()
    with pytest.raises(UnknownNameError, match="owner/tiny"):
        refuse_unknown_run("owner/tiny")


def test_a_folder_of_folders_is_several_systems_each_with_its_suites(tmp_path, sample_test):
    corpus = Corpus(sample_test, name="gap")
    answers = np.tile([0.2, 0.5, 0.3], (len(corpus), 1))
    write_submission(tmp_path / "all" / "one" / "gap.csv", corpus.ids, answers)
    documents = [
        Document(row.id, text_sha256(row.text), (tuple(sorted([row.pronoun, row.a])),)) for row in corpus
    ]
    write_clusters(tmp_path / "all" / "two" / "gap.jsonl", Clusters("planted", "1", documents))
    write_submission(tmp_path / "all" / "three" / "winogender.csv", corpus.ids, answers)
    target = files_target(tmp_path / "all", ("winogender", "gap"))
    assert [name for name, system in target.systems.items() if system.covers("gap")] == ["one", "two"]
    np.testing.assert_allclose(target.systems["one"].predict_proba(corpus), answers)
    assert (target.systems["two"].predict_proba(corpus)[:, 0] == 1).mean() > 0.9
    assert target.systems["three"].remark(corpus) == "has no file of answers"


def test_two_files_for_a_suite_are_refused(tmp_path):
    for suffix in (".csv", ".jsonl"):
        (tmp_path / f"gap{suffix}").write_text("")
    with pytest.raises(DataError, match=r"gap.csv and gap.jsonl"):
        files_target(tmp_path, ("gap",))
