"""Attention is read as the paper says, once for each text, and no tie or missing name is decided by chance."""

from typing import get_args

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.encoding import attention as module
from gapstack.encoding.attention import Attention, Direction, attention
from gapstack.errors import MemberError
from gapstack.language.grammar import empty_parse

NONE = -np.inf


def test_every_text_is_encoded_once_whatever_corpus_it_comes_in(tiny_encoder, sample_test, monkeypatch):
    encoded, original = [], module.forward

    def counting(request, view, rows, **options):
        encoded.extend(rows)
        return original(request, view, rows, **options)

    monkeypatch.setattr(module, "forward", counting)
    corpus = sample_test[:30]
    whole = attention(corpus, tiny_encoder).scores
    assert len(encoded) == 30
    np.testing.assert_array_equal(attention(corpus.take([7, 3, 29]), tiny_encoder).scores, whole[[7, 3, 29]])
    attention(sample_test[:31], tiny_encoder)
    assert len(encoded) == 31


def test_all_detected_names_compete(tiny_encoder, monkeypatch):
    text = "Ann Lee met Bob. She thanked Cy and Ann."
    row = Example("r", text, Span(17, 20), Span(0, 7), Span(12, 15))
    parse = empty_parse(text)
    # tokens Ann, Lee, Bob, She, Cy, Ann; names "Ann Lee", "Bob", "Cy" and the later "Ann", which is part of A
    parse.spans = np.array([[0, 3], [4, 7], [12, 15], [17, 20], [29, 31], [36, 39]])
    parse.heads, parse.sentence = np.zeros(6, dtype=np.int32), np.zeros(6, dtype=np.int32)
    parse.roles = parse.pos = np.zeros(6, dtype=np.int8)
    parse.persons = np.array([[0, 2], [2, 3], [4, 5], [5, 6]])
    monkeypatch.setattr(module, "parses", lambda corpus, parser: [parse for _ in corpus])
    found = attention(Corpus([row]), tiny_encoder, "detected")
    assert found.scores.shape[:2] == (1, 4)
    assert found.hits[0].tolist() == [[True, False], [False, True], [False, False], [True, False]]
    two = attention(Corpus([row]), tiny_encoder)
    np.testing.assert_allclose(found.scores[0, :2], two.scores[0], rtol=1e-5)


# one head; scores of three names, which of them count for A and B, and the answer
HITS = [[True, False], [False, True], [False, False]]
CHOICES = [
    ("larger attention wins", [0.2, 0.1, 0.0], HITS, (True, False), 10 * np.log10(2)),
    ("another name may win", [0.1, 0.1, 0.4], HITS, (False, False), 10 * np.log10(4)),
    ("a tie of A and B is nobody's", [0.3, 0.3, 0.1], HITS, (False, False), 10 * np.log10(3)),
    ("a tie of two mentions of A is A's", [0.3, 0.3, 0.1], [HITS[0], HITS[0], HITS[1]], (True, False), 4.771),
    ("a name that is part of both counts for both", [0.3, 0.1, NONE], [[True] * 2, *HITS[:2]],
     (True, True), 4.771),
    ("the only name wins by any margin", [0.3, NONE, NONE], HITS, (True, False), np.inf),
    ("all names tie", [0.3, 0.3, NONE], HITS, (False, False), 0.0),
    ("no name, no answer", [NONE] * 3, HITS, (False, False), 0.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "hits", "answer", "margin"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_choices_and_margins(scores, hits, answer, margin):
    # (1, 3, 2, 1, 1): both directions alike, so their sum decides as each does
    both = np.array(scores, dtype=np.float32).reshape(1, 3, 1, 1, 1).repeat(2, axis=2)
    made = Attention(both, np.array([hits]))
    for direction in get_args(Direction):
        assert tuple(made.choices(direction)[0, 0, 0]) == answer
        cue_decisions = made.cue_decisions(0, 0, direction)
        assert tuple(cue_decisions.answers[0]) == answer
        assert cue_decisions.margins[0] == pytest.approx(margin, abs=1e-3)
        assert cue_decisions.levels[0] == (-1 if scores[0] == NONE else 0)


def test_directions_read_the_two_ways_their_sum_and_both_side_by_side():
    scores = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 2, 2, 1, 2)  # name, direction, layer, head
    made = Attention(scores, np.eye(2, dtype=bool)[None])
    assert made.directed("pronoun-to-name")[0, :, 0].tolist() == [[1, 2], [5, 6]]
    assert made.directed("name-to-pronoun")[0, :, 0].tolist() == [[3, 4], [7, 8]]
    assert made.directed("both")[0, :, 0].tolist() == [[4, 6], [12, 14]]
    assert made.directed("each")[0].tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert made.pairs("both")[0, 0].tolist() == [[4, 12], [6, 14]]
    with pytest.raises(MemberError, match="heads"):
        made.cue_decisions(2, 0)
