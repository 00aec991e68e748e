"""Lost letters come back from the vocabulary, names go behind the mask, and spans stay where their words are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members.frozen_mlp.masked_text import mask_names, repair_stars


def row(text: str, pronoun: str = "she", a: str = "Ann", b: str = "Eve") -> Example:
    spans = [Span(text.index(word), text.index(word) + len(word)) for word in (pronoun, a, b)]
    return Example("row", text, *spans)


@pytest.mark.parametrize(
    ("garbled", "repaired"),
    [
        ("caf*", "cafe"),
        ("Jos*", "Jose"),  # the capital stays, the letter is the vocabulary's
        ("D*sseldorf", "Dusseldorf"),
        ("*lvaro", "alvaro"),
        ("Fran*ois", "Francois"),
        ("Xqz*qx", "Xqz*qx"),  # no such word
        ("*m", "*m"),  # too little to go by
        ("***", "***"),
        ("500*m", "500*m"),
    ],
)
def test_stars_become_the_letters_of_the_first_word_that_fits(garbled, repaired):
    example = row(f"Ann met Eve at the {garbled} where she was.")
    found = repair_stars(example, load_encoder())
    assert found.text == f"Ann met Eve at the {repaired} where she was."
    assert found.words(found.pronoun) == "she"


def test_a_garbled_name_is_repaired_too():
    example = row("Jos* met Eve when she ran.", a="Jos*")
    assert repair_stars(example, load_encoder()).a_text == "Jose"


def test_a_text_without_stars_is_left_alone():
    example = row("Ann met Eve when she ran.")
    assert repair_stars(example, load_encoder()) is example


def test_each_name_is_one_mask_piece_and_its_other_places_stay():
    encoder = load_encoder()
    example = row("Ann Lee met Eve. Ann Lee said that she ran.", a="Ann Lee")
    masked = mask_names(example, encoder)
    assert masked.text == "[MASK] met [MASK]. Ann Lee said that she ran."
    view = align(Corpus([masked]), encoder)
    for first, end in view.mentions[0, 1:]:
        assert view.ids[first:end].tolist() == [encoder.tokenizer.mask_token_id]
    assert masked.words(masked.pronoun) == "she"


@given(st.lists(st.text("ab* .", max_size=6), min_size=4, max_size=4), st.permutations([0, 1, 2]))
def test_no_text_loses_a_mention(contexts, order):
    mentions = ["she", "A*n", "Eve B*b"]
    text, spans = contexts[0], [Span(0, 0)] * 3
    for place, context in zip(order, contexts[1:], strict=True):
        spans[place] = Span(len(text), len(text) + len(mentions[place]))
        text += mentions[place] + context
    example = Example("row", text, *spans)
    repaired = repair_stars(example, load_encoder())
    assert [len(repaired.words(span)) for span in (repaired.pronoun, repaired.a, repaired.b)] == [3, 3, 7]
    masked = mask_names(repaired, load_encoder())
    assert (masked.pronoun_text, masked.a_text, masked.b_text) == ("she", "[MASK]", "[MASK]")


def test_an_encoder_without_a_mask_is_refused(tiny_encoder_folder):
    encoder = Encoder("without", tiny_encoder_folder)
    encoder.tokenizer.mask_token = None
    with pytest.raises(MemberError, match="encoder without has no mask token"):
        mask_names(replace(row("Ann met Eve when she ran.")), encoder)
