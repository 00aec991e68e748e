"""A name's gender follows from its title before its first name, and from neither where they do not tell it."""

import pytest

from gapstack.data import Gender
from gapstack.data.gender import gender_of_name, known_first_names

F, M = Gender.FEMININE, Gender.MASCULINE
NAMES = {"Ann": F, "Bo": M}


@pytest.mark.parametrize(
    ("name", "before", "gender"),
    [
        ("Ann Lee", "", F),
        ("ANN", "", F),
        ("Lee", "Then Mrs. ", F),
        ("Ann", "Lord ", M),  # the title comes first
        ("Sir Ann", "", M),
        ("Lee Ann", "", None),
        ("Lee", "mistress ", None),
        ("Bo", "Mr. Lee and ", M),
    ],
)
def test_titles_come_before_first_names(name, before, gender):
    assert gender_of_name(name, before, NAMES) == gender


def test_without_the_data_set_there_are_no_names(tmp_path, monkeypatch):
    monkeypatch.setattr("gapstack.data.sources._places", lambda data: [("nowhere", tmp_path)])
    assert known_first_names() == {}


def test_the_real_list(gap_folder):
    found = known_first_names(gap_folder)
    assert (found["Mary"], found["John"], found.get("Leslie")) == (F, M, None)
