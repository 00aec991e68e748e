"""Predictors for tests of texts: one that needs no fit, and one that is stored."""

from pathlib import Path

import numpy as np
import pytest

from gapstack import create
from gapstack.members.member import Predictor


class Alphabet(Predictor):
    """Prefers the name that comes first in the alphabet; ``calls`` has the rows of each call."""

    def __init__(self):
        self.calls = []

    @property
    def identity(self):
        return {"code": "alphabet"}

    def predict_proba(self, corpus):
        self.calls.append(list(corpus))
        return np.array([[0.7, 0.2, 0.1] if row.a_text < row.b_text else [0.2, 0.7, 0.1] for row in corpus])

    def save(self, folder):
        raise NotImplementedError


@pytest.fixture
def alphabet():
    return Alphabet()


@pytest.fixture(scope="session")
def pairs_model(sample_train, tmp_path_factory) -> Path:
    """Folder of a quickly fitted member."""
    folder = tmp_path_factory.mktemp("model") / "surface"
    create("surface", rounds=8, bags=1).fit(sample_train).save(folder)
    return folder
