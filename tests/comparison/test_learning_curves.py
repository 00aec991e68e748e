"""Learning curves are those that a training logged, its phases one after the other."""

import logging

import numpy as np
import pytest

from gapstack.comparison.learning_curves import learning_curves, read_curve
from gapstack.comparison.plots import plots
from gapstack.errors import DataError
from gapstack.runs import RunFolder
from gapstack.training.checkpoints import Evaluation, Log


def log(folder, *evaluations):
    """What a training writes for (phase, update, loss, validation)."""
    folder.mkdir(parents=True)
    lines = [
        Evaluation(
            phase=phase, epoch=0, update=update, loss=loss, validation=validation, rate=1.0,
            examples_per_second=1.0, seconds=1.0,
        )
        for phase, update, loss, validation in evaluations
    ]  # fmt: skip
    Log(folder, tensorboard=False).write(lines)


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder(tmp_path / "run")
    log(
        folder.fold("probert", 0) / "training" / "abc", (0, 5, 0.9, 0.8), (0, 10, 0.7, 0.6), (1, 4, 0.5, 0.55)
    )
    log(folder.fold("probert", 1) / "training" / "abc", (0, 5, 1.0, None))
    log(folder.fold("probert", 1) / "training" / "abd", (0, 5, 0.8, None))
    return folder


def test_phases_follow_each_other(folder):
    first, *_ = learning_curves(folder, "probert")
    assert first.name == "fold 0"
    assert first.updates.tolist() == [5, 10, 14]
    assert first.training.tolist() == [0.9, 0.7, 0.5]
    assert first.validation.tolist() == [0.8, 0.6, 0.55]


def test_each_training_of_a_fold_has_its_curve(folder):
    names = [curve.name for curve in learning_curves(folder, "probert")]
    assert names == ["fold 0", "fold 1, training 1", "fold 1, training 2"]
    assert np.isnan(learning_curves(folder, "probert")[1].validation).all()


def test_members_that_are_not_fine_tuned_have_none(folder):
    assert learning_curves(folder, "surface") == ()


def test_a_damaged_one_is_left_out_with_a_warning(folder, caplog):
    path = next(folder.fold("probert", 0).rglob("history.jsonl"))
    path.write_text('{"phase": 0}\n')
    with pytest.raises(DataError, match=r"history.jsonl, line 1: .*'update'"):
        read_curve(path)
    with caplog.at_level(logging.WARNING, "gapstack"):
        assert len(learning_curves(folder, "probert")) == 2
    assert "history.jsonl, line 1" in caplog.text


def test_the_page_draws_them(folder, made):
    from dataclasses import replace

    entries = (replace(made.entries[0], curves=learning_curves(folder, "probert")), *made.entries[1:])
    (plot,) = (plot for plot in plots(replace(made, entries=entries)) if plot["id"] == "learning")
    assert [view["title"] for view in plot["views"]] == ["good, validation loss", "good, training loss"]
    assert plot["views"][0]["lines"] == [
        {"name": "fold 0", "member": 0, "points": [[5.0, 0.8], [10.0, 0.6], [14.0, 0.55]]}
    ]
    assert "learning" not in {plot["id"] for plot in plots(made)}
