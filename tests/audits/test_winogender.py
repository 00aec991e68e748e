"""Winogender: policies with known answers give exactly the paper's figures for them."""

import csv

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.audits.winogender import occupation_statistics
from gapstack.data.gender import swap_gender
from tests.audits import policies


@pytest.fixture(scope="module")
def items(gap_folder):
    return SUITES["winogender"].load(gap_folder)


@pytest.fixture(scope="module")
def panels(items):
    systems = {
        policy.__name__: policy(items)
        for policy in (
            policies.oracle,
            policies.always_occupation,
            policies.always_male_occupation,
            policies.stereotype,
        )
    }
    findings = SUITES["winogender"].measure(items, systems)
    return {panel.key: panel.rows for panel in findings.panels}


@pytest.fixture(scope="module")
def statistics(gap_folder):
    """Percent of women by occupation, BLS and text, read here by the standard library."""
    with (gap_folder / "winogender/occupations-stats.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    return {r["occupation"]: (float(r["bls_pct_female"]), float(r["bergsma_pct_female"])) for r in rows}


@pytest.mark.parametrize(
    ("policy", "flips", "masculine", "feminine", "neutral", "neither"),
    [
        ("oracle", 0, 50, 50, 50, 0),
        ("always_occupation", 0, 100, 100, 100, 0),
        ("always_male_occupation", 100, 100, 0, 0, 0),
        # 31 of the 60 occupations have 50% women or more; every one has as many sentences
        ("stereotype", 100, 100 * 29 / 60, 100 * 31 / 60, 0, 100),
    ],
)
def test_flips_and_shares_of_known_policies(panels, policy, flips, masculine, feminine, neutral, neither):
    row = panels["winogender.resolved"][policy]
    assert row["flips"].value == pytest.approx(flips)
    shares = [row[f"occupation_{gender}"].value for gender in ("masculine", "feminine", "neutral")]
    assert shares == pytest.approx([masculine, feminine, neutral])
    assert row["neither_neutral"].value == pytest.approx(neither)
    assert row["neither_masculine"].value == row["neither_feminine"].value == 0


@pytest.mark.parametrize(
    ("policy", "feminine_no", "feminine_yes", "masculine_no", "masculine_yes", "accuracy"),
    [
        ("oracle", 100, 100, 100, 100, 100),
        # of the 120 feminine sentences that are no gotcha, 62 mean the occupation; of the gotchas 58
        ("always_occupation", 100 * 62 / 120, 100 * 58 / 120, 100 * 58 / 120, 100 * 62 / 120, 50),
        ("always_male_occupation", 100 * 58 / 120, 100 * 62 / 120, 100 * 58 / 120, 100 * 62 / 120, 50),
        ("stereotype", 100, 0, 100, 0, 100 / 3),
    ],
)
def test_the_gotcha_table_of_known_policies(
    panels, policy, feminine_no, feminine_yes, masculine_no, masculine_yes, accuracy
):
    row = panels["winogender.gotcha"][policy]
    keys = ("feminine_no", "feminine_yes", "masculine_no", "masculine_yes", "accuracy")
    expected = [feminine_no, feminine_yes, masculine_no, masculine_yes, accuracy]
    assert [row[key].value for key in keys] == pytest.approx(expected)
    assert row["feminine_fall"].value == pytest.approx(feminine_yes - feminine_no)


def test_a_sentence_told_of_the_other_gender_is_its_twin(items):
    """So that answers averaged over both are the same, and none flips."""
    by_id = {example.id: example.text for example in items.corpus}
    for example in items.corpus:
        name = example.id.replace(".female", ".?").replace(".male", ".female").replace(".?", ".male")
        assert swap_gender(example).text == by_id[name]


def test_the_two_statistics_correlate_as_in_figure_3(gap_folder, statistics):
    found = occupation_statistics(gap_folder)
    assert found == statistics
    assert round(float(np.corrcoef(np.array(list(found.values())).T)[0, 1]), 2) == 0.67


def test_correlations_of_known_policies(panels, statistics):
    rows = panels["winogender.correlation"]
    for constant in ("oracle", "always_occupation", "always_male_occupation"):
        assert np.isnan([rows[constant][key].value for key in ("bls", "text")]).all()
    values = np.array(list(statistics.values()))
    bias = np.where(values[:, 0] >= 50, 100.0, -100.0)
    for column, key in enumerate(("bls", "text")):
        expected = np.corrcoef(values[:, column], bias)[0, 1]
        found = rows["stereotype"][key]
        assert found.value == pytest.approx(expected)
        assert found.low < expected < found.high
