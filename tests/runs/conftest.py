"""A small finished run that the tests of stored results share."""

import shutil

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.runs.folder import RunFolder
from gapstack.runs.predictors import FittedRun
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run

RECIPE = Recipe(
    "tiny-sample",
    members=(
        Part("prior", "prior"),
        Part("token_distance", "token_distance"),
        Part("surface", "surface", {"rounds": 5, "bags": 1}),
    ),
    stackers=(Part("logistic", "logistic"),),
    folds=3,
)


@pytest.fixture(scope="session")
def finished(sample_train, sample_test, tmp_path_factory):
    return run(RECIPE, sample_train, sample_test, root=tmp_path_factory.mktemp("home"))


@pytest.fixture
def copy(finished, tmp_path) -> RunFolder:
    """The finished run in a folder that a test may change."""
    return RunFolder(shutil.copytree(finished.folder.root, tmp_path / "models" / "tiny-sample"))


def predict(folder: RunFolder, rows: Corpus, label: str = "") -> np.ndarray:
    """Probabilities of new rows by one system of a finished run, the stack by default."""
    return FittedRun(folder, label).predict_proba(rows)
