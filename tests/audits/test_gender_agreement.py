"""The suites of a woman and a man: mirrored rows whose answer follows from the pronoun's gender, and known policies."""

import re
from collections import Counter

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.data import Gender, Label
from gapstack.data.gender import common_first_names
from tests.audits import policies

ROWS = {"surnames": 1140, "two_genders": 488}


@pytest.fixture(scope="module", params=ROWS)
def suite(request):
    return SUITES[request.param]


def test_rows_are_balanced_by_gender_and_by_order(suite):
    items = suite.load()
    assert len(items.corpus) == ROWS[suite.name]
    for values in (items.facts["gender"], items.corpus.genders, items.corpus.labels):
        assert set(Counter(values.tolist()).values()) == {ROWS[suite.name] // 2}
    for example in items.corpus:
        assert not re.search(r"[{}_]", example.text)


def test_surnames_are_mirrored_by_exchanging_the_first_names():
    texts = {}
    for example in SUITES["surnames"].load().corpus:
        stem, gender, _ = re.split("-(feminine|masculine)", example.id)
        texts.setdefault(stem, {})[gender] = (example.text, {example.a_text, example.b_text})
    assert len(texts) == 57 * 7
    for pair in texts.values():
        (hers, her_names), (his, his_names) = pair["feminine"], pair["masculine"]
        assert len(her_names & his_names) == 1
        varying = rf"\b({'|'.join(her_names ^ his_names)}|s?he|her|him|his)\b"
        assert hers != his
        assert re.sub(varying, "_", hers) == re.sub(varying, "_", his)


def test_in_two_genders_only_names_of_the_first_two_kinds_and_titles_show_the_gender():
    items = SUITES["two_genders"].load()
    for example, evidence in zip(items.corpus, items.facts["evidence"], strict=True):
        if evidence in ("relation word", "earlier pronoun"):
            assert not {example.a_text, example.b_text} & common_first_names().keys()
        if evidence == "first name, English":
            right, wrong = (example.a_text, example.b_text)[:: 1 if example.label is Label.A else -1]
            assert common_first_names()[right] == example.gender != common_first_names()[wrong]


def test_known_policies(suite):
    items = suite.load()
    labels, genders = items.corpus.labels, items.facts["gender"]
    men_only = policies.certain(np.where(genders == Gender.MASCULINE.value, labels, 1 - labels))
    neither = policies.certain(np.full(len(labels), Label.NEITHER))
    systems = {"oracle": policies.oracle(items), "men only": men_only, "neither": neither}
    whole, *parts = suite.measure(items, systems).tables
    assert whole.rows["oracle"]["accuracy"].value == 100
    assert whole.rows["oracle"]["probability"].value == 0
    row = whole.rows["men only"]
    figures = ("feminine", "masculine", "gap", "other", "other_feminine", "other_masculine", "probability")
    assert [row[key].value for key in figures] == [0, 100, -100, 50, 100, 0, 50]
    assert [whole.rows["neither"][key].value for key in ("accuracy", "other", "neither")] == [0, 0, 100]
    assert [part.key.partition(".")[2] for part in parts] == list(suite.slices)
    assert all(part.rows[name]["gap"].value == -100 for part in parts for name in part.rows if "men" in name)


def test_the_first_breakdown_of_a_single_system_is_shown(suite):
    items = suite.load()
    one, several = ({name: policies.oracle(items) for name in names} for names in ("a", "ab"))
    details = [[panel.detail for panel in suite.measure(items, systems).tables] for systems in (one, several)]
    assert [shown[:3] for shown in details] == [[False, False, True], [False, True, True]]
