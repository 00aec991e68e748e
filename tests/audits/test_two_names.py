"""The suites of two names: what their rows are, neutral pronouns among them, and known policies."""

from collections import Counter

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.data import Gender, Label
from tests.audits import policies

NAMES = ("gicoref", "map", "knowref", "dpr", "wsc273", "winogrande")


@pytest.fixture(scope="module")
def loaded(gap_folder):
    return {name: SUITES[name].load() for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_known_policies(loaded, name):
    items = loaded[name]
    labels, genders = items.corpus.labels, items.corpus.genders
    favours = policies.certain(np.where(genders == Gender.MASCULINE.value, labels, (labels + 1) % 2))
    systems = {"oracle": policies.oracle(items), "masculine only": favours}
    row = SUITES[name].measure(items, systems).tables[0].rows
    assert row["oracle"]["accuracy"] == (100, 100, 100)
    assert row["oracle"]["forced"] == (100, 100, 100)
    assert (row["oracle"]["gap"].value, row["oracle"]["f1"], row["oracle"]["bias"]) == (0, 100, 1)
    assert row["oracle"]["neither"].value == pytest.approx(100 * (labels == Label.NEITHER).mean())
    biased = row["masculine only"]
    assert biased["masculine"] == (100, 100, 100)
    assert biased["feminine"].value == 0
    assert biased["gap"] == (-100, -100, -100)
    assert biased["bias"] is None


def test_map_has_the_kind_of_rewriting_of_each_copy(loaded):
    items = loaded["map"]
    kinds = Counter(items.facts["kind"].tolist())
    assert kinds["as written"] == 180
    assert {"pro", "ent", "lex", "addr", "addr+ent+lex+pro"} < kinds.keys()
    neutral = items.corpus.genders == Gender.NEUTRAL.value
    assert set(items.facts["kind"][neutral].tolist()) == {"pro", "addr+ent+lex+pro"}
    assert {"hir", "eir", "they", "ze"} < {e.pronoun_text.lower() for e in items.corpus}
    panels = SUITES["map"].measure(items, {"oracle": policies.oracle(items)}).tables
    assert panels[1].rows["oracle, addr+ent+lex+pro"]["accuracy"].value == 100
