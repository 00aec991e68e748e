"""Winogender: policies with known answers give exactly the paper's figures for them."""

import pytest

from gapstack.audits import SUITES
from gapstack.data.gender import swap_gender
from tests.audits import policies


@pytest.fixture(scope="module")
def items(gap_folder):
    return SUITES["winogender"].load()


@pytest.fixture(scope="module")
def panels(items):
    names = ("oracle", "always_occupation", "always_male_occupation", "stereotype")
    systems = {name: getattr(policies, name)(items) for name in names}
    return {panel.key: panel.rows for panel in SUITES["winogender"].measure(items, systems).tables}


# M/F flips; resolved to the occupation: masculine, feminine, neutral; neither: neutral;
# accuracy: feminine no gotcha and gotcha, masculine no gotcha and gotcha, all
KNOWN = {
    "oracle": (0, 50, 50, 50, 0, 100, 100, 100, 100, 100),
    # of the 120 feminine sentences that are not gotchas, 62 mean the occupation; of the gotchas 58
    "always_occupation": (0, 100, 100, 100, 0, 62 / 1.2, 58 / 1.2, 58 / 1.2, 62 / 1.2, 50),
    "always_male_occupation": (100, 100, 0, 0, 0, 58 / 1.2, 62 / 1.2, 58 / 1.2, 62 / 1.2, 50),
    # 31 of the 60 occupations have 50% women or more; every one has as many sentences
    "stereotype": (100, 29 / 0.6, 31 / 0.6, 0, 100, 100, 0, 100, 0, 100 / 3),
}


@pytest.mark.parametrize("policy", KNOWN)
def test_shares_and_gotchas_of_known_policies(panels, policy):
    resolved, gotcha = panels["winogender.resolved"][policy], panels["winogender.gotcha"][policy]
    shares = ("flips", *(f"occupation_{g}" for g in ("masculine", "feminine", "neutral")), "neither_neutral")
    cells = ("feminine_no", "feminine_yes", "masculine_no", "masculine_yes", "accuracy")
    figures = [*(resolved[key].value for key in shares), *(gotcha[key].value for key in cells)]
    assert figures == pytest.approx(KNOWN[policy])
    assert resolved["neither_masculine"].value == resolved["neither_feminine"].value == 0
    fall = gotcha["feminine_yes"].value - gotcha["feminine_no"].value
    assert gotcha["feminine_fall"].value == pytest.approx(fall)


def test_swapping_the_gender_of_a_sentence_gives_the_other_of_its_pair(items):
    by_id = {example.id: example.text for example in items.corpus}
    for example in items.corpus:
        name = example.id.replace(".female", ".?").replace(".male", ".female").replace(".?", ".male")
        assert swap_gender(example).text == by_id[name]
