"""The experiment on running text: mentions, entities and the conditional logit."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gapstack.text.parses import docs

sys.path.append(str(Path(__file__).resolve().parents[2] / "models" / "people"))

from lexicon import Lexicon
from mentions import Kind, Mention, Position, sentences
from ranking import Choices, choose, fit
from reader import units

LEXICON = Lexicon({"mary": 5.0, "johnson": -5.0}, {"johnson": 0.95}, {"nurse": (9, 10)})


def mentions_of(text: str) -> list[Mention]:
    ((_, doc),) = docs([text])
    found = sentences(doc, Position(), LEXICON, lambda span: span)
    return [mention for unit in units(found) for mention in unit]


def test_mentions_are_pronouns_names_with_titles_and_nouns_for_people():
    text = "Miss Mary Smith told Peter that the nurse was ill. She smiled."
    mentions = mentions_of(text)
    assert [(mention.kind, text[slice(*mention.display)]) for mention in mentions] == [
        (Kind.NAME, "Miss Mary Smith"),
        (Kind.NAME, "Peter"),
        (Kind.NOUN, "the nurse"),
        (Kind.PRONOUN, "She"),
    ]
    assert mentions[0].sign == mentions[-1].sign == 1


def test_conditional_logit_learns_a_choice_and_sums_to_one():
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(4, 2)) for _ in range(400)]
    right = [(one[:, 0] == one[:, 0].max()).astype(float) for one in features]
    model = fit(Choices(features, right), rounds=40)
    chosen = [choose(model, one) for one in features]
    assert np.sum(chosen, axis=1) == pytest.approx(1)
    assert np.mean([one.argmax() == r.argmax() for one, r in zip(chosen, right, strict=True)]) > 0.8
