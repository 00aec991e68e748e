"""The numpy encoder agrees with transformers', and the scorer's evidence is a distribution."""

import sys
from pathlib import Path

import numpy as np
import pytest

from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.pairs import BACK, FROZEN, TUNED, FrozenLayers, PairScorer, compared, layers_of
from gapstack.data import Span
from gapstack.encoding.encoders import load_encoder
from gapstack.text.grammar import Role

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models" / "people"))

import pairs as training

TEXT = "Mary Smith told Peter that the nurse was ill, and she thanked him for his help."
SPANS = [
    Span(TEXT.index(word), TEXT.index(word) + len(word)) for word in ("Mary Smith", "Peter", "she", "him")
]


def here(span: Span) -> Span:
    return span


@pytest.fixture(scope="module")
def frozen() -> FrozenLayers:
    return FrozenLayers.embedded()


@pytest.fixture(scope="module")
def network():
    import torch

    torch.manual_seed(0)
    return training.PairNetwork(
        layers_of(load_encoder().folder / "model.safetensors", range(FROZEN, FROZEN + TUNED))
    ).eval()


@pytest.fixture(scope="module")
def scorer(network) -> PairScorer:
    return network.scorer()


def mention(number: int, kind: Kind, sign: int, vector) -> Mention:
    span = Span(10 * number, 10 * number + 3)
    one = Mention(
        span, 2 * number, 2 * number + 1, 2 * number, kind, "word", number // 3, Role.SUBJECT, -1, sign
    )
    one.lemma, one.vector = "word", vector
    return one


def some_mentions(number: int, width: int) -> list[Mention]:
    rng = np.random.default_rng(0)
    kinds = [Kind.PRONOUN if i % 3 == 2 else Kind.NAME for i in range(number)]
    return [mention(i, kind, (-1, 1)[i % 2], rng.normal(size=width)) for i, kind in enumerate(kinds)]


def test_states_are_those_of_transformers(frozen):
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = load_encoder().folder
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        expected = model(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True).hidden_states[
            FROZEN
        ]
    word_pieces, places = frozen.pieces(TEXT, SPANS, here)
    (states,) = frozen.states(word_pieces)
    assert states == pytest.approx(expected[0].numpy(), abs=1e-4)
    pieces = tokenizer.tokenize(TEXT)
    assert [pieces[last] for _, last in places] == ["smith", "peter", "she", "him"]


def test_stored_layers_and_weights_give_nearly_the_same_vectors(frozen, scorer, tmp_path):
    frozen.save(tmp_path)
    scorer.save(tmp_path)
    stored = PairScorer.load(tmp_path).vectors(TEXT, SPANS, here)
    vectors = scorer.vectors(TEXT, SPANS, here)
    assert np.abs(stored - vectors).max() < 0.05 * np.abs(vectors).max()


def test_long_texts_are_cut_into_segments(frozen):
    pieces, places = frozen.pieces(TEXT * 40, [Span(len(TEXT) * 39, len(TEXT) * 39 + 4)], here)
    segments = frozen.states(pieces)
    assert len(segments) > 1
    assert places.max() < sum(len(one) - 2 for one in segments)


def test_logits_are_those_of_the_network_that_was_trained(network, scorer):
    import torch

    mentions = some_mentions(12, training.HIDDEN)
    vectors = torch.tensor(np.array([one.vector for one in mentions]), dtype=torch.float32)
    for _ in scorer.judge_all([mentions]):
        pass
    i = 8  # a pronoun
    pairs = training.Pairs.of(mentions, [i])
    with torch.no_grad():
        logits, alone = network.logits(vectors, pairs)
        expected = torch.softmax(torch.cat([logits, alone[i : i + 1]]), 0).numpy()
    found = [mentions[i].neural.links.get(mentions[j], 0.0) for j in pairs.j.tolist()]
    assert [*found, mentions[i].neural.new] == pytest.approx(expected, abs=3e-3)


def test_evidence_is_a_distribution_over_antecedents_and_over_people(scorer):
    mentions = some_mentions(3 * BACK, training.HIDDEN)
    for _ in scorer.judge_all([mentions[:50], mentions[50:]]):
        pass
    for i, one in enumerate(mentions):
        assert sum(one.neural.links.values()) + one.neural.new == pytest.approx(1, abs=0.3)
        assert sum(one.neural.people.values()) <= 1 + 1e-6
        assert all(mentions[i].start - other.start <= 2 * BACK for other in one.neural.links)
        assert all(other.kind is not Kind.PRONOUN for other in one.neural.people)


def test_neutral_pronouns_are_not_compared(scorer):
    mentions = some_mentions(6, training.HIDDEN)
    mentions[5].sign = 0
    for _ in scorer.judge_all([mentions]):
        pass
    assert mentions[2].neural is not None
    assert mentions[5].neural is None


def test_pronouns_are_compared_with_names_later_in_their_sentence():
    mentions = some_mentions(9, 4)
    assert compared(mentions, 1) == [0]
    mentions[3].sentence = 0
    assert compared(mentions, 2) == [0, 1, 3]


def test_vectors_do_not_depend_on_the_gender_of_pronouns(scorer):
    text = "The nurse called the boss because he said that she was late."
    other = "The nurse called the boss because she said that he was late."
    spans = [Span(0, 9), Span(17, 25)]
    assert scorer.vectors(text, spans, here) == pytest.approx(scorer.vectors(other, spans, here), abs=1e-4)
