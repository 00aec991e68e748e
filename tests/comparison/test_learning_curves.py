"""Learning curves are those that a training logged, its phases one after the other."""

import logging

import numpy as np
import pytest

from gapstack.comparison.learning_curves import learning_curves
from gapstack.runs.folder import RunFolder
from tests.training.toys import write_log


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
