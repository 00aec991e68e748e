"""Resolvers of texts by the name of a model, and of GAP's rows as a resolver that finds the names itself."""

from dataclasses import replace
from pathlib import Path

from gapstack import create
from gapstack.data import Corpus, Example
from gapstack.data.clusters import read_clusters
from gapstack.members.pairs_resolver import PairsResolver
from gapstack.resolvers.live import resolve
from gapstack.running_text.text_resolver import TextResolver
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from gapstack.runs.text_resolvers import PAIRS, text_resolver
from gapstack.text_model_files import shipped

STORM = "Anna heard the storm before she left."
TEXT = "Kate told Mary that she should leave."


def test_a_named_model_resolves_by_pairs(pairs_model):
    assert isinstance(text_resolver(str(pairs_model)), PairsResolver)


def test_a_folder_with_a_model_of_running_text_is_one():
    resolver = text_resolver(str(shipped()))
    assert isinstance(resolver, TextResolver)
    assert resolver.model.identity == text_resolver("default").model.identity


def test_the_default_compares_names_that_are_no_person_in_pairs():
    resolver = text_resolver("default")
    assert isinstance(resolver, TextResolver)
    (answer,) = resolver.ask(STORM, names=["Anna", "storm"])
    assert {one.name for one in answer.candidates} == {"Anna", "storm"}


def test_rows_of_gap_are_resolved_without_their_names(pairs_model, tmp_path):
    rows = Corpus([Example.from_text(TEXT, "she", "Kate", "Mary", url="http://w/wiki/Kate")])
    found = resolve(PAIRS, pairs_model, rows, tmp_path / "out.jsonl")
    assert found.clusters.covers(rows).all()
    assert found.clusters.decide(rows).sum() == 1
    (document,) = read_clusters(tmp_path / "out.jsonl", rows).documents
    assert document.link_scores
    titled = resolve(PAIRS, pairs_model, rows, tmp_path / "pages.jsonl", pages=True)
    assert titled.clusters.version == f"{found.clusters.version}+pages"
    (other,) = titled.clusters.documents
    assert other.link_scores != document.link_scores


def test_a_run_resolves_by_its_name(sample_train, sample_test, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    recipe = Recipe("tiny", (Part("prior", "prior"), Part("random", "random")), folds=3)
    run(recipe, sample_train, sample_test, root=tmp_path)
    rows = Corpus([Example.from_text(TEXT, "she", "Kate", "Mary")])
    versions = [
        resolve(PAIRS, Path(name), rows, tmp_path / f"{number}.jsonl").clusters.version
        for number, name in enumerate(["tiny", "tiny:prior", "tiny"])
    ]
    assert versions[0] == versions[2] != versions[1], "another member is another resolver"


def test_rows_that_the_model_has_learned_from_are_warned_of(sample_train, tmp_path, caplog):
    rows = Corpus(replace(row, id=f"test-{number}") for number, row in enumerate(sample_train))
    create("prior").fit(rows).save(tmp_path / "prior")
    resolve(PAIRS, tmp_path / "prior", rows[:2], tmp_path / "out.jsonl")
    assert "share rows with gap-test, and 2 of these 2 rows" in caplog.text
