import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.pieces import PieceView, align
from gapstack.errors import MemberError
from gapstack.members.parts.tags import insert_tags, tagged

TEXT = "Ann met Beth when she sang"
#       012345678901234567890123456
EXAMPLE = Example("x", TEXT, pronoun=Span(18, 21), a=Span(0, 3), b=Span(8, 12))  # she, Ann, Beth


def test_mentions_stand_between_their_tags(tiny_encoder):
    view = tagged(Corpus([EXAMPLE]), tiny_encoder).view
    read = tiny_encoder.tokenizer.decode(view.ids).replace(" ", "")
    unknown = "[UNK]"  # the tiny vocabulary has no < and >
    tag = {name: f"{unknown}{name}{unknown}" for name in "abp"}
    assert read == (
        f"[CLS]{tag['a']}ann{tag['a']}met{tag['b']}beth{tag['b']}when{tag['p']}she{tag['p']}sang[SEP]"
    )


def test_the_embedded_encoder_sees_the_papers_pieces():
    encoder = load_encoder()
    view = tagged(Corpus([EXAMPLE]), encoder).view
    assert encoder.tokenizer.convert_ids_to_tokens(view.ids) == [
        *("[CLS]", "<", "a", ">", "ann", "<", "a", ">", "met", "<", "b", ">", "beth", "<", "b", ">", "when"),
        *("<", "p", ">", "she", "<", "p", ">", "sang", "[SEP]"),
    ]


def test_dropping_the_tags_gives_back_the_text(sample, tiny_encoder):
    plain, found = align(sample, tiny_encoder), tagged(sample, tiny_encoder)
    kept = found.is_text
    np.testing.assert_array_equal(found.view.ids[kept], plain.ids)
    np.testing.assert_array_equal(found.view.chars[kept], plain.chars)
    assert not found.view.chars[~kept].any()
    for row in range(len(sample)):
        for before, after in zip(plain.mentions[row], found.view.mentions[row], strict=True):
            np.testing.assert_array_equal(
                plain.ids[plain.row(row)][slice(*before)], found.view.ids[found.view.row(row)][slice(*after)]
            )
    np.testing.assert_array_equal(found.view.lengths, plain.lengths + 18)


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
    assert found.view.ids.tolist() == expected
    assert found.view.bounds[-1] == len(expected)
    for row in range(len(texts)):
        for mention, (start, end) in enumerate(mentions[row]):
            first, last = found.view.bounds[row] + found.view.mentions[row, mention] - [0, 1]
            assert (found.view.ids[first], found.view.ids[last]) == (
                100 + bounds[row] + start,
                100 + bounds[row] + end - 1,
            )


def test_a_window_holds_mentions_and_tags_or_is_refused(sample, tiny_encoder):
    found = tagged(sample, tiny_encoder, 80)
    assert found.view.lengths.max() == 80
    starts = found.view.bounds[:-1, None] + found.view.mentions[..., 0]
    assert found.is_text[starts].all()
    expected = [[span.start for span in (e.pronoun, e.a, e.b)] for e in sample]
    np.testing.assert_array_equal(found.view.chars[starts, 0], expected)
    with pytest.raises(MemberError, match="larger window"):
        tagged(sample, tiny_encoder, 24)
