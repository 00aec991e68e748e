"""The teams' recipes: what each trains, and each from end to end on tiny BERTs of their encoders' names and depths."""

import re
from dataclasses import replace

import pytest
from transformers import BertConfig, BertForMaskedLM

from gapstack.data import sources
from gapstack.members.name_substitution import COMMON_NAMES
from gapstack.members.part import Part
from gapstack.runs.recipe import Recipe, available
from gapstack.runs.runner import run
from tests.fixtures_encoder import build_tiny_encoder

TEAMS = {
    "attree2019": (10, 50),
    "wang2019": (1, 5),
    "abzaliev2019": (4, 40),
    "yang2019": (24, 168),
    "krige2019": (6, 30),
    "fivezeros2019": (1, 5),
    "ionita2019": (7, 35),
    "liu2019": (4, 300),
    "chada2019": (3, 15),
    "baoqiao2019": (16, 80),
    "lois2019": (1, 5),
    "xuyang2019": (1, 5),
}
"""Members and models of each recipe."""
ENCODERS = {
    f"bert-{size}-{case}": layers
    for size, layers in (("base", 12), ("large", 24))
    for case in ("cased", "uncased")
}


def test_every_team_is_here():
    assert TEAMS.keys() == {name for name in available() if name.endswith("2019")}


@pytest.fixture(scope="module")
def encoders(tmp_path_factory, sample):
    """A folder of tiny encoders by their hub names, which know the sample's words, so that inputs are short."""
    words = {word for example in sample for word in re.findall(r"\w+", example.text.lower())}
    words |= {name.lower() for names in COMMON_NAMES.values() for name in names}
    root = tmp_path_factory.mktemp("hub")
    for seed, (name, layers) in enumerate(ENCODERS.items()):
        folder = build_tiny_encoder(root / name, layers=layers, seed=seed, words=sorted(words))
        # as published BERTs have a head
        BertForMaskedLM(BertConfig.from_pretrained(folder)).save_pretrained(folder)
    return root


def quick(recipe: Recipe) -> Recipe:
    """One epoch, one seed, three folds, and of the other corpora a small one."""
    for setting, value in {"seeds": 1, "validation_share": 0.3}.items():
        recipe = recipe.override(setting, value)
    if any(part.settings.get("extra") for part in recipe.members):
        recipe = recipe.override("extra", ["winogender"] if sources.find("winogender") else [])
    stackers = tuple(
        Part(part.name, part.label, {**part.settings, "steps": 5}) if part.name == "dense" else part
        for part in recipe.stackers
    )
    return replace(recipe, stackers=stackers, folds=3).with_epochs(1)


@pytest.mark.slow
@pytest.mark.timeout(1200)  # 35 seconds of computing for GREP
@pytest.mark.parametrize("name", TEAMS)
def test_each_recipe_runs_from_end_to_end(name, encoders, sample_train, sample_test, tmp_path, monkeypatch):
    monkeypatch.chdir(encoders)
    recipe = quick(Recipe.load(name))
    finished = run(recipe, sample_train.take(range(45)), sample_test.take(range(6)), root=tmp_path)
    assert len(finished.members) == TEAMS[name][0]
    best = finished.stack or finished.members[-1]
    assert best.test.shape == (6, 3)
    assert best.test.sum(axis=1) == pytest.approx(1)
    assert finished.submission.read_text(encoding="utf-8").startswith("ID,A,B,NEITHER\n")
