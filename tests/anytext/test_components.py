"""The pronoun resolver as a spaCy component and as a resolver of GAP's rows."""

from dataclasses import replace
from pathlib import Path

import pytest
import spacy

from gapstack import create
from gapstack.data import Corpus, Example
from gapstack.errors import DataNotFoundError
from gapstack.resolvers.clusters import read_clusters
from gapstack.resolvers.live import ADAPTERS, resolve
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run

TEXT = "Kate told Mary that she should leave."


def test_a_pipeline_sets_clusters_and_links_and_is_stored_with_them(model, tmp_path):
    nlp = spacy.blank("en")  # finds the component by its entry point
    nlp.add_pipe("gapstack", config={"model": str(model)})
    docs = list(nlp.pipe([TEXT, "It rained."]))
    (she,) = [span for span in docs[0].spans["gapstack_clusters"] if span.text == "she"]
    assert she.label_ == "1"
    assert len({span.label_ for span in docs[0].spans["gapstack_clusters"]}) == 1
    assert {link[:2] for link in docs[0]._.gapstack_links} == {(20, 23)}
    assert sum(link[-1] for link in docs[0]._.gapstack_links) <= 1.001
    assert len(docs[1].spans["gapstack_clusters"]) == 0
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")(TEXT)
    assert again._.gapstack_links == docs[0]._.gapstack_links
    assert docs[0].to_bytes()


def test_rows_of_gap_are_resolved_without_their_names(model, tmp_path):
    rows = Corpus([Example.from_text(TEXT, "she", "Kate", "Mary", url="http://w/wiki/Kate")])
    found = resolve(ADAPTERS["gapstack"], model, rows, tmp_path / "out.jsonl")
    assert found.clusters.covers(rows).all()
    assert found.clusters.decide(rows).sum() == 1
    (document,) = read_clusters(tmp_path / "out.jsonl", rows).documents
    assert document.link_scores
    assert ADAPTERS["gapstack"].default is not None
    titled = resolve(ADAPTERS["gapstack"], model, rows, tmp_path / "pages.jsonl", pages=True)
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
        resolve(ADAPTERS["gapstack"], Path(name), rows, tmp_path / f"{number}.jsonl").clusters.version
        for number, name in enumerate(["tiny", "tiny:prior", "tiny"])
    ]
    assert versions[0] == versions[2] != versions[1], "another member is another resolver"


def test_rows_that_the_model_has_learned_from_are_warned_of(sample_train, tmp_path, caplog):
    rows = Corpus(replace(row, id=f"test-{number}") for number, row in enumerate(sample_train))
    create("prior").fit(rows).save(tmp_path / "prior")
    resolve(ADAPTERS["gapstack"], tmp_path / "prior", rows[:2], tmp_path / "out.jsonl")
    assert "share rows with gap-test, and 2 of these 2 rows" in caplog.text


def test_other_resolvers_need_a_model(tmp_path):
    pytest.importorskip("fastcoref", reason="the extra 'fastcoref' is not installed")
    rows = Corpus([Example.from_text(TEXT, "she", "Kate", "Mary")])
    with pytest.raises(DataNotFoundError, match="model="):
        resolve(ADAPTERS["fastcoref"], None, rows, tmp_path / "out.jsonl")
