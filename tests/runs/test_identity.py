"""Results are recomputed if something that decided them changes, and only then."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.data import sources
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.members.resolver import Resolver
from gapstack.records import read_sealed, seal
from gapstack.registry import UnknownNameError
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.runs.predictors import stack_identity
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run
from gapstack.text.parses import ENVIRONMENT
from tests.fixtures_encoder import build_tiny_encoder
from tests.runs.conftest import predict

PRIOR = Part("prior", "prior")
QUICK = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}


class Case:
    """A member, what it reads from ``folder``, and how to change the contents of that under the same name."""

    member: Part

    def __init__(self, folder, rows, monkeypatch):
        folder.mkdir(exist_ok=True)
        self.folder, self.rows = folder, rows
        self.begin(monkeypatch)
        self.write(0)

    def begin(self, monkeypatch): ...

    def write(self, version: int): ...


class ClustersFile(Case):
    changed = "clusters"

    def begin(self, monkeypatch):
        self.member = Part("resolver", "member", {"clusters": [str(self.folder / "clusters.jsonl")]})

    def write(self, version):
        documents = [
            Document(row.id, text_sha256(row.text), ((row.pronoun, row.b if version and n % 2 else row.a),))
            for n, row in enumerate(self.rows)
        ]
        write_clusters(self.folder / "clusters.jsonl", Clusters("oracle", "1", documents))


class TeacherFile(Case):
    changed = "teacher"

    def begin(self, monkeypatch):
        place = self.folder / "gap_stage2" / "test_stage_2.tsv"
        place.parent.mkdir()
        write_gap(place, self.rows[-8:].unlabelled())
        # no GAP to keep apart from
        found = sources.DataLocation(place, "test")
        monkeypatch.setattr(sources, "search", lambda name, data=None: found if name == "stage2" else None)
        build_tiny_encoder(self.folder / "encoder")
        settings = {"encoder": str(self.folder / "encoder"), "teacher": [str(self.folder / "teacher.csv")]}
        self.member = Part("probert", "member", settings | QUICK)

    def write(self, version):
        answers = np.roll(np.tile([0.8, 0.1, 0.1], (8, 1)), version, axis=1)
        write_submission(self.folder / "teacher.csv", self.rows.ids[-8:], answers)


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


@pytest.mark.slow
@pytest.mark.parametrize("case", [ClustersFile, TeacherFile])
def test_other_contents_under_the_same_name_are_another_result(case, execute, small, tmp_path, monkeypatch):
    made = case(tmp_path / "inputs", small[0] + small[1], monkeypatch)
    members = (PRIOR, made.member)
    first, logged = execute(members, tmp_path / "one")
    assert logged == []
    again, logged = execute(members, tmp_path / "one")
    assert (again.reused, logged) == (6, [])

    made.write(1)
    with pytest.raises(MismatchError, match=rf"small:member is stale.*{made.changed} changed \("):
        predict(first.folder, small[1])
    predict(first.folder, small[1], "prior")
    again, logged = execute(members, tmp_path / "one")
    assert (again.reused, logged) == (3, [f"{made.changed} changed: recomputing 3 folds of member"])
    assert not np.allclose(again.members[1].test, first.members[1].test)
    fresh, _ = execute(members, tmp_path / "other")
    np.testing.assert_array_equal(again.members[1].test, fresh.members[1].test)
    np.testing.assert_allclose(predict(again.folder, small[1]), again.members[1].test, atol=1e-6)


PAIR = (PRIOR, Part("surface", "member", {"rounds": 5, "bags": 1}))


def test_a_stack_that_reads_evidence_depends_on_its_parser(tmp_path, monkeypatch):
    evidence, logistic = (
        Recipe("small", PAIR, stackers=(Part(kind, kind),)) for kind in ("evidence", "logistic")
    )
    before = stack_identity(evidence)
    assert "parser" not in stack_identity(logistic)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert stack_identity(evidence)["parser"] != before["parser"]


def test_a_taught_member_predicts_without_its_teacher(execute, small, tmp_path, monkeypatch):
    made = TeacherFile(tmp_path / "inputs", small[0] + small[1], monkeypatch)
    done, _ = execute((made.member,), tmp_path)
    (tmp_path / "inputs" / "teacher.csv").unlink()
    np.testing.assert_allclose(predict(done.folder, small[1]), done.members[0].test, atol=1e-6)
    with pytest.raises(DataNotFoundError, match=r"no such file: .*teacher\.csv"):
        execute((made.member,), tmp_path)


def test_inputs_that_change_during_a_run_end_it(execute, small, tmp_path, monkeypatch):
    made = ClustersFile(tmp_path, small[0] + small[1], monkeypatch)
    fit = Resolver._fit
    monkeypatch.setattr(Resolver, "_fit", lambda self, corpus: (fit(self, corpus), made.write(1))[0])
    with pytest.raises(MismatchError, match="other inputs"):
        execute((made.member,), tmp_path / "home")


def test_show_lists_what_each_result_was_computed_from(execute, small, tmp_path, monkeypatch):
    def show(*arguments):
        return CliRunner().invoke(app, ["show", *arguments], catch_exceptions=False).output

    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    done, _ = execute(PAIR, tmp_path, stackers=(Part("logistic", "logistic"),))
    stored = done.folder.job("member", 0)["identity"]
    shown = show("small", "--identity")
    for one in (small[0].fingerprint, small[1].fingerprint, stored["source"][:8]):
        assert one in shown
    found = json.loads(show("small", "--identity", "--json"))["results"]
    expected = [("prior", "3 of 3"), ("member", "3 of 3"), ("stack", "1 of 1")]
    assert [(each["label"], each["done"]) for each in found] == expected
    assert found[1]["identity"] == stored
    path = done.folder.fold("member", 2) / "job.json"
    record = read_sealed(path)
    record["identity"]["source"] = "0" * 16
    seal(path, record, with_files=True)
    found = json.loads(show("small", "--identity", "--json"))["results"]
    assert [each["done"] for each in found if each["label"] == "member"] == ["2 of 3", "1 of 3"]
    with pytest.raises(UnknownNameError, match="did you mean small"):
        show("smal")
