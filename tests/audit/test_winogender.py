"""Winogender: policies with known answers give exactly the paper's figures for them."""

import csv

import numpy as np
import pytest

from gapstack.audit import SUITES
from gapstack.audit.winogender import chosen_by_gender, is_gotcha, occupation_statistics, resolutions
from gapstack.corpus.augment import swap_gender
from tests.audit import policies


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


def test_there_are_720_sentences_120_templates_and_60_occupations(items):
    assert len(items.corpus) == 720
    assert len(set(items.facts["occupation"])) == 60
    assert {g: int((items.corpus.genders == g).sum()) for g in set(items.corpus.genders)} == {
        "masculine": 240,
        "feminine": 240,
        "neutral": 240,
    }
    for example, occupation, column in zip(
        items.corpus, items.facts["occupation"], items.facts["column"], strict=True
    ):
        assert (example.a_text, example.b_text)[column].lower().endswith(occupation)


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


@pytest.mark.parametrize(
    ("policy", "manager", "nurse"),
    [
        ("oracle", "50.0 (2 of 4)", "50.0 (2 of 4)"),
        ("always_male_occupation", "0.0 (0 of 4)", "0.0 (0 of 4)"),
        ("stereotype", "0.0 (0 of 4)", "100.0 (4 of 4)"),
    ],
)
def test_the_share_of_women_among_the_pronouns_that_are_resolved_to_an_occupation(
    items, policy, manager, nurse
):
    choice = resolutions(items, getattr(policies, policy)(items))
    found = [str(chosen_by_gender(items, choice, occupation)) for occupation in ("manager", "nurse")]
    assert found == [manager, nurse]
    assert chosen_by_gender(items, np.full(len(choice), 2), "nurse") == (0, 0)


def test_half_of_the_gendered_sentences_are_gotchas_and_no_neutral_one(items):
    gotchas = is_gotcha(items)
    genders = items.corpus.genders
    assert {g: int(gotchas[genders == g].sum()) for g in ("masculine", "feminine", "neutral")} == {
        "masculine": 120,
        "feminine": 120,
        "neutral": 0,
    }


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


def test_bias_scores_of_occupations(panels, statistics):
    rows = panels["winogender.occupations"]
    assert rows.keys() == statistics.keys()
    for occupation, (bls, text) in statistics.items():
        row = rows[occupation]
        assert (row["bls"], row["text"]) == (bls, text)
        assert row["oracle"] == row["always_occupation"] == 0
        assert row["always_male_occupation"] == -100
        assert row["stereotype"] == (100 if bls >= 50 else -100)
