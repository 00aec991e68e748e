"""Systems that see the text and the pronoun alone: the people found take the place of the two names."""

import pytest

from gapstack.audits import audit
from gapstack.audits.find_candidates import CandidateFinder
from gapstack.data import Corpus, Example
from gapstack.errors import MemberError
from gapstack.members import create


@pytest.fixture(scope="module")
def member(sample_train):
    return create("token_distance").fit(sample_train)


def test_names_are_found_in_the_text_and_occupations_are_not(member):
    rows = Corpus(
        [
            Example.from_text("Kate Winslet met Mary. Winslet said that she left.", "she", "Winslet", "Mary"),
            Example.from_text(
                "Kate Winslet met Mary. Winslet said that she left.", "she", "Mary", ("Winslet", 2)
            ),
            Example.from_text("The plumber thanked Mary, as she knew.", "she", "The plumber", "Mary"),
        ],
        name="rows",
    )
    finder = CandidateFinder(member)
    assert finder.found(rows).tolist() == [[True, True], [True, True], [False, True]]
    first, second, third = probabilities = finder.predict_proba(rows)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert first == pytest.approx(second[[1, 0, 2]])
    assert first[0] > first[1] > 0
    assert third[0] == 0


def test_an_audit_says_how_often_the_candidates_are_found(member):
    found = audit(member, suites=["two_genders"], find_candidates=True)
    (covered,) = found.covered
    (row,) = covered.findings.tables[-1].rows.values()
    assert 80 < row["found"].value < 100
    assert "finds the people itself" in found.note


def test_files_cannot_find_candidates(tmp_path):
    (tmp_path / "two_genders.csv").write_text("ID,A,B,NEITHER\n")
    with pytest.raises(MemberError, match="cannot predict new texts"):
        audit(tmp_path, find_candidates=True)
