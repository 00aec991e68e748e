"""Questions before texts and endings after them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.pieces import PieceView, align
from gapstack.errors import MemberError
from gapstack.members.parts.pairs import before_text, between, insert, with_endings

TEXT = "Ann met Beth when she sang"
#       012345678901234567890123456
EXAMPLE = Example("x", TEXT, pronoun=Span(18, 21), a=Span(0, 3), b=Span(8, 12))  # she, Ann, Beth
CORPUS = Corpus([EXAMPLE])


def words(view, row=0):
    return " ".join(load_encoder().tokenizer.convert_ids_to_tokens(view.ids[view.row(row)]))


def mentions(view, row=0):
    read = load_encoder().tokenizer.convert_ids_to_tokens(view.ids[view.row(row)])
    return [" ".join(read[low:high]) for low, high in view.mentions[row]]


def test_the_question_comes_first_and_the_mentions_are_the_texts():
    view, text = before_text(CORPUS, load_encoder(), ["she sang"])
    assert words(view) == "[CLS] she sang [SEP] ann met beth when she sang [SEP]"
    assert mentions(view) == ["she", "ann", "beth"]
    assert view.mentions[0, 0, 0] == 8  # and not the question's own "she"
    assert text.tolist() == [[4, 10]]


def test_each_ending_has_a_text_of_its_own():
    view = with_endings(CORPUS, load_encoder(), [" she is"], [("Ann", "Mary Beth")])
    assert words(view, 0) == "[CLS] ann met beth when she sang she is [SEP] ann [SEP]"
    assert words(view, 1) == "[CLS] ann met beth when she sang she is [SEP] mary beth [SEP]"
    assert mentions(view, 0) == mentions(view, 1) == ["she", "ann", "beth"]


def test_text_keeps_its_characters_and_what_is_added_has_none(sample, tiny_encoder):
    plain = align(sample, tiny_encoder)
    questions = [example.text[:9] for example in sample]
    view, text = before_text(sample, tiny_encoder, questions)
    closed = with_endings(sample, tiny_encoder, questions, [("a", "her")] * len(sample))
    for row in range(len(sample)):
        own = slice(1, -1)  # without the special pieces
        ids, chars = plain.ids[plain.row(row)][own], plain.chars[plain.row(row)][own]
        inside = slice(*text[row])
        np.testing.assert_array_equal(view.ids[view.row(row)][inside], ids)
        np.testing.assert_array_equal(view.chars[view.row(row)][inside], chars)
        assert not view.chars[view.row(row)][: text[row, 0]].any()
        for ending in (0, 1):
            part = closed.row(2 * row + ending)
            np.testing.assert_array_equal(closed.chars[part][1 : 1 + len(chars)], chars)
            assert not closed.chars[part][1 + len(chars) :].any()


def test_windows_leave_room_for_what_is_added_and_lose_no_mention(sample, tiny_encoder):
    questions = [example.text[: 5 * (row % 4)] for row, example in enumerate(sample)]
    whole, _ = before_text(sample, tiny_encoder, questions)
    view, text = before_text(sample, tiny_encoder, questions, 130)
    assert (view.lengths == np.minimum(whole.lengths, 130)).all()
    assert (view.lengths < whole.lengths).any()
    endings = [(example.a_text, example.b_text, "other") for example in sample]
    closed = with_endings(sample, tiny_encoder, [" her"] * len(sample), endings, 130)
    assert closed.lengths.reshape(-1, 3).max() == 130
    for row, example in enumerate(sample):
        for one, at in ((view, row), (closed, 3 * row), (closed, 3 * row + 2)):
            chars = one.chars[one.row(at)]
            found = [(chars[low, 0], chars[high - 1, 1]) for low, high in one.mentions[at]]
            assert found == [(span.start, span.end) for span in (example.pronoun, example.a, example.b)]
        assert (view.mentions[row] >= text[row, 0]).all()
        assert (view.mentions[row] <= text[row, 1]).all()


def test_a_question_that_leaves_no_room_for_the_mentions_is_refused(tiny_encoder):
    assert len(before_text(CORPUS, tiny_encoder, ["a"])[0].ids)
    with pytest.raises(
        MemberError, match="'x': its mentions and what is added to its text take more than the 20"
    ):
        before_text(CORPUS, tiny_encoder, ["she " * 12], 20)
    with pytest.raises(MemberError, match="'x': its mentions and what is added"):
        with_endings(CORPUS, tiny_encoder, [" she is"], [("he", "he " * 12)], 20)


def test_no_rows_make_no_pieces(tiny_encoder):
    view, text = before_text(CORPUS[:0], tiny_encoder, [])
    assert (len(view), text.shape) == (0, (0, 2))
    assert len(with_endings(CORPUS[:0], tiny_encoder, [], [])) == 0


def test_a_separator_is_what_the_encoder_puts_between_two_texts(tiny_encoder):
    assert tiny_encoder.tokenizer.convert_ids_to_tokens(between(tiny_encoder)) == ["[SEP]"]


@given(st.data())
def test_insertion_moves_the_mentions_behind_it_alone(data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    at = [data.draw(st.integers(0, length - 1)) for length in lengths]
    mentions = np.array([[[place, place + 1]] for place in at])
    ids = np.arange(bounds[-1]) + 100
    view = PieceView(ids, np.ones((len(ids), 2), np.int64), bounds, mentions)
    places = np.array([low + data.draw(st.integers(0, n)) for low, n in zip(bounds, lengths, strict=False)])
    added = [np.arange(data.draw(st.integers(0, 3))) for _ in lengths]
    found = insert(view, places, added)
    for row, (low, high) in enumerate(pairwise(bounds)):
        expected = [*ids[low : places[row]], *added[row], *ids[places[row] : high]]
        assert found.ids[found.row(row)].tolist() == expected
        start, end = found.mentions[row, 0]
        assert found.ids[found.row(row)][start:end].tolist() == [ids[low + at[row]]]
