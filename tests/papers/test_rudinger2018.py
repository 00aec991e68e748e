"""Winogender's paper: every published figure has its cell, and known answers have the figures that they must."""

import json

import pytest

from gapstack.audits import SUITES
from gapstack.data.gap_data import GapData
from gapstack.data.gap_files import write_submission
from gapstack.errors import DataNotFoundError
from gapstack.papers import rudinger2018
from tests.audits import policies


@pytest.fixture(scope="module")
def report(gap_folder, sample_train, sample_test, tmp_path_factory):
    """One of our cues, and files of two systems whose answers are known."""
    items = SUITES["winogender"].load()
    folder = tmp_path_factory.mktemp("answers")
    for name in ("oracle", "stereotype"):
        answers = getattr(policies, name)(items)
        write_submission(folder / name / "winogender.csv", items.corpus.ids, answers)
    gap = GapData({"train": sample_train, "test": sample_test}, "the sample", is_sample=True)
    return rudinger2018.reproduce(gap, [str(folder)], members=["token_distance"])


def cells(table, system, section="ours"):
    """Cells of a row by column."""
    rows = next(part.rows for part in table.sections if part.title == section)
    return dict(rows)[system]


def test_systems_with_known_answers_have_the_figures_that_they_must(report):
    _, gotchas, resolved, humans, _, examples = report.tables
    everything = (100, 100, 100)
    kinds = [f"{gender}_{kind}" for gender in ("feminine", "masculine") for kind in ("no", "yes")]
    assert all(cells(gotchas, "oracle", "")[kind] == everything for kind in kinds)
    assert cells(resolved, "oracle", "")["flips"] == (0, 0, 0)
    assert cells(resolved, "stereotype", "")["flips"] == everything
    assert cells(humans, "oracle") == {"accuracy": everything, "of": 720}
    assert cells(examples, "oracle") == {"manager": "50.0 (2 of 4)", "doctor": "50.0 (2 of 4)"}
    assert cells(examples, "stereotype") == {"manager": "0.0 (0 of 4)", "doctor": "0.0 (0 of 4)"}
    # it reads only the number of the pronoun's letters
    assert cells(resolved, "token_distance", "")["flips"] == (0, 0, 0)


def test_figure_3_is_computed_from_the_statistics(report, tmp_path):
    found = report.record["figure3"]
    assert round(found["pearson_r"]["value"], 2) == 0.67
    assert found["fewer_women_in_text"] == 54
    paths = report.write(tmp_path)
    assert [path.name for path in paths[2:]] == ["figure3.svg", "figure4_bls.svg", "figure4_text.svg"]
    assert paths[2].read_text().count("<circle") == 60
    assert json.loads(paths[1].read_text())["audit"]["systems"] == ["token_distance", "oracle", "stereotype"]


def test_without_winogender_nothing_is_fitted(tmp_path, monkeypatch, sample_train, sample_test):
    monkeypatch.setattr("gapstack.data.sources.places", lambda: [("given", tmp_path)])
    gap = GapData({"train": sample_train, "test": sample_test}, "the sample", is_sample=True)
    with pytest.raises(DataNotFoundError, match="winogender"):
        rudinger2018.reproduce(gap, members=["nobody"])
