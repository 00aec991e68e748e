"""A finished run's answers come back by id, from the part that has the rows, and never from another run's."""

from pathlib import Path

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.errors import DataError, MismatchError
from gapstack.runs import Recipe, run
from gapstack.runs.recipe import Part
from gapstack.runs.results import HELD_OUT, OUT_OF_FOLD, run_answers, run_corpora


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    parts = (Part("prior", "prior"), Part("random", "random"))
    recipe = Recipe("small-sample", parts, (Part("logistic", "logistic"),), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize(("part", "attribute"), [(HELD_OUT, "test"), (OUT_OF_FOLD, "out_of_fold")])
def test_answers_are_the_runs_in_the_order_asked_for(finished, part, attribute):
    corpus = finished.test if part == HELD_OUT else finished.train
    order = np.arange(len(corpus))[::-2]
    found = run_answers(finished.folder, corpus.take(order))
    assert found.part == part
    assert list(found.members) == ["prior", "random", "stack"]
    for result in (*finished.members, finished.stack):
        np.testing.assert_array_equal(found.members[result.label], getattr(result, attribute)[order])


def test_one_member_alone(finished):
    assert list(run_answers(finished.folder, finished.test, ["random"]).members) == ["random"]
    with pytest.raises(DataError, match=r"no member 'nobody'.*prior, random, stack"):
        run_answers(finished.folder, finished.test, ["nobody"])


def test_rows_that_the_run_never_saw_are_refused(finished):
    other = Corpus([*finished.test, *finished.train], name="both parts")
    with pytest.raises(MismatchError, match="no answers for all"):
        run_answers(finished.folder, other)


def test_an_unfinished_run_is_refused(finished, tmp_path):
    from gapstack.runs import RunFolder

    (tmp_path / "run.json").write_bytes(finished.folder.manifest_path.read_bytes())
    with pytest.raises(DataError, match="Finish or repair it"):
        run_answers(RunFolder(Path(tmp_path)), finished.test)


def test_corpora_are_those_of_the_run(finished, monkeypatch):
    found = run_corpora(finished.folder)
    assert found[HELD_OUT].fingerprint == finished.test.fingerprint
    assert found[OUT_OF_FOLD].fingerprint == finished.train.fingerprint
    monkeypatch.setattr(
        "gapstack.runs.results.corpora", lambda recipe, data: (recipe, finished.train[:-1], finished.test)
    )
    with pytest.raises(MismatchError, match="other training rows"):
        run_corpora(finished.folder)
