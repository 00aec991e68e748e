"""SEAT: the test is WEAT's, on sentences, and planted associations are found."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gapstack.encoding.activations import SentenceVectors
from gapstack.encoding.word_vectors import Vectors
from gapstack.papers import associations
from gapstack.papers.associations import REPRESENTATIONS, TEMPLATES, audit_sentences, sentences_report
from tests.planted_spaces import LISTS

SETS = {
    "male_names": ("Bob", "Carl", "Dan", "Ed"),
    "female_names": ("Ann", "Bea", "Cleo", "Dot"),
    "career": ("office", "firm"),
    "family": ("home", "kin"),
}
SMALL = replace(LISTS, weat=SETS)


def planted(pairs, encoder, layer):
    """Sentences of men's names and career on one side, of women's names and family on the other, and noise."""
    rng = np.random.default_rng(0)
    first = {word.lower() for word in (*SETS["male_names"], *SETS["career"])}
    sides = [text[slice(*span)].lower() in first for text, span in pairs]
    vectors = np.eye(2)[np.array(sides, dtype=int)] + 0.1 * rng.normal(size=(len(sides), 2))
    return SentenceVectors(vectors, vectors[:, ::-1], 1 + 0.1 * rng.normal(size=vectors.shape))


def test_an_association_that_is_planted_is_found_in_both_units(monkeypatch, tiny_encoder_folder):
    monkeypatch.setattr(associations, "sentence_vectors", planted)
    found = audit_sentences(SMALL, str(tiny_encoder_folder), samples=2_000)
    assert list(found.tests) == ["6"]
    first, mean, word = (found.tests["6"][key] for key in REPRESENTATIONS)
    assert first.effect > 1.5
    assert mean.effect == pytest.approx(first.effect)  # both axes exchanged
    assert first.p < 0.001
    # 4 names a side: of 70 partitions by words only the observed one is as extreme
    assert first.p_words == pytest.approx(1 / 70)
    assert abs(word.effect) < 1


def test_a_space_without_the_words_of_a_test_is_refused_with_the_reason(tiny_encoder_folder, tmp_path):
    words = tuple(word for name in SETS.values() for word in name)
    whole = Vectors("whole", words, np.random.default_rng(0).normal(size=(len(words), 5)))
    lacking = Vectors("lacking", words[:4], whole.matrix[:4])
    found = audit_sentences(SMALL, str(tiny_encoder_folder), [whole, lacking], samples=500)
    assert list(found.tests["6"]) == ["whole", *REPRESENTATIONS]
    assert "lacking covers too little of WEAT female_names" in found.refused[0]
    assert found.sentences == len(words) * len(TEMPLATES)
    report = sentences_report(found)
    assert "WEAT 2" in report.tables[0].text(140)
    effect = found.tests["6"]["whole"].effect
    assert json.loads(report.write(tmp_path)[1].read_text())["tests"]["6"]["whole"]["effect"] == effect
