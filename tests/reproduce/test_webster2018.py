"""The reproduction has every table, its figures are the scorer's, and none of the paper's is made up."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gapstack.corpus.sources import GapData
from gapstack.errors import DataError, DataNotFoundError
from gapstack.members import create
from gapstack.report.scatter import precision_recall_svg
from gapstack.reproduce.webster2018 import reproduce
from gapstack.reproduce.webster2018_systems import CUES, random_decisions, read_e2e, read_resolvers
from gapstack.reproduce.webster2018_tables import PAPER
from gapstack.scoring import score_decisions
from gapstack.text.parses import parses
from gapstack.text.scenes import Setting


@pytest.fixture(scope="module")
def report(sample_train, sample_test, tiny_encoder_folder, tmp_path_factory):
    """The report on the embedded sample with the tiny encoder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("cache")))
        try:
            parses(sample_train + sample_test)
        except DataNotFoundError as missing:
            pytest.skip(f"the structural cues need parses: {missing}")
        data = GapData({"train": sample_train, "test": sample_test}, "the sample", is_sample=True)
        return reproduce(data, str(tiny_encoder_folder))


def cells(report, table: int, section: int = 0) -> dict[str, dict]:
    rows = report.json()["tables"][table]["sections"][section]["rows"]
    return {row["name"]: row for row in rows}


def test_every_table_is_there_and_shows_in_every_form(report, tmp_path):
    numbers = [title.split(":")[0] for table in report.tables if (title := table.title).startswith("Table")]
    assert numbers == [f"Table {n}" for n in (4, 6, 7, 8, 9, 10, 11)]
    assert len(report.tables) == len(numbers) + 2  # precision and recall by gender, on two splits
    text = report.text()
    assert all(number in text and number in report.markdown() for number in numbers)
    assert max(map(len, text.splitlines()[: text.splitlines().index(report.notes[0])])) <= 120
    paths = report.write(tmp_path / "new")
    assert json.loads(paths[1].read_text(encoding="utf-8")) == json.loads(json.dumps(report.json()))
    assert ET.parse(paths[2]).getroot().tag.endswith("svg")


def test_both_settings_have_every_cue_beside_the_papers_figure(report):
    for table, setting in ((1, "snippet-context"), (2, "gold-two-mention")):
        found = cells(report, table)
        assert list(found) == list(PAPER[setting])
        for name, row in found.items():
            assert [row[f"paper_{c}"] for c in PAPER["columns"]] == PAPER[setting][name]
            assert row["overall"] is not None


def test_figures_are_the_scorers(report, sample_test):
    decided = create("token_distance").decide(sample_test)
    f1, rates = (cells(report, table, -1)["Token distance"] for table in (6, 7))
    scores = score_decisions(sample_test, decided)
    assert f1["overall"] == scores.f1_overall
    assert f1["paper_overall"] is None
    assert rates["feminine_recall"] == scores.gap.feminine.recall


def test_the_best_head_of_the_table_is_the_one_named(report):
    heads = {
        f"{name}{h}": f1 for name, row in cells(report, 3).items() for h, f1 in row.items() if h != "name"
    }
    assert len(heads) == 4
    assert f"Best head: {max(heads, key=heads.get)}." in report.tables[3].caption


def test_cross_table_and_bins_hold_all_rows(report, sample_test):
    for section in (0, 1):
        rows = cells(report, 4, section).values()
        assert sum(row["right"] + row["wrong"] for row in rows) == pytest.approx(100)
    bins = cells(report, 8)
    assert next(iter(bins)) == "4 right (Green)"
    assert list(bins)[-1] == "0 right (Red)"
    assert sum(row[f"{sample_test.name}_rows"] for row in bins.values()) == len(sample_test)
    assert [row["paper"] for row in bins.values()] == PAPER["agreement_with_gold"]["shares"]
    assert "Transformer-Multi, Parallelism, Syntactic distance, Token distance" in report.tables[8].caption


def test_what_is_not_known_of_the_paper_is_null_and_the_rest_adds_up():
    assert (
        PAPER["parallelism_against_transformer"]
        is PAPER["precision_and_recall"]
        is PAPER["heads"]["f1"]
        is None
    )
    assert sum(PAPER["agreement_with_gold"]["shares"]) == pytest.approx(100)
    for part in ("off_the_shelf_development", "snippet-context", "gold-two-mention", "test"):
        for name, (masculine, feminine, bias, overall) in PAPER[part].items():
            assert bias == pytest.approx(feminine / masculine, abs=0.011), name
            assert min(masculine, feminine) <= overall <= max(masculine, feminine), name
    assert set(CUES) < set(PAPER["gold-two-mention"])


def test_random_chooses_one_name_by_the_seed(sample):
    decided = random_decisions(sample, Setting.GOLD_TWO_MENTION, seed=1)
    assert (decided.sum(axis=1) == 1).all()
    assert 0.35 < decided[:, 0].mean() < 0.65
    np.testing.assert_array_equal(decided, random_decisions(sample, Setting.GOLD_TWO_MENTION, seed=1))


def test_real_resolvers_are_read_row_by_row(gap_splits, gap_folder):
    test = read_resolvers(gap_splits["test"], "test", gap_folder / "resolvers")
    assert list(test) == ["neuralcoref", "e2e-coref"]
    assert (~test["neuralcoref"].given).sum() == 498
    assert not test["neuralcoref"].decided[~test["neuralcoref"].given].any()
    # on shuffled rows e2e-coref would be near 40
    assert score_decisions(gap_splits["test"], test["e2e-coref"].decided).f1_overall > 55
    rows = [5, 0, 1999]
    some = read_resolvers(gap_splits["test"].take(rows), "test", gap_folder / "resolvers")
    for name, resolver in test.items():
        np.testing.assert_array_equal(some[name].decided, resolver.decided[rows])
    assert list(read_resolvers(gap_splits["development"], "development", gap_folder / "resolvers")) == [
        "neuralcoref"
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("\tA-e2e\n0\t1\n", "no column B-e2e"),
        ("\tA-e2e\tB-e2e\n0\t1\t0\n1\t2\t0\n", "line 3"),
        ("\tA-e2e\tB-e2e\n0\t1\t0\n", "no row for"),
    ],
)
def test_a_broken_e2e_file_is_named(content, complaint, tmp_path, sample_test):
    path = tmp_path / "e2e.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=complaint):
        read_e2e(path, sample_test)


def test_the_figure_has_two_points_a_system_and_escapes_names(sample_test):
    gap = score_decisions(sample_test, np.ones((len(sample_test), 2), dtype=bool)).gap
    svg = precision_recall_svg({"<b>&": gap, "other": gap}, "A < B")
    root = ET.fromstring(svg)
    circles = root.findall(".//{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 4
    assert "<b>&amp;" not in svg
