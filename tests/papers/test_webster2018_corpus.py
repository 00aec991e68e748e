"""Tables of the corpus count what the files say, next to the paper's figures."""

from gapstack.data.sources import paper
from gapstack.papers.webster2018_corpus import annotation_table, diversity_table


def cells(table):
    return {name: cells for section in table.sections for name, cells in section.rows}


def test_the_files_of_gap_have_the_papers_final_counts(gap_splits):
    figures = paper("webster2018")
    found = cells(annotation_table(gap_splits, figures))
    for name in ("Name A", "Name B", "Neither", "Total"):
        assert found[name]["ours"] == found[name]["final"]
    diversity = cells(diversity_table(gap_splits, figures))
    assert diversity["gender masc:fem"]["all"] == diversity["gender masc:fem"]["paper"]
    assert diversity["page entity"]["test"] == diversity["page entity"]["paper"]
