"""The teams' recipes: each runs from end to end, on a tiny encoder, with what depends on depth brought to its own."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from transformers import BertConfig, BertForMaskedLM

from gapstack.data import sources
from gapstack.members import soft_labels
from gapstack.members.name_substitution import COMMON_NAMES
from gapstack.members.part import Part
from gapstack.runs.recipe import Recipe, available
from gapstack.runs.rescale import on_encoder
from gapstack.runs.runner import run
from tests.fixtures_encoder import build_tiny_encoder

TEAMS = [name for name in available() if name.endswith("2019")]
LIGHT = ("seed", "max_pieces", "layers", "blocks")
CORPORA_AT_HAND = sources.find("dpr") is not None and sources.find("winogender") is not None


@pytest.fixture(scope="module")
def whole_words(tmp_path_factory, sample):
    """A tiny encoder of three layers that knows the sample's words, so that its inputs are short."""
    words = {word for example in sample for word in re.findall(r"\w+", example.text.lower())}
    words |= {name.lower() for names in COMMON_NAMES.values() for name in names}
    folder = build_tiny_encoder(tmp_path_factory.mktemp("encoders") / "words", layers=3, words=sorted(words))
    BertForMaskedLM(BertConfig.from_pretrained(folder)).save_pretrained(
        folder
    )  # as published BERTs have a head
    return folder


@pytest.fixture(scope="module")
def few(sample_train, sample_test):
    return sample_train.take(range(45)), sample_test.take(range(6))


def quick(recipe: Recipe) -> Recipe:
    """One epoch, one seed, three folds, and one of the members that differ in what does not change their network."""
    for setting, value in {"seeds": 1, "validation_share": 0.3}.items():
        recipe = recipe.override(setting, value)
    few: dict[str, Part] = {}
    for part in recipe.members:
        alike = {key: value for key, value in part.settings.items() if key not in LIGHT}
        few.setdefault(str((part.name, alike)), part)
    stackers = [Part(part.name, part.label, dict(part.settings)) for part in recipe.stackers]
    for part in stackers:
        if len(few) < len(recipe.members):
            part.settings.pop("weights", None)  # which are of all members
        if part.name == "dense":
            part.settings["steps"] = 5
    return replace(recipe, members=tuple(few.values()), stackers=tuple(stackers), folds=3).with_epochs(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEAMS)
def test_each_recipe_runs_from_end_to_end(name, whole_words, few, tmp_path, monkeypatch):
    monkeypatch.setattr(soft_labels, "load", lambda corpus: SimpleNamespace(corpus=few[1]))
    recipe, told = on_encoder(Recipe.load(name), str(whole_words))
    assert told[0].startswith("No longer the paper's: words (3 layers")
    if not CORPORA_AT_HAND:
        recipe = recipe.override("extra", [])
    finished = run(quick(recipe), *few, root=tmp_path)
    assert len(finished.members) == len(finished.recipe.members)
    best = finished.stack or finished.members[-1]
    assert best.test.shape == (6, 3)
    assert best.test.sum(axis=1) == pytest.approx(1)
    assert finished.submission.read_text(encoding="utf-8").startswith("ID,A,B,NEITHER\n")
