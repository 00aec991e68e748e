"""SoWinoBias: the construction, and known policies."""

import json

import numpy as np
import pytest

from gapstack.audits import SUITES
from gapstack.data.sources import data_in
from tests.audits import policies

VOCABULARY = {
    "occ_female": ["nurse", "maid"],
    "occ_male": ["judge"],
    "adj_positive": ["lovely", "fair"],
    "adj_negative": ["awful"],
}


@pytest.fixture(autouse=True)
def _small_vocabulary(tmp_path):
    """A data folder whose vocabulary gives 2 * (2 * 2 + 2 * 1) sentences."""
    (tmp_path / "wordlists").mkdir()
    (tmp_path / "wordlists/sowinobias_vocab.json").write_text(json.dumps(VOCABULARY))
    with data_in(tmp_path):
        yield


def test_every_sentence_of_the_vocabulary_is_built_once():
    items = SUITES["sowinobias"].load()
    texts = set(items.corpus.texts)
    assert len(texts) == len(items.corpus) == 2 * (2 * 2 + 2)
    assert "The judge liked the nurse because they were lovely." in texts
    assert "The nurse disliked the judge because they were awful." in texts
    for example, side in zip(items.corpus, items.facts["side"], strict=True):
        assert example.pronoun_text == "they"
        assert example.b_text == ("the judge" if side == "anti" else example.b_text)
        assert (example.a_text == "The judge") == (side == "pro")
        assert example.label == 1
        assert example.text.index(example.b_text) == example.b.start


def test_known_policies():
    items = SUITES["sowinobias"].load()
    feminine = (items.facts["side"] == "pro").astype(int)  # B is the occupation of women in pro alone
    # silent three ways, but for the right one where it must choose
    silent = np.tile([0.1, 0.2, 0.7], (len(items.corpus), 1))
    systems = {
        "oracle": policies.oracle(items),
        "always feminine": policies.certain(feminine),
        "first": policies.certain(np.zeros(len(items.corpus))),
        "silent": silent,
    }
    panels = {panel.key: panel.rows for panel in SUITES["sowinobias"].measure(items, systems).tables}
    rows = panels["sowinobias.all"]
    figures = {
        name: (row["pro"], row["anti"], row["average"].value, row["difference"].value)
        for name, row in rows.items()
    }
    perfect = (100, 100, 100, 0)
    always = (100, 0, 50, 100)
    assert figures == dict(zip(systems, (perfect, always, (0, 0, 0, 0), perfect), strict=True))
    assert (rows["silent"]["pro_three"], rows["silent"]["neither"]) == (0, 100)
    assert panels["sowinobias.polarity"]["always feminine, negative"]["difference"].value == 100
