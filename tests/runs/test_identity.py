"""A result is known by everything that decided it: one of them changes, and just that result is made again."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.data import sources
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.files import cache_root
from gapstack.members.resolver import Resolver
from gapstack.registry import UnknownNameError
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.runs import Recipe, RunFolder, run
from gapstack.runs.predict import predict
from gapstack.runs.predictors import stack_identity
from gapstack.runs.recipe import Part
from gapstack.sealed import read_sealed, seal
from gapstack.text.parses import ENVIRONMENT, docs, find_parser, store
from tests.fixtures_encoder import build_tiny_encoder

BESIDE = Part("prior", "prior")
"""A member that nothing here concerns."""
QUICK = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}


class Case:
    """A member, what it reads, and how to change the contents of that under the same name."""

    member: Part
    folds = 3

    def __init__(self, folder, rows, monkeypatch):
        self.folder, self.rows = folder, rows
        self.begin(monkeypatch)
        self.write(0)

    def begin(self, monkeypatch):
        """Set up what does not change."""

    def write(self, version: int):
        """Put a version of what is read into its place."""
        raise NotImplementedError


class ParserFolder(Case):
    changed = "parser"

    def begin(self, monkeypatch):
        self.place = self.folder / "parser"
        self.place.mkdir()
        self.parsed = [doc for _, doc in docs(self.rows.texts)]
        self.member = Part("parallelism", "member", {"parser": str(self.place)})

    def write(self, version):
        """Another pipeline in the folder, with parses in store: where the new one sees any, it sees no subjects."""
        (self.place / "meta.json").write_text(json.dumps({"version": version}))
        for doc in self.parsed if version else ():
            for token in doc:
                token.dep_ = "dep"
        store(self.parsed, cache_root() / "parses" / find_parser(str(self.place)).fingerprint)


class EncoderFolder(Case):
    changed = "encoder"

    def begin(self, monkeypatch):
        self.member = Part("transformer_single", "member", {"encoder": str(self.folder / "encoder")})

    def write(self, version):
        build_tiny_encoder(self.folder / "encoder", seed=version)


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
        monkeypatch.setattr(sources, "find", lambda name, data=None: place if name == "stage2" else None)
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
def carried_out(small, caplog):
    caplog.set_level("INFO", "gapstack")

    def carry_out(members, root, **recipe):
        caplog.clear()
        done = run(Recipe("small", members, folds=3, **recipe), *small, root=root)
        return done, [line for line in caplog.messages if "recomputing" in line]

    return carry_out


@pytest.mark.slow
@pytest.mark.parametrize("case", [ParserFolder, EncoderFolder, ClustersFile, TeacherFile])
def test_other_contents_under_the_same_name_are_another_result(
    case, carried_out, small, tmp_path, monkeypatch
):
    (tmp_path / "inputs").mkdir()
    made = case(tmp_path / "inputs", small[0] + small[1], monkeypatch)
    members = (BESIDE, made.member)
    first, said = carried_out(members, tmp_path / "one")
    assert said == []
    again, said = carried_out(members, tmp_path / "one")
    assert (again.reused, said) == (6, [])

    made.write(1)
    with pytest.raises(MismatchError, match=rf"small:member is stale.*{made.changed} changed \("):
        predict(first.folder, small[1])
    predict(first.folder, small[1], "prior")
    again, said = carried_out(members, tmp_path / "one")
    assert (again.reused, said) == (3, [f"{made.changed} changed: recomputing 3 folds of member"])
    assert not np.allclose(again.members[1].test, first.members[1].test)
    fresh, _ = carried_out(members, tmp_path / "other")
    np.testing.assert_array_equal(again.members[1].test, fresh.members[1].test)
    np.testing.assert_allclose(predict(again.folder, small[1]), again.members[1].test, atol=1e-6)


PAIR = (BESIDE, Part("surface", "member", {"rounds": 5, "bags": 1}))
STACKED = {"stackers": (Part("logistic", "logistic"),)}


def test_a_stack_that_reads_evidence_hangs_on_its_parser(tmp_path, monkeypatch):
    reads, reads_not = (
        Recipe("small", PAIR, stackers=(Part(kind, kind),)) for kind in ("evidence", "logistic")
    )
    assert "parser" in stack_identity(reads)
    assert "parser" not in stack_identity(reads_not)
    before = stack_identity(reads)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert stack_identity(reads)["parser"] != before["parser"]


def test_who_was_taught_answers_without_the_teacher(carried_out, small, tmp_path, monkeypatch):
    (tmp_path / "inputs").mkdir()
    made = TeacherFile(tmp_path / "inputs", small[0] + small[1], monkeypatch)
    done, _ = carried_out((made.member,), tmp_path)
    (tmp_path / "inputs" / "teacher.csv").unlink()
    np.testing.assert_allclose(predict(done.folder, small[1]), done.members[0].test, atol=1e-6)
    with pytest.raises(DataNotFoundError, match=r"there is no file .*teacher\.csv"):
        carried_out((made.member,), tmp_path)


def test_what_changes_while_it_is_read_makes_no_result(carried_out, small, tmp_path, monkeypatch):
    made = ClustersFile(tmp_path, small[0] + small[1], monkeypatch)
    honest = Resolver._fit
    monkeypatch.setattr(Resolver, "_fit", lambda self, corpus: (honest(self, corpus), made.write(1))[0])
    with pytest.raises(MismatchError, match="clusters changed"):
        carried_out((made.member,), tmp_path / "home")
    assert RunFolder(tmp_path / "home" / "models" / "small").job("member", 0) is None


class TestShow:
    @pytest.fixture
    def done(self, carried_out, tmp_path, monkeypatch):
        monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
        return carried_out(PAIR, tmp_path, **STACKED)[0]

    def show(self, *arguments):
        return CliRunner().invoke(app, ["show", "--identity", *arguments])

    def test_each_result_says_what_it_was_made_of(self, done, small):
        shown = self.show("small").output
        for said in (small[0].fingerprint, small[1].fingerprint, "official", "lightgbm", "45 rows"):
            assert said in shown
        stored = done.folder.job("member", 0)["identity"]
        row = next(line for line in shown.splitlines() if line.startswith("member"))
        assert row.split()[1:4] == ["3", "of", "3"]
        assert stored["source"][:8] in row
        found = json.loads(self.show("small", "--json").output)
        assert [(each["label"], each["done"]) for each in found["results"]] == [
            *(("prior", "3 of 3"), ("member", "3 of 3"), ("stack", "yes"))
        ]
        assert found["results"][1]["identity"] == stored
        assert found["results"][1]["versions"]["numpy"] == np.__version__

    def test_folds_of_different_making_have_lines_of_their_own(self, done):
        path = done.folder.fold("member", 2) / "job.json"
        record = read_sealed(path)
        record["identity"]["source"] = "0" * 16
        seal(path, record, beside=True)
        found = json.loads(self.show("small", "--json").output)["results"]
        assert [each["done"] for each in found if each["label"] == "member"] == ["2 of 3", "1 of 3"]

    def test_a_run_that_is_not_there_is_named_with_one_that_is(self, done):
        with pytest.raises(UnknownNameError, match='no run is called "smal"; did you mean small'):
            CliRunner().invoke(app, ["show", "smal"], catch_exceptions=False)
