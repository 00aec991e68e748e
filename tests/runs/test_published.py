"""The teams' recipes: each runs from end to end, on a tiny encoder, with what depends on depth brought to its own."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from transformers import BertConfig, BertForMaskedLM

from gapstack.data import sources
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.members import soft_labels
from gapstack.members.name_substitution import COMMON_NAMES
from gapstack.members.part import Part
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.runs.recipe import Recipe, available
from gapstack.runs.rescale import on_encoder
from gapstack.runs.runner import run
from tests.encoding.architectures import ARCHITECTURES, build
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


@pytest.mark.slow
def test_modern_runs_on_tiny_models_of_its_encoders_names(few, sample_test, tmp_path, monkeypatch):
    recipe = Recipe.load("modern")
    names = {part.settings["encoder"] for part in recipe.members if "encoder" in part.settings}
    for name, architecture in zip(sorted(names), ("ModernBERT", "DeBERTa-v3"), strict=True):
        build(ARCHITECTURES[architecture], tmp_path / name)
    taught, clusters = tmp_path / "teacher", tmp_path / "clusters.jsonl"
    write_gap(taught / "rows.tsv", sample_test[6:20])
    write_submission(taught / "answers.csv", sample_test.ids[6:20], np.full((14, 3), [0.6, 0.3, 0.1]))
    documents = [
        Document(row.id, text_sha256(row.text), ((row.pronoun, row.a),)) for part in few for row in part
    ]
    write_clusters(clusters, Clusters("ours", "1", documents))
    recipe = recipe.override("teacher", str(taught)).override("clusters", [str(clusters)])
    monkeypatch.chdir(tmp_path)
    finished = run(quick(recipe), *few, root=tmp_path)
    assert {member.label for member in finished.members} >= {
        *("neuralcoref", "surface_taught", "tuned_spans_deberta-v3-large", "probert_ModernBERT-large"),
        *("frozen_spans_deberta-v3-large", "frozen_spans_ModernBERT-large"),
    }
    assert finished.stack.test.shape == (6, 3)
    assert finished.stack.test.sum(axis=1) == pytest.approx(1)
