"""Dawkins 2021: its recipe is the whole design, and its tables have the paper's figures next to the audits'."""

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.evaluation import score
from gapstack.members import create
from gapstack.papers import dawkins2021
from gapstack.runs.recipe import Part, Recipe

SMALL = Recipe("small", (Part("token_distance", "glove"), Part("random", "inlp_swap")), folds=3)


@pytest.fixture(scope="module")
def small(sample_train, sample_test, gap_folder, tmp_path_factory):
    """Figures of two heuristics as two of the arms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(dawkins2021, "SEEDS", (0, 1))
        patch.setattr(type(SUITES["sowinobias"]), "cap", 400)
        # token_distance has no seed
        patch.setattr(
            dawkins2021,
            "create",
            lambda name, seed: create(name, **{"seed": seed} if name == "random" else {}),
        )
        arms = dawkins2021.train_arms(SMALL, sample_train, sample_test)
        assert dawkins2021.train_arms(SMALL, sample_train, sample_test) == arms, "from the cache"
    return arms


def test_figures_of_two_heuristics(small, sample_train, sample_test):
    near = small["glove"].sides
    # her and him differ only in their length, and by length distances are counted
    assert abs(near["type1"]["difference"].value) < 3
    assert near["all"]["pro"] == near["all"]["anti"] == (100, 100, 100), (
        "the nearer of the two is the one that is liked"
    )
    member = create("token_distance").fit(sample_train)
    assert small["glove"].f1 == score(sample_test, member.predict_proba(sample_test)).f1_overall
    random = small["inlp_swap"].sides
    for side in ("pro", "anti", "average", "difference"):
        halves = [random[part][side].value for part in ("positive", "negative")]
        assert random["all"][side].value == pytest.approx(np.mean(halves))
    assert random["all"]["pro"].low < 50 < random["all"]["pro"].high
