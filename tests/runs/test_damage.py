"""Damaged files of a run never change predictions: reading fails or gives the same, and ``gap run`` repairs the run."""

import random
from itertools import cycle

import numpy as np
import pytest

from gapstack.errors import DamageError
from gapstack.files import discard
from gapstack.runs.predictors import FittedRun
from gapstack.runs.runner import run
from gapstack.runs.stored_results import run_answers
from tests.damage import apply_damage, files_below
from tests.runs.conftest import RECIPE

UNREAD = ("folds.json", ".lock", "held.parquet")
"""Files for information or for other programs, and out-of-fold predictions, which are not asked for here."""


def answers_of(folder, rows):
    """Predictions for new rows, and stored ones for held-out rows, of all systems."""
    new = {f"new {label}": one.predict_proba(rows) for label, one in FittedRun(folder).systems.items()}
    return new | run_answers(folder, rows)[1]


@pytest.mark.slow
def test_a_damaged_run_predicts_the_same_or_says_what_is_wrong_and_what_to_do(copy, finished):
    rows, rng, refused = finished.test[:4], random.Random(2019), 0
    answers = answers_of(finished.folder, rows)
    for name, kind in zip(files_below(copy.root), cycle(["flip", "halve", "delete"]), strict=False):
        if {"fold-0", "fold-2"} & set(name.parts):  # like those of fold 1
            continue
        path = copy.root / name
        content = path.read_bytes()
        apply_damage(path, kind, rng)
        error, found = "", {}
        try:
            found = answers_of(copy, rows)
        except DamageError as damage:
            error = str(damage)
        if error:
            refused += 1
            assert f"{path}: " in error
            assert "gap run" in error
        else:
            assert name.name in UNREAD or (kind == "flip" and name.suffix == ".json"), name
            for key, expected in answers.items():
                np.testing.assert_array_equal(found[key], expected, err_msg=f"{name} {key}")
        discard(path)
        path.write_bytes(content)
    assert refused > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["run.json", "stack/state.json", "members/surface/fold-1/held.parquet", "members/prior/fold-1/job.json"],
)
def test_run_recomputes_damaged_results_and_nothing_else(name, copy, finished, tmp_path, caplog):
    caplog.set_level("INFO", "gapstack")
    apply_damage(copy.root / name, "halve", random.Random(2019))
    again = run(RECIPE, finished.train, finished.test, root=tmp_path)
    assert again.submission.read_bytes() == finished.submission.read_bytes()
    assert any(name in line for line in caplog.messages)
    assert again.reused == 9 - name.startswith("members")
    answers_of(copy, finished.test[:1])
