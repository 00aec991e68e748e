import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.data.gap_files import read_submission
from gapstack.errors import DataError, MemberError, MismatchError
from gapstack.members.baselines import Prior
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.predict import predict
from gapstack.runs.recipe import Part
from gapstack.sealed import seal

RECIPE = Recipe(
    "small",
    members=(Part("prior", "prior"), Part("random", "random"), Part("random", "coin", {"seed": 5})),
    stackers=(Part("logistic", "logistic"), Part("lightgbm", "lightgbm", {"rounds": 5})),
    folds=3,
)


@pytest.fixture
def done(sample_train, sample_test, tmp_path):
    return run(RECIPE, sample_train, sample_test, root=tmp_path)


def test_out_of_fold_rows_come_from_members_that_never_saw_them(done, sample_train):
    folds = make_folds(sample_train, 3, seed=RECIPE.seed)
    for fold in range(3):
        fitted, held = folds.split(fold)
        expected = Prior().fit(sample_train.take(fitted)).predict_proba(sample_train.take(held))
        np.testing.assert_array_equal(done.members[0].out_of_fold[held], expected)


def test_held_out_answers_are_the_mean_over_folds(done, sample_train, sample_test):
    folds = make_folds(sample_train, 3, seed=RECIPE.seed)
    expected = np.mean(
        [Prior().fit(sample_train.take(folds.split(f)[0])).predict_proba(sample_test) for f in range(3)],
        axis=0,
    )
    np.testing.assert_allclose(done.members[0].test, expected)


def test_submission_holds_the_stack_in_the_order_of_the_rows(done, sample_test):
    ids, probabilities = read_submission(done.submission)
    assert ids == sample_test.ids
    np.testing.assert_allclose(probabilities, done.stack.test, atol=1e-9)


def test_a_run_is_refused_to_several_processes_that_would_wait_for_each_other(
    sample_train, sample_test, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(MemberError, match=r"2 processes were started together.*--workers"):
        run(RECIPE, sample_train, sample_test, root=tmp_path)


def test_a_second_run_repeats_nothing(done, sample_train, sample_test, tmp_path, monkeypatch):
    monkeypatch.setattr(Prior, "_fit", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr("gapstack.runs.runner.fit_nested", lambda *_: pytest.fail("stacked again"))
    again = run(RECIPE, sample_train, sample_test, root=tmp_path)
    assert again.reused == 9
    np.testing.assert_array_equal(again.stack.test, done.stack.test)
    assert [r.seconds for r in again.members] == [r.seconds for r in done.members]


def test_a_changed_member_is_done_again_and_the_others_are_not(done, sample_train, sample_test, tmp_path):
    changed = RECIPE.revised(members=(*RECIPE.members[:2], Part("random", "coin", {"seed": 6})))
    again = run(changed, sample_train, sample_test, root=tmp_path)
    assert again.reused == 6
    assert not np.allclose(again.members[2].test, done.members[2].test)
    assert not np.allclose(again.stack.test, done.stack.test)


def test_every_finished_fold_is_told_once_those_of_an_earlier_call_too(
    done, sample_train, sample_test, tmp_path
):
    changed = RECIPE.revised(members=(*RECIPE.members[:2], Part("random", "coin", {"seed": 6})))
    told = []

    def on_fold(folder, label, fold):
        assert (folder.fold(label, fold) / "job.json").is_file()
        told.append((label, fold))

    run(changed, sample_train, sample_test, root=tmp_path, on_fold=on_fold)
    assert sorted(told) == [(label, fold) for label in ("coin", "prior", "random") for fold in range(3)]
    assert {label for label, _ in told[-3:]} == {"coin"}


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("training rows", lambda train, test: (train[:-1], test)),
        ("held-out rows", lambda train, test: (train, test[:-1])),
        ("labels", lambda train, test: (Corpus(train, label_set="liu", name=train.name), test)),
    ],
)
def test_other_corpora_or_labels_are_refused_by_name(done, sample_train, sample_test, tmp_path, what, change):
    train, test = change(sample_train, sample_test)
    with pytest.raises(MismatchError, match=f"other .*{what}"):
        run(RECIPE, train, test, root=tmp_path)
    assert run(RECIPE, train, test, root=tmp_path, fresh=True).reused == 0


def test_other_folds_are_refused_by_name(done, sample_train, sample_test, tmp_path):
    with pytest.raises(MismatchError, match="other folds"):
        run(RECIPE.revised(folds=4), sample_train, sample_test, root=tmp_path)


def test_the_folder_says_what_it_is(done, sample_train):
    manifest = RunFolder(done.folder.root).manifest()
    assert manifest["identity"]["training rows"] == sample_train.fingerprint
    assert Recipe.parse(manifest["recipe"], "run.json") == RECIPE
    assert "lightgbm" in manifest["versions"]


def test_new_rows_get_what_the_run_gave_them_as_held_out(done, sample_test):
    np.testing.assert_allclose(predict(done.folder, sample_test.unlabelled()), done.stack.test, atol=1e-12)


def test_a_stack_of_other_members_is_not_applied(done, sample_test):
    manifest = done.folder.manifest()
    manifest["recipe"]["members"].reverse()
    seal(done.folder.manifest_path, manifest)
    with pytest.raises(DataError, match="no stack of coin"):
        predict(done.folder, sample_test.unlabelled())


def test_two_processes_do_not_share_a_run_folder(done, sample_train, sample_test, tmp_path):
    with done.folder.locked(), pytest.raises(MismatchError, match="another process"):
        run(RECIPE, sample_train, sample_test, root=tmp_path)


SLOW_RUN = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from gapstack.data.sources import sample
    from gapstack.members.baselines import Random
    from gapstack.runs import run
    from tests.runs.test_crossval import RECIPE

    honest = Random._fit
    Random._fit = lambda self, corpus: (time.sleep(0.4), honest(self, corpus))[1]
    corpora = sample()
    run(RECIPE, corpora["train"], corpora["test"], root=Path(sys.argv[1]))
    """
)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(done, sample_train, sample_test, tmp_path):
    root = tmp_path / "killed"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", SLOW_RUN, str(root)], env=environment)
    finished = root / "models" / "small" / "members" / "random" / "fold-0" / "job.json"
    deadline = time.monotonic() + 300
    while not finished.exists():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path: json.loads(path.read_text()) for path in root.glob("models/*/members/*/fold-*/job.json")}
    assert 4 <= len(kept) < 9

    again = run(RECIPE, sample_train, sample_test, root=root)
    assert again.reused == len(kept)
    assert {path: json.loads(path.read_text()) for path in kept} == kept
    np.testing.assert_array_equal(again.stack.test, done.stack.test)
    assert not list(root.rglob(".writing-*"))
