"""A run computes what it says, repeats nothing, and continues where it was killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gapstack import processes
from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.errors import DataError, MemberError, MismatchError
from gapstack.files import locked
from gapstack.members.baselines import Prior
from gapstack.records import seal
from gapstack.runs.folder import RunFolder, find_run
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from tests.runs.conftest import RECIPE, predict

CHANGED = replace(RECIPE, members=(*RECIPE.members[:2], Part("random", "surface", {"seed": 6})))


def test_out_of_fold_rows_are_predicted_without_them_and_held_out_rows_by_all_folds(
    finished, sample_train, sample_test
):
    folds = make_folds(sample_train, 3, seed=RECIPE.seed)
    held_out = []
    for fold in range(3):
        fitted, held = folds.split(fold)
        prior = Prior().fit(sample_train.take(fitted))
        expected = prior.predict_proba(sample_train.take(held))
        np.testing.assert_array_equal(finished.members[0].out_of_fold[held], expected)
        held_out.append(prior.predict_proba(sample_test))
    np.testing.assert_allclose(finished.members[0].test, np.mean(held_out, axis=0))


def test_a_second_run_repeats_nothing(finished, copy, sample_train, sample_test, tmp_path, monkeypatch):
    monkeypatch.setattr(Prior, "_fit", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr("gapstack.runs.runner.fit_nested", lambda *_: pytest.fail("stacked again"))
    again = run(RECIPE, sample_train, sample_test, root=tmp_path)
    assert again.reused == 9
    np.testing.assert_array_equal(again.stack.test, finished.stack.test)
    assert [r.seconds for r in again.members] == [r.seconds for r in finished.members]


def test_fits_in_several_processes_are_those_of_one(
    finished, sample_train, sample_test, tmp_path, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(processes, "FORK_ROWS", len(sample_train))
    again = run(RECIPE, sample_train, sample_test, root=tmp_path)
    for one, two in zip((*finished.members, finished.stack), (*again.members, again.stack), strict=True):
        np.testing.assert_allclose(two.out_of_fold, one.out_of_fold, atol=1e-6)
        np.testing.assert_allclose(two.test, one.test, atol=1e-6)


def test_only_a_changed_member_is_recomputed_and_each_finished_fold_is_reported_once(
    finished, copy, sample_train, sample_test, tmp_path
):
    reported = []

    def on_fold(folder, label, fold):
        assert (folder.fold(label, fold) / "job.json").is_file()
        reported.append((label, fold))

    again = run(CHANGED, sample_train, sample_test, root=tmp_path, on_fold=on_fold)
    assert again.reused == 6
    assert not np.allclose(again.members[2].test, finished.members[2].test)
    assert not np.allclose(again.stack.test, finished.stack.test)
    assert sorted(reported) == [(label, fold) for label in sorted(RECIPE.systems[:-1]) for fold in range(3)]
    assert {label for label, _ in reported[-3:]} == {"surface"}


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("training rows", lambda recipe, train, test: (recipe, train[:-1], test)),
        ("held-out rows", lambda recipe, train, test: (recipe, train, test[:-1])),
        ("labels", lambda recipe, train, test: (recipe, Corpus(train, label_set="liu"), test)),
        ("folds", lambda recipe, train, test: (recipe.revised(folds=4), train, test)),
    ],
)
def test_other_rows_labels_or_folds_are_refused_until_fresh(
    copy, sample_train, sample_test, tmp_path, what, change
):
    changed = change(RECIPE.restricted(["prior"]).revised(name=RECIPE.name), sample_train, sample_test)
    with pytest.raises(MismatchError, match=f"other .*{what}"):
        run(*changed, root=tmp_path)
    assert run(*changed, root=tmp_path, fresh=True).reused == 0


def test_new_rows_are_predicted_as_held_out_ones_but_not_by_a_stack_of_other_members(
    finished, copy, sample_test
):
    np.testing.assert_allclose(predict(copy, sample_test.unlabelled()), finished.stack.test, atol=1e-12)
    manifest = copy.manifest()
    manifest["recipe"]["members"].reverse()
    seal(copy.manifest_path, manifest)
    with pytest.raises(DataError, match="no stack of surface"):
        predict(copy, sample_test.unlabelled())


def test_a_run_that_could_not_work_is_refused_before_any_work(
    copy, sample_train, sample_test, tmp_path, monkeypatch
):
    with locked(copy.root), pytest.raises(MismatchError, match="another process"):
        run(RECIPE, sample_train, sample_test, root=tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(MemberError, match="--workers"):
        run(RECIPE, sample_train, sample_test, root=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_stack_is_contaminated_by_what_any_of_its_members_is(
    sample_train, sample_test, tmp_path, monkeypatch
):
    monkeypatch.setattr(Prior, "contaminated_by", ("gap-stage2",))
    done = run(RECIPE.restricted(["token_distance", "prior"]), sample_train, sample_test, root=tmp_path)
    assert [result.contaminated_by for result in done.members] == [("gap-stage2",), ()]
    assert done.stack.contaminated_by == ("gap-stage2",)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with the runs `one` and `two`."""
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    for name in ("one", "two", "no-run"):
        (tmp_path / "models" / name).mkdir(parents=True)
        if name != "no-run":
            (tmp_path / "models" / name / "run.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", ("one", "")),
        ("two", ("two", "")),
        ("two:stack", ("two", "stack")),
        ("{home}/models/two", ("two", "")),
        ("{home}/models/two:one", ("two", "one")),
        *((name, None) for name in ("three", "three:url", "no-run", "prior", "")),
    ],
)
def test_runs_are_found_by_name_or_folder_and_members_after_a_colon(home, name, expected):
    found = find_run(name.format(home=home))
    assert (found and (found[0].root.name, found[1])) == expected


def probert(encoder) -> Recipe:
    settings = {"max_pieces": 96, "training": {"epochs": 12, "precision": "float32"}}
    members = Part("prior", "prior"), Part("probert", "probert", {"encoder": str(encoder)} | settings)
    return Recipe("r", members, (Part("logistic", "logistic"),), folds=3)


SCRIPT = """
    import sys
    from pathlib import Path
    from gapstack.data.gap_data import sample
    from gapstack.runs.runner import run
    from tests.runs.test_run import probert
    data = sample()
    root = Path(sys.argv[2])
    run(probert(sys.argv[1]), data["train"][:45], data["test"][:10], root=root, checkpoint_seconds=0.0)
"""


@pytest.mark.slow
def test_a_killed_run_continues_and_gives_what_an_undisturbed_one_gives(
    sample_train, sample_test, tiny_encoder_folder, tmp_path
):
    root = tmp_path / "killed"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tiny_encoder_folder), str(root)]
    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    killed = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.DEVNULL)
    folder = RunFolder(root / "models" / "r")
    deadline = time.monotonic() + 300
    while not list(folder.unfinished("probert", 0).rglob("checkpoint.safetensors")):
        assert killed.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    kept = {path: json.loads(path.read_text()) for path in root.glob("models/*/members/*/fold-*/job.json")}
    assert {path.parents[1].name for path in kept} == {"prior"}
    (folder.unfinished("dropped", 0) / "older").mkdir(parents=True)

    rows = sample_train[:45], sample_test[:10]
    resumed = run(probert(tiny_encoder_folder), *rows, root=root)
    undisturbed = run(probert(tiny_encoder_folder), *rows, root=tmp_path / "undisturbed")
    assert resumed.reused == len(kept) == 3
    assert {path: json.loads(path.read_text()) for path in kept} == kept
    np.testing.assert_allclose(resumed.stack.test, undisturbed.stack.test, atol=1e-6)
    for left in ("unfinished/fold-*/*", "checkpoint.safetensors", ".writing-*"):
        assert not list(root.rglob(left))
    (losses,) = folder.fold("probert", 0).rglob("history.jsonl")
    assert len(losses.read_text().splitlines()) == 12
    assert resumed.members[1].parameters > 1000
