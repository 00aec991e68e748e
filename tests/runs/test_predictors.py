"""Stored results, finished runs and prediction files are read by id, and say what they lack."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from gapstack.comparison.results import stack_table
from gapstack.data import Corpus
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.data.gap_files import write_gap, write_scorer_tsv, write_submission
from gapstack.errors import DataError, DataNotFoundError, MemberError, MismatchError
from gapstack.evaluation import log_loss
from gapstack.members import create
from gapstack.members.baselines import Prior, TokenDistance
from gapstack.records import read_sealed, seal
from gapstack.runs.cross_validation import stack_files
from gapstack.runs.folder import RunFolder
from gapstack.runs.predict import predict_file
from gapstack.runs.predictors import FittedRun, load
from gapstack.runs.runner import run
from gapstack.runs.stored_results import HELD_OUT, OUT_OF_FOLD, run_answers, run_corpora

LABELS = ["prior", "token_distance", "surface", "stack"]


def predictions(run: FittedRun, rows) -> dict[str, np.ndarray]:
    return {label: system.predict_proba(rows) for label, system in run.systems.items()}


def of_development(rows: Corpus) -> Corpus:
    """The rows under ids of GAP development."""
    return Corpus(replace(row, id=f"development-{number}") for number, row in enumerate(rows, start=1))


class TestStoredAnswers:
    @pytest.mark.parametrize(("part", "attribute"), [(HELD_OUT, "test"), (OUT_OF_FOLD, "out_of_fold")])
    def test_are_the_runs_in_the_order_asked_for(self, finished, part, attribute):
        corpus = finished.test if part == HELD_OUT else finished.train
        order = np.arange(len(corpus))[::-2]
        found, members = run_answers(finished.folder, corpus.take(order))
        assert (found, list(members)) == (part, LABELS)
        for result in (*finished.members, finished.stack):
            np.testing.assert_array_equal(members[result.label], getattr(result, attribute)[order])
        assert list(run_answers(finished.folder, corpus, "surface")[1]) == ["surface"]

    def test_are_refused_for_other_rows_members_and_unfinished_runs(self, finished, tmp_path):
        with pytest.raises(MemberError, match=r'no member of run .* is called "nobody"; .*prior'):
            run_answers(finished.folder, finished.test, "nobody")
        with pytest.raises(MismatchError, match="not have predictions for all"):
            run_answers(finished.folder, Corpus([*finished.test, *finished.train]))
        shutil.copy(finished.folder.manifest_path, tmp_path)
        with pytest.raises(DataError, match="Finish or repair it"):
            run_answers(RunFolder(tmp_path), finished.test)

    def test_have_the_rows_of_the_run(self, finished, monkeypatch):
        found = run_corpora(finished.folder)
        assert found[HELD_OUT].fingerprint == finished.test.fingerprint
        assert found[OUT_OF_FOLD].fingerprint == finished.train.fingerprint
        monkeypatch.setattr(
            "gapstack.runs.stored_results.corpora",
            lambda recipe: (recipe, finished.train[:-1], finished.test),
        )
        with pytest.raises(MismatchError, match="other training rows"):
            run_corpora(finished.folder)


class TestFittedRun:
    def test_systems_share_base_predictions_that_each_member_computes_once(
        self, finished, sample_test, monkeypatch
    ):
        computed = []
        for kind in (Prior, TokenDistance):
            once = kind.predict_proba
            monkeypatch.setattr(
                kind,
                "predict_proba",
                lambda self, rows, predict=once: computed.append(type(self)) or predict(self, rows),
            )
        fitted = FittedRun(finished.folder)
        first = predictions(fitted, sample_test)
        np.testing.assert_array_equal(fitted.predict_proba(sample_test), first["stack"])
        assert computed == [Prior] * 3 + [TokenDistance] * 3
        predictions(fitted, sample_test[:5])
        assert len(computed) == 12, "other rows have other base predictions"

    def test_is_saved_and_loaded_with_its_systems(self, finished, sample_test, tmp_path):
        fitted, copied = FittedRun(finished.folder), tmp_path / "copy" / "tiny"
        fitted.save(copied)
        assert load(copied).identity == fitted.identity
        np.testing.assert_array_equal(load(copied).predict_proba(sample_test), finished.stack.test)
        prior = load(f"{copied}:prior")
        assert prior.identity != load(f"{copied}:token_distance").identity
        np.testing.assert_allclose(prior.predict_proba(sample_test), finished.members[0].test, atol=1e-12)

    def test_never_returns_what_is_not_finite(self, copy, sample_test):
        arrays = load_file(copy.member("stack") / "arrays.safetensors")
        nothing = {name: np.full_like(array, np.nan) for name, array in arrays.items()}
        save_file(nothing, copy.member("stack") / "arrays.safetensors")
        record = copy.member("stack") / "stack.json"
        seal(record, read_sealed(record, ()), with_files=True)
        with pytest.raises(MemberError, match="not finite"):
            load(copy.root).predict_proba(sample_test)

    def test_names_an_unfinished_fold(self, copy, sample_test):
        shutil.rmtree(copy.fold("prior", 2))
        with pytest.raises(DataError, match="fold-2: the run is not finished"):
            FittedRun(copy).check()
        for intact in (FittedRun(copy, "token_distance"), FittedRun(copy, folds=2)):
            assert len(intact.check().predict_proba(sample_test)) == len(sample_test)


@pytest.mark.parametrize("kind", ["run", "stack"])
def test_rows_that_were_trained_on_are_warned_of(kind, finished, sample_train, sample_test, tmp_path, caplog):
    rows = of_development(sample_train)
    recipe = replace(finished.recipe, train=("mine.tsv",))  # whatever the file is called
    name = run(recipe, train=rows, test=sample_test, root=tmp_path).folder.root
    if kind == "stack":
        name = tmp_path / "stack"
        create("stack", members=["prior", "random"]).fit(rows).save(name)
    for given, count in ((sample_train[:4], 0), (rows[:4], 1)):
        write_gap(tmp_path / "rows.tsv", given.unlabelled())
        assert predict_file(load(name), tmp_path / "rows.tsv", tmp_path / "out.csv") == 4
        assert caplog.text.count("share rows with gap-development") == count


class TestFiles:
    def test_of_probabilities_predict_their_own_rows_only(self, sample_train, sample_test, tmp_path):
        probabilities = create("prior").fit(sample_train).predict_proba(sample_test)
        write_submission(tmp_path / "answers.csv", sample_test.ids, probabilities)
        predictor = load(tmp_path / "answers.csv")
        assert predictor.stored
        np.testing.assert_allclose(predictor.predict_proba(sample_test), probabilities, rtol=0, atol=1e-15)
        with pytest.raises(DataError):
            predictor.predict_proba(sample_train)
        predictor.save(tmp_path / "copy")
        assert load(tmp_path / "copy" / "answers.csv").identity == predictor.identity

    def test_of_clusters_predict_with_certainty(self, sample_test, tmp_path):
        documents = [Document(e.id, text_sha256(e.text), ((e.a, e.pronoun),)) for e in sample_test[:1]]
        write_clusters(tmp_path / "answers.jsonl", Clusters("one", "1", documents))
        predictor = load(tmp_path / "answers.jsonl")
        assert predictor.predict_proba(sample_test[:2]).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        assert predictor.remark(sample_test).startswith("has the clusters of one@1 for 1 of ")

    def test_of_other_kinds_are_refused(self, tmp_path):
        with pytest.raises(DataNotFoundError, match="nothing is not a run"):
            load(tmp_path / "nothing")
        (tmp_path / "notes.txt").write_text("")
        with pytest.raises(DataError, match="extension"):
            load(tmp_path / "notes.txt")


class TestStackOfFiles:
    KINDS = ("conditional", "simplex")

    @pytest.fixture
    def files(self, sample_train, tmp_path):
        """Two submissions that know something each, in different orders."""
        rng = np.random.default_rng(0)
        truth = np.eye(3)[sample_train.labels]
        paths = []
        for number, sharpness in enumerate([2.0, 1.0]):
            weights = np.exp(sharpness * truth + rng.normal(size=truth.shape))
            order = rng.permutation(len(sample_train))
            paths.append(tmp_path / f"{number}.csv")
            ids = [sample_train.ids[row] for row in order]
            write_submission(paths[-1], ids, (weights / weights.sum(axis=1, keepdims=True))[order])
        return paths

    def test_is_better_than_its_files_in_any_order_of_kinds(self, files, sample_train):
        members, nested = stack_files(files, sample_train, folds=3, kinds=self.KINDS)
        best = min(log_loss(sample_train.labels, each) for each in members.values())
        assert log_loss(sample_train.labels, nested.out_of_fold) < best
        table = stack_table(sample_train, members, nested)
        assert [row["name"] for row in table.json()["sections"][0]["rows"]] == ["0", "1", "stack"]
        _, other = stack_files(files, sample_train, folds=3, kinds=self.KINDS[::-1])
        assert (nested.name, nested.choices) == (other.name, other.choices)

    def test_is_refused_where_it_cannot_be(self, files, sample_train, tmp_path):
        with pytest.raises(DataError, match="1 file to stack"):
            stack_files(files[:1], sample_train)
        write_scorer_tsv(tmp_path / "d.tsv", sample_train.ids, np.zeros((len(sample_train), 2), dtype=int))
        with pytest.raises(DataError, match=r"d\.tsv.*without probabilities"):
            stack_files([files[0], tmp_path / "d.tsv"], sample_train)
        with pytest.raises(MemberError, match='"forest"'):
            stack_files(files, sample_train, kinds=("forest",))
