"""Pieces cover a passage's words, know their case, and exchange the pronouns of one gender for those of the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.running_text.word_pieces import WordPieceTokenizer
from gapstack.text_model_files import shipped

TOKENIZER = WordPieceTokenizer.load(shipped() / "tokenizer.json")


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("she called her mother", "he called his mother"),
        ("he saw her .", "she saw him ."),
        ("his bag is hers", "her bag is his"),
        ("the bag is his", "the bag is hers"),
        ("he hurt himself", "she hurt herself"),
        ("they know ann", "they know ann"),
    ],
)
def test_pronouns_change_their_gender_and_nothing_else_does(text, swapped):
    pieces = TOKENIZER.split(text)
    expected = TOKENIZER.split(swapped).ids.tolist()
    assert TOKENIZER.swapped(pieces).tolist() == expected


@pytest.mark.parametrize(
    "text", ["paused.\u2014He left", "*She* left", "<i>She</i> left", "**Ida Berg** left"]
)
def test_a_sign_that_touches_a_word_is_a_piece_of_its_own(text):
    pieces = TOKENIZER.split(text)
    words = {text[start:end] for start, end in pieces.spans.tolist()}
    assert words & {"He", "She", "Ida"}


def test_an_underscore_joins_words():
    pieces = TOKENIZER.split("PERSON_1 left_ .")
    begins = [text for text, is_first in zip(pieces.tokens, pieces.begins.tolist(), strict=True) if is_first]
    assert begins == ["person", "left", "."]


def test_all_pieces_of_a_word_have_its_case():
    pieces = TOKENIZER.split("Xyzzyqua left NATO 12")
    kinds = dict(zip(pieces.tokens, pieces.case.tolist(), strict=True))
    assert len(set(pieces.case[: pieces.tokens.index("left")].tolist())) == 1
    assert (kinds["left"], kinds["nato"], kinds["12"]) == (0, 2, 3)


def test_combining_accents_belong_to_the_word():
    text = "Zoe\u0308 met Jose\u0301."
    ends = {text[start:end] for start, end in TOKENIZER.split(text).spans.tolist()}
    assert "e\u0308" in ends or "Zoe\u0308" in ends
    assert any(word.endswith("e\u0301") for word in ends)


@given(st.text(max_size=60))
def test_pieces_are_ordered_ranges_of_any_text(text):
    pieces = TOKENIZER.split(text)
    assert len(pieces.ids) == len(pieces.tokens) == len(pieces.case) == len(pieces.begins) == len(pieces.ends)
    assert all(0 <= start <= end <= len(text) for start, end in pieces.spans.tolist())
