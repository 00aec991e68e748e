"""A name's gender follows from its title before its first name, and from neither where they do not tell it."""

import pytest

from gapstack.corpus import Gender
from gapstack.corpus.first_names import first_names, gender_of_name, known_first_names
from gapstack.errors import DataError, DataNotFoundError

NAMES = {"ann": Gender.FEMININE, "bo": Gender.MASCULINE}
F, M = Gender.FEMININE, Gender.MASCULINE


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


def written(folder, text):
    (folder / "names").mkdir(exist_ok=True)
    (folder / "names" / "ssa_first_names_by_gender.csv").write_text(text, encoding="utf-8")
    return folder


def test_names_of_both_sexes_and_rare_ones_tell_nothing(tmp_path):
    data = written(tmp_path, "name,count_F,count_M\nAnn,9600,400\nKim,9400,600\nZoe,999,0\nBo,0,1000\n")
    assert first_names(data) == {"ann": F, "bo": M}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,count_F\nAnn,1\n", "no column count_M"),
        ("name,count_F,count_M\nAnn,many,1\n", "line 2: a count"),
    ],
)
def test_broken_lists_are_refused(text, problem, tmp_path):
    with pytest.raises(DataError, match=problem):
        first_names(written(tmp_path, text))


def test_without_the_data_set_there_are_no_names(tmp_path, monkeypatch):
    monkeypatch.setattr("gapstack.corpus.sources._places", lambda data: [("nowhere", tmp_path)])
    assert known_first_names() == {}
    with pytest.raises(DataNotFoundError):
        first_names()


def test_the_real_list(gap_folder):
    found = first_names(gap_folder)
    assert (found["mary"], found["john"]) == (F, M)
    assert "leslie" not in found
