"""Published figures: one reader, and a note if they are missing."""

import json

import pytest

from gapstack.data.sources import PAPERS, find, paper, papers_note
from gapstack.errors import DataError


@pytest.fixture
def data(monkeypatch, tmp_path):
    """The only folder that is searched, with one paper's figures."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "dawkins2021.json").write_text(json.dumps({"table1": {"GloVe": [72.3]}}))
    monkeypatch.setenv("GAP_DATA", str(tmp_path))
    return tmp_path


def test_missing_papers_are_named(data):
    assert paper("webster2018", data) == {}
    assert papers_note("dawkins2021", data=data) == ""
    assert "webster2018.json" in papers_note("dawkins2021", "webster2018", data=data)


def test_a_damaged_file_is_refused(data):
    (data / "papers" / "webster2019.json").write_text("[]")
    with pytest.raises(DataError, match=r"webster2019\.json"):
        paper("webster2019", data)


def test_all_papers_are_available_with_the_data():
    if find("papers") is None:
        pytest.skip("the data set papers is not here")
    assert all("paper" in paper(name) for name in PAPERS)
