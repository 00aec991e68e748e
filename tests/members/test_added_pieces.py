"""Questions before texts, endings after them, and tags around mentions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Span
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.pieces import PieceView
from gapstack.errors import MemberError
from gapstack.members.added_pieces import before_text, insert_tags, tagged

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


@given(st.data())
def test_tags_enclose_any_mentions_even_touching_and_shared_ones(data):
    """Against the plain reading: walk the pieces, close what ends here, open what begins here."""
    texts = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    mentions = []
    for length in texts:
        starts = [data.draw(st.integers(0, length - 1)) for _ in range(3)]
        mentions.append([(start, data.draw(st.integers(start + 1, length))) for start in starts])
    bounds = np.concatenate([[0], np.cumsum(texts)])
    ids = np.arange(100, 100 + bounds[-1])
    tags = [np.array([1]), np.array([2, 3]), np.array([4, 5, 6])]
    found = insert_tags(PieceView(ids, np.ones((len(ids), 2), np.int64), bounds, np.array(mentions)), tags)
    expected = []
    for row, length in enumerate(texts):
        for place in range(length + 1):
            for side in (1, 0):
                for mention in range(3):
                    if mentions[row][mention][side] == place:
                        expected += tags[mention].tolist()
            if place < length:
                expected.append(100 + bounds[row] + place)
    assert found.ids.tolist() == expected
    assert found.bounds[-1] == len(expected)
    for row in range(len(texts)):
        for mention, (start, end) in enumerate(mentions[row]):
            first, last = found.bounds[row] + found.mentions[row, mention] - [0, 1]
            assert (found.ids[first], found.ids[last]) == (
                100 + bounds[row] + start,
                100 + bounds[row] + end - 1,
            )


def test_a_window_holds_mentions_and_tags_or_is_refused(sample, tiny_encoder):
    found = tagged(sample, tiny_encoder, 80)
    assert found.lengths.max() == 80
    starts = found.bounds[:-1, None] + found.mentions[..., 0]
    expected = [[span.start for span in (e.pronoun, e.a, e.b)] for e in sample]
    np.testing.assert_array_equal(found.chars[starts, 0], expected)
    with pytest.raises(MemberError, match="larger window"):
        tagged(sample, tiny_encoder, 24)
