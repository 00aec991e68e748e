"""A finished run whose files are damaged never answers otherwise than before: it answers alike or says what is wrong,
and ``gap run`` makes again what is damaged, and nothing else.
"""

import random

import numpy as np
import pytest

from gapstack.errors import DamageError
from gapstack.files import discard
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.predictors import FittedRun
from gapstack.runs.results import HELD_OUT, run_answers
from tests.damage import apply_damage, copied, files_below

SEED = 2019
KINDS = ("flip", "halve", "delete")
HARMLESS = ("history.jsonl", "folds.json", ".lock")
"""Files that tell of the past or serve other programs; so do the members' collected probabilities."""


@pytest.fixture(scope="module")
def recipe(tiny_encoder_folder) -> Recipe:
    training = {"epochs": 1, "precision": "float32"}
    probert = {"encoder": str(tiny_encoder_folder), "max_pieces": 128, "training": training}
    frozen = {"encoder": str(tiny_encoder_folder), "seeds": 1, "epochs": 2, "width": 4, "hidden": 4}
    return Recipe.parse(
        {
            "name": "tiny-sample",
            "folds": 3,
            "members": [
                {"name": "prior"},
                {"name": "surface", "settings": {"rounds": 3, "bags": 1}},
                {"name": "probert", "settings": probert},
                {"name": "frozen_spans", "settings": frozen},  # which learns all folds together
            ],
            "stackers": [{"name": "lightgbm", "settings": {"rounds": 5}}],
        },
        "test",
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all tests here: what they are about is not computed again in each."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _one_cache(cache, _no_network_and_a_cache_of_its_own, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(cache))


@pytest.fixture(scope="module")
def corpora(sample_train, sample_test):
    return sample_train[:90], sample_test[:30]


@pytest.fixture(scope="module")
def finished(recipe, corpora, cache, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(cache))
        return run(recipe, *corpora, root=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def answers(finished):
    return answers_of(finished.folder, finished.test[:4])


@pytest.fixture
def home(finished, tmp_path):
    """The home of a copy of the finished run."""
    copied(finished.folder.root.parents[1], tmp_path / "home")
    return tmp_path / "home"


def answers_of(folder, rows):
    """What all that reads a run gets of it: `gap predict` and `gap audit` of new rows, `gap compare` of its own."""
    run = FittedRun(folder)
    new = {label: system.predict_proba(rows) for label, system in run.systems.items()}
    held = run_answers(folder, rows).members
    return {("new rows", label): found for label, found in new.items()} | {
        (HELD_OUT, label): found for label, found in held.items()
    }


def files_of(folder):
    """The files of a run to damage, relative to it; of each member's folds, which are alike, one fold's."""
    return [name for name in files_below(folder.root) if not {"fold-0", "fold-2"} & set(name.parts)]


def is_harmless(name) -> bool:
    return name.name in HARMLESS or (name.suffix == ".parquet" and name.parts[::2] == ("members", name.name))


def damaged_one_by_one(folder, kind):
    """Damage each file of a run in turn, and put it back."""
    rng = random.Random(f"{SEED} {kind}")
    for name in files_of(folder):
        path = folder.root / name
        content = path.read_bytes()
        apply_damage(path, kind, rng)
        yield name
        discard(path)
        path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_reads_a_damaged_run_answers_alike_or_says_what_is_wrong_and_what_to_do(
    kind, home, answers, finished
):
    folder = RunFolder(home / "models" / "tiny-sample")
    harmless = 0
    for name in damaged_one_by_one(folder, kind):
        found, said = None, ""
        try:
            found = answers_of(folder, finished.test[:4])
        except DamageError as damage:
            said = str(damage)
        if found is None:
            assert not is_harmless(name), name
            assert f"{folder.root / name}: " in said
            assert "gap run" in said
            assert "\n" not in said
            continue
        harmless += 1
        assert is_harmless(name) or (kind == "flip" and name.suffix == ".json") or name.name == "held.parquet"
        assert found.keys() == answers.keys()
        for key, given in found.items():
            np.testing.assert_array_equal(given, answers[key], err_msg=f"{name} {key}")
    assert harmless >= len(HARMLESS)


@pytest.mark.slow
def test_run_recomputes_damaged_results_and_nothing_else(home, recipe, corpora, finished, caplog):
    caplog.set_level("INFO", "gapstack")
    folder, whole = RunFolder(home / "models" / "tiny-sample"), finished.submission.read_bytes()
    rng = random.Random(SEED)
    for name in (
        "run.json",
        "stack/state.json",
        "members/surface/fold-1/held.parquet",
        "members/prior/fold-1/job.json",
    ):
        apply_damage(folder.root / name, "halve", rng)
        (home / "submissions" / "tiny-sample.csv").unlink()
        caplog.clear()
        again = run(recipe, *corpora, root=home)
        assert again.submission.read_bytes() == whole, name
        assert any(name in line for line in caplog.messages), name
        assert again.reused == 12 - name.startswith("members"), name
        answers_of(folder, finished.test[:1])
