"""Tables of the corpus count what the files say, next to the paper's figures."""

import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.sources import paper
from gapstack.papers.webster2018_corpus import (
    annotation_table,
    diversity_table,
    patterns_table,
)

FIGURES = {
    "table2_diversity": {"gender masc:fem": "1:1"},
    "table3_annotation_raw_to_final": {"Name A": [10, 2], "Both": [3, 0], "Total": [20, 4]},
    "table5_off_the_shelf_ontonotes_test": {"columns": ["M", "O"], "R": [None, 6.5]},
}


def row(i, text, pronoun, a, b, label, url=None):
    def span(word):
        return Span(text.index(word), text.index(word) + len(word))

    return Example(f"r{i}", text, span(pronoun), span(a), span(b), url, label)


ROWS = Corpus(
    [
        row(0, "Ann met Bo; he left.", "he", "Ann", "Bo", Label.B, "http://w/wiki/Bo_Lee"),
        row(1, "Ann met Bo; she left.", "she", "Ann", "Bo", Label.A, "http://w/wiki/Bo_Lee"),
        row(2, "Ann hit his dog; Bo ran.", "his", "Ann", "Bo", Label.NEITHER, "http://w/wiki/Cats"),
        row(3, "If he ran, Al met Bo.", "he", "Al", "Bo", Label.A, "http://w/wiki/Bo_Lee"),
    ]
)


def cells(table):
    return {name: cells for section in table.sections for name, cells in section.rows}


def test_diversity_is_of_the_rows():
    found = cells(diversity_table({"some": ROWS}, FIGURES))
    assert {name: row["some"] for name, row in found.items()} == {
        "gender masc:fem": "3:1",
        "patterns": "2:1:1",
        "page entity": "3:1",
        "name A:name B": "2:1",
        "page coverage": "1.33, 2",  # "he" occurs twice with one page
    }
    assert found["gender masc:fem"]["paper"] == "1:1"
    assert cells(diversity_table({"some": ROWS}, {}))["gender masc:fem"]["paper"] is None


def test_answers_are_counted_next_to_the_papers():
    found = cells(annotation_table({"one": ROWS[:2], "two": ROWS[2:]}, FIGURES))
    assert found["Name A"] == {"raw": 10, "final": 2, "ours": 2, "one": 1, "two": 1}
    assert found["Both"] == {"raw": 3, "final": 0, "ours": None, "one": None, "two": None}
    assert found["Total"]["ours"] == 4


def test_patterns_of_the_sample(sample_test):
    found = cells(patterns_table({"test": sample_test}))
    assert sum(row["rows"] for row in found.values()) == len(sample_test)
    assert found["FinalPro"]["order"] == "name, name, pronoun"
    assert "initial" not in found["FinalPro"]
    for pattern in found.values():
        assert 0 <= pattern["mined"] <= pattern["sentences"] <= 100


def test_the_files_of_gap_have_the_papers_final_counts(gap_splits):
    figures = paper("webster2018")
    if not figures:
        pytest.skip("the data set papers is not on this machine")
    found = cells(annotation_table(gap_splits, figures))
    for name in ("Name A", "Name B", "Neither", "Total"):
        assert found[name]["ours"] == found[name]["final"]
    diversity = cells(diversity_table(gap_splits, figures))
    assert diversity["gender masc:fem"]["all"] == diversity["gender masc:fem"]["paper"]
    assert diversity["page entity"]["test"] == diversity["page entity"]["paper"]
