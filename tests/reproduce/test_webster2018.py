"""The reproduction has every table in the paper's setting and unit, and its figures are the scorer's."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gapstack.corpus.papers import paper
from gapstack.corpus.sources import GapData
from gapstack.errors import DataError, DataNotFoundError
from gapstack.members import create
from gapstack.report.scatter import precision_recall_svg
from gapstack.reproduce import webster2018_systems as systems_module
from gapstack.reproduce.webster2018 import reproduce
from gapstack.reproduce.webster2018_systems import (
    ALL_CUES,
    CUES,
    SETTINGS,
    Systems,
    cue_decisions,
    fit_cues,
    random_decisions,
    read_e2e,
    read_resolvers,
)
from gapstack.reproduce.webster2018_tables import cue_table, head_table, pair_shares, published
from gapstack.scoring import gold_decisions, score_decisions
from gapstack.text.parses import parses
from gapstack.text.scenes import Candidates, Context

TABLES = {
    1: "table6_development_detected_candidates",
    2: "table7_development_gold_two_mention",
}


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


def test_every_cue_stands_in_the_context_that_it_reads(report):
    transformers = ["Transformer-Single", "Transformer-Multi"]
    for table in TABLES:
        titles = [section["title"] for section in report.json()["tables"][table]["sections"]]
        assert titles == ["snippet-context", "page-context"]
        text, page = cells(report, table, 0), cells(report, table, 1)
        assert list(text) == ["Random", *CUES[Context.SNIPPET], *transformers, ALL_CUES]
        assert list(page) == ["Parallelism+URL", ALL_CUES]
        assert all(row["overall"] is not None for row in (*text.values(), *page.values()))


@pytest.fixture(scope="module")
def figures():
    """The paper's figures."""
    return paper("webster2018") or pytest.skip("the data set papers is not at hand")


def test_the_papers_figures_stand_beside_ours(report, figures):
    for table, key in TABLES.items():
        rows = {**cells(report, table, 1), **cells(report, table, 0)}
        for name, row in published(figures, key).items():
            assert [rows[name][f"paper_{c}"] for c in ("masculine", "feminine", "bias", "overall")] == row
        assert rows[ALL_CUES]["paper_overall"] is None
    # table 8: heads by layers
    heads = cells(report, 3)
    assert [list(row.values())[1:] for row in heads.values()] == figures["table8_attention_heads"]["f1"]
    assert heads["H7"]["L3"] == published(figures, TABLES[1])["Transformer-Single"][3]
    # table 9: its margins are the shares of pairs that each system decides rightly
    right, wrong = cells(report, 4).values()
    assert (right["paper_right"], right["paper_wrong"], wrong["paper_right"], wrong["paper_wrong"]) == (
        *(48.7, 21.6),
        *(13.4, 16.3),
    )
    # table 10
    assert cells(report, 6, 0)["Lee et al. (2017)"]["paper_overall"] == 64.0
    assert cells(report, 6, 1)["Parallelism"]["paper_overall"] == 66.9
    assert cells(report, 6, 2)["Parallelism+URL"]["paper_overall"] == 70.6
    assert cells(report, 6, 3)["Parallelism"]["paper_overall"] is None


def test_without_the_papers_figures_ours_stand_alone(sample_test):
    decided = {SETTINGS[0]: {"Parallelism": np.zeros((len(sample_test), 2), dtype=bool)}}
    systems = Systems(sample_test, {}, decided)
    table = cue_table(6, systems, Candidates.DETECTED, {}).json()
    (row,) = table["sections"][0]["rows"]
    assert row["paper_overall"] is None
    assert row["overall"] == 0.0


def test_figures_are_the_scorers(report, sample_test):
    decided = create("token_distance").decide(sample_test)
    f1, rates = (cells(report, table, -2)["Token Distance"] for table in (6, 7))
    scores = score_decisions(sample_test, decided)
    assert f1["overall"] == scores.f1_overall
    assert f1["paper_overall"] is None
    assert rates["feminine_recall"] == scores.gap.feminine.recall


def test_the_best_heads_of_the_table_are_those_named(report):
    table = report.json()["tables"][3]
    ours = [n for n, section in enumerate(table["sections"]) if section["title"].startswith("ours")]
    assert len(ours) == 2
    for section in ours:
        heads = {
            f"{layer}{row['name']}": row[layer]
            for row in table["sections"][section]["rows"]
            for layer in ("L0", "L1")
        }
        assert len(heads) == 4
        best = max(heads, key=heads.get)
        assert f"{table['sections'][section]['title']}: {best} {heads[best]:.1f}" in report.tables[3].caption


def test_table_8_has_the_f1_of_the_transformer_single_of_table_6(
    sample_train, sample_test, tiny_encoder_folder
):
    fitted = fit_cues(sample_train[:60], Candidates.DETECTED, str(tiny_encoder_folder))
    assert fitted.single.direction == fitted.multi.direction == "name-to-pronoun"
    table = head_table(fitted.single, {"test": sample_test}, {}).json()["sections"]
    decided = fitted.decide(sample_test)
    assert list(decided) == SETTINGS[:2]
    own = table[0]["rows"][fitted.single.head_][f"L{fitted.single.layer_}"]
    assert own == pytest.approx(
        score_decisions(sample_test, decided[SETTINGS[0]]["Transformer-Single"]).f1_overall
    )


def test_all_cues_learns_which_cue_to_follow(sample_train, sample_test, tiny_encoder_folder, monkeypatch):
    """Where one cue is always right and the others are not, the trees decide as it does."""
    gold = {len(corpus): gold_decisions(corpus) for corpus in (sample_train, sample_test)}
    original = systems_module.cue_decisions

    def knowing(corpus, setting, parser=None, seed=0):
        decided = original(corpus, setting, parser, seed)
        return (
            decided if setting.context is Context.PAGE else {**decided, "Topical Entity": gold[len(corpus)]}
        )

    monkeypatch.setattr(systems_module, "cue_decisions", knowing)
    fitted = fit_cues(sample_train, Candidates.GOLD_TWO_MENTION, str(tiny_encoder_folder))
    for decided in fitted.decide(sample_test).values():
        assert score_decisions(sample_test, decided[ALL_CUES]).f1_overall > 95


def test_pairs_are_counted_one_by_one():
    gold = np.array([[True, False], [False, False]])
    first = np.array([[True, False], [True, False]])  # 3 of 4 right
    second = np.array([[False, True], [True, False]])  # 1 of 4 right, where the first is right
    np.testing.assert_array_equal(pair_shares(gold, first, second), [[25, 50], [0, 25]])


def test_cross_table_and_bins_hold_all_rows(report, sample_test):
    for section in (0, 1):
        rows = cells(report, 4, section).values()
        assert sum(row["right"] + row["wrong"] for row in rows) == pytest.approx(100)
    bins = cells(report, 8)
    assert next(iter(bins)) == "4 right (Green)"
    assert list(bins)[-1] == "0 right (Red)"
    assert sum(row[f"{sample_test.name}_rows"] for row in bins.values()) == len(sample_test)
    assert "Transformer-Multi, Parallelism, Syntactic Distance, Token Distance" in report.tables[8].caption


def test_the_papers_own_figures_add_up(figures):
    tables = ("table4_off_the_shelf_development", *TABLES.values(), "table10_test")
    for key in tables:
        rows = published(figures, key)
        assert rows, key
        for name, (masculine, feminine, bias, overall) in rows.items():
            assert bias == pytest.approx(feminine / masculine, abs=0.011), name
            assert min(masculine, feminine) <= overall <= max(masculine, feminine), name
    names = {name for cues in CUES.values() for name in cues}
    assert names < set(published(figures, TABLES[1])) == set(published(figures, TABLES[2]))
    both = figures["table9_parallelism_against_transformer_single"]
    assert sum(value for value in both.values() if isinstance(value, float)) == pytest.approx(100)


def test_our_cues_reach_the_papers_less_three_points(gap_splits, figures):
    """Overall F1, detected candidates, GAP development; on some rows of it only, to save time."""
    development = gap_splits["development"][:250]
    theirs = published(figures, TABLES[1])
    for setting in SETTINGS[:2]:
        for name, decided in cue_decisions(development, setting).items():
            f1 = score_decisions(development, decided).f1_overall
            assert f1 >= theirs[name][3] - 3, name


def test_random_chooses_one_name_by_the_seed(sample):
    decided = random_decisions(sample, Candidates.GOLD_TWO_MENTION, seed=1)
    assert (decided.sum(axis=1) == 1).all()
    assert 0.35 < decided[:, 0].mean() < 0.65
    np.testing.assert_array_equal(decided, random_decisions(sample, Candidates.GOLD_TWO_MENTION, seed=1))


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


def test_the_figure_has_three_points_a_system_and_escapes_names(sample_test):
    gap = score_decisions(sample_test, np.ones((len(sample_test), 2), dtype=bool)).gap
    svg = precision_recall_svg({"<b>&": gap, "other": gap}, "A < B")
    root = ET.fromstring(svg)
    circles = root.findall(".//{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 6
    assert svg.count("other, overall: precision") == 1
    assert "<b>&amp;" not in svg
