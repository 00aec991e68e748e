"""One audit of members and files: what is covered, refused, marked, averaged and reported."""

import json

import numpy as np
import pytest

from gapstack.audits import SUITES, Target, audit, files_target, page, report, target_of, write_rows
from gapstack.audits.audit_report import card_lines, headline_tables, verdict
from gapstack.data import Gender
from gapstack.data.gap_files import write_submission
from gapstack.errors import DataError, DataNotFoundError, MemberError
from gapstack.members import create
from gapstack.members.member import Member
from gapstack.members.saved import save
from gapstack.registry import UnknownNameError
from tests.audits import policies


class Masculinist(Member):
    """A for a masculine pronoun, B for any other; perhaps trained on Winogender."""

    def __init__(self, trained: bool = False):
        self.trained = trained

    @property
    def contaminated_by(self):
        return ("winogender",) if self.trained else ()

    def _fit(self, corpus):
        pass

    def _predict_proba(self, corpus):
        masculine = corpus.genders == Gender.MASCULINE.value
        return np.where(masculine[:, None], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1])


@pytest.fixture
def member(sample_train):
    return Masculinist().fit(sample_train)


def flips(found, system):
    (covered,) = found.covered
    return covered.findings.tables[2].rows[system]["flips"].value


def test_averaging_over_the_swapped_gender_leaves_no_flip(gap_folder, member):
    target = Target({"m": member}, "members")
    assert flips(audit(target, gap_folder, ["winogender"]), "m") == 100
    averaged = audit(target, gap_folder, ["winogender"], average=["swap_gender"])
    assert flips(averaged, "m") == 0
    again = audit(target, gap_folder, ["winogender"], average=["original", "swap_gender"])
    assert flips(again, "m") == 0, "the rows as they are count once, named or not"
    assert "swap_gender" in " ".join(card_lines(averaged))


def test_contaminated_systems_are_refused_or_marked(gap_folder, sample_train, member):
    target = Target({"clean": member, "trained": Masculinist(trained=True).fit(sample_train)}, "members")
    refused = audit(target, gap_folder, ["winogender"])
    assert refused.refused == {"winogender": ("trained",)}
    assert list(refused.covered[0].answers) == ["clean"]
    assert any("trained excluded" in line for line in card_lines(refused))
    allowed = audit(target, gap_folder, ["winogender"], allow_contaminated=True)
    assert allowed.covered[0].marked == ("trained*",)
    assert list(allowed.covered[0].findings.tables[0].rows) == ["clean", "trained*"]
    assert "(marked *)" in " ".join(card_lines(allowed))
    alone = audit(Target({"trained": target.systems["trained"]}, "members"), gap_folder, ["winogender"])
    assert not alone.covered
    assert "trained on data" in alone.not_covered["winogender"]


def test_absent_data_are_named_with_the_reason(tmp_path, monkeypatch, member):
    monkeypatch.setattr("gapstack.data.sources.places", lambda: [("given", tmp_path)])
    found = audit(Target({"m": member}, "members"), tmp_path)
    own = [covered.suite.name for covered in found.covered]
    assert own == ["surnames", "two_genders"]
    assert set(found.not_covered) == {*SUITES, "bug", "pdp"} - set(own)
    assert "at none of the places searched" in found.not_covered["knowref"]
    assert any("Not covered: bug: " in line for line in card_lines(found))


def test_rows_written_answered_by_file_and_read_back(gap_folder, tmp_path, monkeypatch, member):
    monkeypatch.setattr("gapstack.audits.run.SUITES", {name: SUITES[name] for name in ("winogender", "gap")})
    paths = {path.stem: path for path in write_rows(tmp_path / "rows")}
    assert list(paths) == ["winogender", "gap"]
    corpus = SUITES["winogender"].load().corpus
    header, first = paths["winogender"].read_text(encoding="utf-8").splitlines()[:2]
    assert header.split("\t")[:2] == ["ID", "Text"]
    assert first.split("\t")[0] == corpus.ids[0]
    answers = tmp_path / "answers"
    write_submission(answers / "winogender.csv", corpus.ids, member.predict_proba(corpus))
    target = target_of(str(answers), tuple(SUITES))
    found = audit(target, gap_folder)
    assert [covered.suite.name for covered in found.covered] == ["winogender"]
    assert flips(found, "answers") == 100
    assert found.not_covered["gap"] == "there is no file of answers"
    with pytest.raises(DataError, match="cannot be averaged"):
        audit(target, gap_folder, average=["swap_gender"])


def test_the_report_is_complete_in_all_its_forms(gap_folder, tmp_path, monkeypatch, member):
    found = audit(Target({"m": member}, "the member <b>"), gap_folder, ["winogender", "wsc273"])
    paths = report(found, details=True).write(tmp_path)
    record = json.loads(paths[1].read_text(encoding="utf-8"))
    panel = record["suites"]["winogender"]["panels"]["winogender.resolved"]
    assert panel["rows"]["m"]["flips"]["value"] == 100
    assert "M/F flips 100.0" in paths[0].read_text(encoding="utf-8")
    figures = {path.stem: path.read_text(encoding="utf-8") for path in paths if path.suffix == ".svg"}
    assert list(figures) == ["winogender.figure3", "winogender.figure4_bls", "winogender.figure4_text"]
    assert all(drawn.count("<circle") == 60 for drawn in figures.values())


def test_the_verdict_and_the_headlines_are_by_system(gap_folder, member, sample_train):
    pair = Target({"m": member, "prior": create("prior").fit(sample_train)}, "members")
    found = audit(pair, gap_folder, ["winogender", "wsc273"])
    (both,) = verdict(found)
    assert both.startswith("m, prior. ")
    assert "clear difference between the genders" not in both
    assert "At chance, where a difference shows how it guesses, in 2: Winogender schemas; Winograd" in both
    assert repr(found).count("\n") < 10
    differences, scores = headline_tables(found)
    assert [name for name, _ in scores.sections[0].rows] == ["m", "prior"]
    shown = {name: cells["Winogender schemas"].value for name, cells in differences.sections[0].rows}
    assert shown == {"m": 100, "prior": 0}


def test_targets_are_found_by_name_and_anything_else_is_refused(tmp_path, sample_train):
    save(create("prior").fit(sample_train), "prior", tmp_path / "prior")
    assert list(target_of(str(tmp_path / "prior"), tuple(SUITES)).systems) == ["prior"]
    with pytest.raises(DataNotFoundError, match="not a run, member or file"):
        target_of(str(tmp_path / "nothing"), tuple(SUITES))
    (tmp_path / "other.csv").write_text("ID,A,B,NEITHER\n")
    with pytest.raises(DataError, match="named by suite"):
        files_target(tmp_path / "other.csv", tuple(SUITES))
    with pytest.raises(UnknownNameError, match="no suite is called"):
        audit(Target({}, "members"), suites=["winogendre"])


@pytest.mark.slow
def test_several_workers_measure_what_one_does(gap_folder, tmp_path):
    for name in ("wsc273", "winogender"):
        items = SUITES[name].load()
        write_submission(tmp_path / "mine" / f"{name}.csv", items.corpus.ids, policies.oracle(items))
    alone, together = (audit(tmp_path / "mine", gap_folder, workers=workers) for workers in (1, 2))
    assert [covered.suite.name for covered in together.covered] == ["winogender", "wsc273"]
    assert report(together).record == report(alone).record


def test_objects_are_audited_in_this_process(gap_folder, member):
    with pytest.raises(MemberError, match="name"):
        audit(member, gap_folder, ["winogender"], workers=2)


@pytest.mark.parametrize("limit", [1, 24])
def test_a_trial_takes_a_few_rows_of_every_suite_and_keeps_pairs_together(gap_folder, member, limit):
    found = audit(Target({"m": member}, "members"), gap_folder, limit=limit)
    assert len(found.covered) > 6
    for covered in found.covered:
        items = covered.items
        assert (
            len(items.corpus)
            == len(covered.answers["m"])
            == len(next(iter(items.facts.values()), items.corpus))
        )
        if covered.suite.together:
            _, sizes = np.unique(items.facts[covered.suite.together], return_counts=True)
            assert sizes.min() >= 2
            assert len(items.corpus) <= max(limit, sizes.max())
        else:
            assert len(items.corpus) == limit
    assert report(found).parts
    assert page(found)


def test_files_are_audited_whole(gap_folder, tmp_path):
    write_submission(tmp_path / "winogender.csv", ["a"], np.full((1, 3), 1 / 3))
    with pytest.raises(DataError):
        audit(tmp_path, gap_folder, ["winogender"], limit=5)
