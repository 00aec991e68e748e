"""The papers' figures in the audit's panels are those of the papers' files, under the panels' measures."""

import pytest

from gapstack.audit import SUITES
from gapstack.corpus.papers import paper
from gapstack.report.audit.published import published
from tests.audit import policies


@pytest.fixture(autouse=True)
def _papers(gap_folder):
    """Skip where the data are not at hand."""


def test_gotcha_columns_are_by_gender_and_the_fall_is_from_no_to_yes():
    figures = paper("rudinger2018")["table2_gotcha_accuracy_percent"]["STAT"]
    row = published("winogender.gotcha")["STAT (paper)"]
    assert [row["feminine_no"], row["masculine_no"]] == figures["no"]
    assert [row["feminine_yes"], row["masculine_yes"]] == figures["yes"]
    assert row["masculine_fall"] == pytest.approx(figures["yes"][1] - figures["no"][1])


def test_sowinobias_has_all_arms_whole_and_by_polarity():
    table1, table4 = (paper("dawkins2021")[name] for name in ("table1", "table4_by_polarity"))
    whole, parts = published("sowinobias.all"), published("sowinobias.polarity")
    assert len(whole) == 10
    assert len(parts) == 20
    assert (
        list(whole["GN-GloVe + swapped copies (paper)"].values()) == table1["GN-GloVe + swapped copies"][-4:]
    )
    assert list(parts["Hard-GloVe, negative (paper)"].values()) == table4["Hard-GloVe"][3:]


@pytest.mark.parametrize("suite", ["winogender", "sowinobias"])
def test_every_measure_that_is_quoted_is_one_of_its_panel(suite, gap_folder):
    items = SUITES[suite].load(gap_folder, cap=400)
    panels = SUITES[suite].measure(items, {"oracle": policies.oracle(items)}).panels
    quoted = {panel.key: published(panel.key) for panel in panels if published(panel.key)}
    assert len(quoted) == {"winogender": 3, "sowinobias": 2}[suite]
    for panel in panels:
        for row in quoted.get(panel.key, {}).values():
            assert set(row) <= {measure.key for measure in panel.measures}


def test_a_panel_without_published_figures_has_none():
    assert published("winobias.current.type1") == {}
