"""Damaged files of a run never change predictions: reading fails or gives the same, and ``gap run`` repairs the run."""

import random
from itertools import cycle

import numpy as np
import pytest

from gapstack.errors import DamageError
from gapstack.files import discard
from gapstack.runs.folder import RunFolder
from gapstack.runs.predictors import FittedRun
from gapstack.runs.recipe import Recipe
from gapstack.runs.results import run_answers
from gapstack.runs.runner import run
from tests.damage import apply_damage, copied, files_below

HARMLESS = ("history.jsonl", "folds.json", ".lock")
"""Files for information or for other programs; so are the members' collected probabilities."""


@pytest.fixture(scope="module")
def recipe(tiny_encoder_folder) -> Recipe:
    training = {"epochs": 1, "precision": "float32"}
    probert = {"encoder": str(tiny_encoder_folder), "max_pieces": 128, "training": training}
    frozen = {"encoder": str(tiny_encoder_folder), "seeds": 1, "epochs": 2, "width": 4, "hidden": 4}
    members = [
        {"name": "prior"},
        {"name": "surface", "settings": {"rounds": 3, "bags": 1}},
        {"name": "probert", "settings": probert},
        {"name": "frozen_spans", "settings": frozen},  # learns all folds together
    ]
    stackers = [{"name": "lightgbm", "settings": {"rounds": 5}}]
    return Recipe.parse({"name": "tiny-sample", "folds": 3, "members": members, "stackers": stackers}, "test")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all tests here."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _one_cache(cache, _no_network_and_a_cache_of_its_own, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(cache))


@pytest.fixture(scope="module")
def whole(recipe, sample_train, sample_test, cache, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(cache))
        return run(recipe, sample_train[:90], sample_test[:30], root=tmp_path_factory.mktemp("home"))


@pytest.fixture
def home(whole, tmp_path):
    """The home of a copy of the finished run."""
    return copied(whole.folder.root.parents[1], tmp_path / "home")


def answers_of(folder, rows):
    """Predictions for new rows, and stored ones for held-out rows, of all systems."""
    new = {f"new {label}": one.predict_proba(rows) for label, one in FittedRun(folder).systems.items()}
    return new | run_answers(folder, rows)[1]


def is_harmless(name) -> bool:
    collected = name.suffix == ".parquet" and name.parts[::2] == ("members", name.name)
    return name.name in HARMLESS or collected


@pytest.mark.slow
def test_a_damaged_run_predicts_the_same_or_says_what_is_wrong_and_what_to_do(home, whole):
    folder, rows, harmless = RunFolder(home / "models" / "tiny-sample"), whole.test[:4], 0
    answers, rng = answers_of(whole.folder, rows), random.Random(2019)
    for name, kind in zip(files_below(folder.root), cycle(["flip", "halve", "delete"]), strict=False):
        if {"fold-0", "fold-2"} & set(name.parts):  # like those of fold 1
            continue
        path = folder.root / name
        content = path.read_bytes()
        apply_damage(path, kind, rng)
        error, found = "", {}
        try:
            found = answers_of(folder, rows)
        except DamageError as damage:
            error = str(damage)
        if error:
            assert not is_harmless(name), name
            assert f"{path}: " in error
            assert "gap run" in error
        else:
            harmless += 1
            unread = (kind == "flip" and name.suffix == ".json") or name.name == "held.parquet"
            assert is_harmless(name) or unread
            for key, expected in answers.items():
                np.testing.assert_array_equal(found[key], expected, err_msg=f"{name} {key}")
        discard(path)
        path.write_bytes(content)
    assert harmless >= len(HARMLESS)


@pytest.mark.slow
def test_run_recomputes_damaged_results_and_nothing_else(home, recipe, whole, caplog):
    caplog.set_level("INFO", "gapstack")
    folder, submission = RunFolder(home / "models" / "tiny-sample"), whole.submission.read_bytes()
    for name in (
        *("run.json", "stack/state.json"),
        *("members/surface/fold-1/held.parquet", "members/prior/fold-1/job.json"),
    ):
        apply_damage(folder.root / name, "halve", random.Random(2019))
        (home / "submissions" / "tiny-sample.csv").unlink()
        caplog.clear()
        again = run(recipe, whole.train, whole.test, root=home)
        assert again.submission.read_bytes() == submission, name
        assert any(name in line for line in caplog.messages), name
        assert again.reused == 12 - name.startswith("members"), name
        answers_of(folder, whole.test[:1])
