"""Results are recomputed if something that decided them changes, and only then."""

import json

import numpy as np
import pytest

from gapstack.data import sources
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.language.parses import ENVIRONMENT
from gapstack.members.resolver import Resolver
from gapstack.records import read_sealed, seal
from gapstack.runs.predictors import stack_identity
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from tests.commands import gap, refused
from tests.fixtures_encoder import build_tiny_encoder
from tests.runs.conftest import predict

PRIOR = Part("prior", "prior")
PAIR = (PRIOR, Part("surface", "member", {"rounds": 5, "bags": 1}))
QUICK = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}


@pytest.fixture
def small(sample_train, sample_test):
    return sample_train[:45], sample_test[:12]


@pytest.fixture
def execute(small, caplog):
    """Run members, and return the run and what was logged about results that are recomputed."""
    caplog.set_level("INFO", "gapstack")

    def carry_out(members, root, **recipe):
        caplog.clear()
        done = run(Recipe("small", members, folds=3, **recipe), *small, root=root)
        return done, [line for line in caplog.messages if "recomputing" in line]

    return carry_out


@pytest.fixture
def clusters(small, tmp_path):
    """A member that reads clusters of all rows, and a function that changes these under the same name."""

    def write(*names):
        documents = [
            Document(row.id, text_sha256(row.text), ((row.pronoun, getattr(row, names[n % len(names)])),))
            for n, row in enumerate(small[0] + small[1])
        ]
        write_clusters(tmp_path / "clusters.jsonl", Clusters("oracle", "1", documents))

    write("a")
    return Part("resolver", "member", {"clusters": [str(tmp_path / "clusters.jsonl")]}), write


@pytest.fixture
def distilled(small, tmp_path, monkeypatch):
    """A member that learns from soft labels of eight rows in ``teacher.csv``."""
    rows, place = small[1][-8:], tmp_path / "gap_stage2" / "test_stage_2.tsv"
    place.parent.mkdir()
    write_gap(place, rows.unlabelled())
    write_submission(tmp_path / "teacher.csv", rows.ids, np.tile([0.8, 0.1, 0.1], (8, 1)))
    # no GAP to keep apart from
    found = sources.DataLocation(place, "test")
    monkeypatch.setattr(sources, "search", lambda name: found if name == "stage2" else None)
    encoder = build_tiny_encoder(tmp_path / "encoder")
    settings = {"encoder": str(encoder), "teacher": [str(tmp_path / "teacher.csv")]}
    return Part("probert", "member", settings | QUICK)


def test_other_contents_under_the_same_name_are_another_result(execute, small, clusters, tmp_path):
    member, write = clusters
    first, logged = execute((PRIOR, member), tmp_path / "one")
    assert logged == []
    again, logged = execute((PRIOR, member), tmp_path / "one")
    assert (again.reused, logged) == (6, [])
    write("a", "b")
    with pytest.raises(MismatchError, match=r"small:member is stale.*clusters changed \("):
        predict(first.folder, small[1])
    predict(first.folder, small[1], "prior")
    again, logged = execute((PRIOR, member), tmp_path / "one")
    assert (again.reused, logged) == (3, ["clusters changed: recomputing 3 folds of member"])
    fresh, _ = execute((PRIOR, member), tmp_path / "other")
    assert not np.allclose(again.members[1].test, first.members[1].test)
    np.testing.assert_array_equal(again.members[1].test, fresh.members[1].test)
    np.testing.assert_allclose(predict(again.folder, small[1]), again.members[1].test, atol=1e-6)


def test_a_stack_that_reads_evidence_depends_on_its_parser(tmp_path, monkeypatch):
    evidence, logistic = (
        Recipe("small", PAIR, stackers=(Part(kind, kind),)) for kind in ("evidence", "logistic")
    )
    before = stack_identity(evidence)
    assert "parser" not in stack_identity(logistic)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert stack_identity(evidence)["parser"] != before["parser"]


def test_a_distilled_member_predicts_without_its_teacher(execute, small, distilled, tmp_path):
    done, _ = execute((distilled,), tmp_path)
    (tmp_path / "teacher.csv").unlink()
    np.testing.assert_allclose(predict(done.folder, small[1]), done.members[0].test, atol=1e-6)
    with pytest.raises(DataNotFoundError, match=r"no such file: .*teacher\.csv"):
        execute((distilled,), tmp_path)


def test_inputs_that_change_during_a_run_end_it(execute, clusters, tmp_path, monkeypatch):
    fit, (member, write) = Resolver._fit, clusters
    monkeypatch.setattr(Resolver, "_fit", lambda self, corpus: (fit(self, corpus), write("b"))[0])
    with pytest.raises(MismatchError, match="other inputs"):
        execute((member,), tmp_path / "home")


def test_show_lists_what_each_result_was_computed_from(execute, small, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    done, _ = execute(PAIR, tmp_path, stackers=(Part("logistic", "logistic"),))
    stored = done.folder.job("member", 0)["identity"]
    shown = gap("show", "small", "--identity")
    for one in (small[0].fingerprint, small[1].fingerprint, stored["source"][:8]):
        assert one in shown
    path = done.folder.fold("member", 2) / "job.json"
    record = read_sealed(path)
    record["identity"]["source"] = "0" * 16
    seal(path, record, with_files=True)
    found = json.loads(gap("show", "small", "--identity", "--json"))["results"]
    expected = [("prior", "3 of 3"), ("member", "2 of 3"), ("member", "1 of 3"), ("stack", "1 of 1")]
    assert [(each["label"], each["done"]) for each in found] == expected
    assert found[1]["identity"] == stored
    assert "did you mean small" in refused("show", "smal")
