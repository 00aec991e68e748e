"""Published figures: one reader, and what is said where they are missing."""

import json
from pathlib import Path

import pytest

from gapstack.corpus.papers import PAPERS, paper, papers_note
from gapstack.corpus.sources import find
from gapstack.errors import DataError

pytestmark = pytest.mark.usefixtures("no_shared_papers")


@pytest.fixture
def no_shared_papers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only the folder that a test names is searched."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("GAP_DATA", str(tmp_path / "elsewhere"))


def _write(folder: Path, name: str, text: str) -> Path:
    (folder / "papers").mkdir(parents=True, exist_ok=True)
    (folder / "papers" / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def test_reads_a_paper(tmp_path: Path) -> None:
    data = _write(tmp_path, "dawkins2021", json.dumps({"paper": "Dawkins 2021", "table1": {"GloVe": [72.3]}}))
    assert paper("dawkins2021", data)["table1"] == {"GloVe": [72.3]}
    assert papers_note("dawkins2021", data=data) == ""


def test_a_reader_cannot_change_what_the_next_one_sees(tmp_path: Path) -> None:
    data = _write(tmp_path, "dawkins2021", json.dumps({"paper": "Dawkins 2021", "table1": {"GloVe": [72.3]}}))
    paper("dawkins2021", data)["table1"]["GloVe"].append(0)
    assert paper("dawkins2021", data)["table1"] == {"GloVe": [72.3]}


def test_missing_papers_are_named(tmp_path: Path) -> None:
    data = _write(tmp_path, "dawkins2021", json.dumps({"paper": "Dawkins 2021"}))
    assert paper("webster2018", data) == {}
    assert "webster2018.json" in papers_note("dawkins2021", "webster2018", data=data)
    assert "dawkins2021.json" not in papers_note("dawkins2021", "webster2018", data=data)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    data = _write(tmp_path, "dawkins2021", "[]")
    with pytest.raises(DataError, match=r"dawkins2021\.json"):
        paper("dawkins2021", data)


def test_all_papers_are_at_hand_where_the_data_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAP_DATA")
    if find("papers") is None:
        pytest.skip("the data set papers is not here")
    assert all("paper" in paper(name) for name in PAPERS)
