"""WinoBias: known policies, and that pairs differ in their pronoun alone."""

from collections import Counter

import numpy as np
import pytest

from gapstack.audits import SUITES
from tests.audits import policies


@pytest.fixture(scope="module")
def items(gap_folder):
    return SUITES["winobias"].load()


@pytest.fixture(scope="module")
def panels(items):
    label = items.corpus.labels
    wrong = policies.certain(np.where(items.facts["side"] == "pro", label, 1 - label))
    silent = policies.certain(np.where(items.facts["side"] == "pro", label, 2))
    systems = {"oracle": policies.oracle(items), "stereotype": wrong, "silent": silent}
    return {panel.key: panel.rows for panel in SUITES["winobias"].measure(items, systems).tables}


def test_pairs_are_one_sentence_with_two_pronouns(items):
    pairs = items.facts["pair"]
    assert set(Counter(pairs[pairs >= 0].tolist()).values()) == {2}
    order = np.argsort(pairs[pairs >= 0], kind="stable")
    rows = np.flatnonzero(pairs >= 0)[order].reshape(-1, 2)
    for one, other in rows:
        first, second = items.corpus[int(one)], items.corpus[int(other)]
        assert {items.facts["side"][one], items.facts["side"][other]} == {"pro", "anti"}
        assert first.gender != second.gender
        assert first.label == second.label
        assert [first.a_text.lower(), first.b_text.lower()] == [second.a_text.lower(), second.b_text.lower()]
    assert (pairs < 0).sum() < 0.02 * len(pairs)


@pytest.mark.parametrize("release", ["current", "original"])
@pytest.mark.parametrize("kind", ["type1", "type2"])
def test_known_policies(panels, release, kind):
    rows = panels[f"winobias.{release}.{kind}"]
    for key in ("f1", "accuracy"):
        assert (rows["oracle"][f"{key}_pro"], rows["oracle"][f"{key}_anti"]) == (100, 100)
        assert rows["oracle"][f"{key}_difference"] == (0, 0, 0, 1)
        for policy in ("stereotype", "silent"):
            row = rows[policy]
            assert (row[f"{key}_pro"], row[f"{key}_anti"], row[f"{key}_average"].value) == (100, 0, 50)
            assert row[f"{key}_difference"][:3] == (100, 100, 100)
            assert row[f"{key}_difference"].p < 0.001
