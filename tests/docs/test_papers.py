"""The page of deviations has a row for every table of the papers, and says something in each."""

import re
from pathlib import Path

import pytest

from gapstack.data.sources import PAPERS, paper

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
HEADINGS = dict(zip(PAPERS, ("Mind the GAP", "the shared task", "Winogender", "SoWinoBias"), strict=True))


def sections() -> dict[str, str]:
    """Text of each section by its heading."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_no_cell_is_empty():
    rows = [
        line.strip("|").split("|")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    assert len(rows) > 60
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


@pytest.mark.parametrize("name", PAPERS)
def test_every_table_and_figure_has_a_row(name):
    figures = paper(name)
    if not figures:
        pytest.skip("the data set papers is not here")
    (text,) = [text for heading, text in sections().items() if HEADINGS[name] in heading]
    for key in figures:
        if found := re.match(r"(table|figure|footnote)(\d+)", key):
            assert re.search(rf"{found[1]}s? {found[2]}\b", text, re.IGNORECASE), key
    for system in figures.get("systems", {}):
        assert system.split()[0] in text, system
