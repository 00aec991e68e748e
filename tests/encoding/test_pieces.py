"""No mention is ever lost between characters and pieces."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Span
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.pieces import align, windows_around
from gapstack.errors import MemberError


def make(*parts: str, order: str = "abp", name: str = "row") -> Example:
    """Text from parts: context, mention, context, mention, context, mention, context; ``order`` names them."""
    starts = np.cumsum([0, *map(len, parts)])
    spans = {kind: Span(int(starts[1 + 2 * i]), int(starts[2 + 2 * i])) for i, kind in enumerate(order)}
    return Example(name, "".join(parts), spans["p"], spans["a"], spans["b"])


def check(corpus: Corpus, encoder, max_pieces: int | None = None):
    """Every mention has pieces of its own text, and they reach from its first to its last character."""
    view = align(corpus, encoder, max_pieces)
    assert len(view) == len(corpus)
    assert view.lengths.max(initial=0) <= (max_pieces or encoder.max_pieces)
    starts, ends = view.mentions[..., 0], view.mentions[..., 1]
    assert (starts < ends).all()
    assert (starts >= 1).all()  # 0 is [CLS]
    assert (ends <= view.lengths[:, None] - 1).all()  # the last is [SEP]
    # (n, 3): the characters that a reader sees of each mention
    visible = np.array([[seen(e.text, span) for span in (e.pronoun, e.a, e.b)] for e in corpus])
    is_seen = visible[..., 0] < visible[..., 1]
    at = view.bounds[:-1, None]
    assert (view.chars[at + starts, 0] <= visible[..., 0])[is_seen].all()
    assert (view.chars[at + ends - 1, 1] >= visible[..., 1])[is_seen].all()
    return view


def seen(text: str, span: Span) -> tuple[int, int]:
    """Range from the first to the last letter or digit of a span; (0, 0) if it has none."""
    found = [at for at in range(*span) if text[at].isalnum()]
    return (found[0], found[-1] + 1) if found else (0, 0)


@pytest.mark.parametrize("max_pieces", [None, 64])
@pytest.mark.parametrize("split", ["development", "test", "validation"])
def test_every_gap_mention_survives_tokenisation_and_windowing(split, max_pieces, gap_splits):
    check(gap_splits[split], load_encoder(), max_pieces)


ODD = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("e\u0301\u200b\u200d\ufeff\u00ad\u0130ßﬁ漢字😀👩\u202e\u0000\n *`'.-"),
    ),
    max_size=12,
)
MENTION = ODD.filter(len)


@settings(max_examples=100)
@given(st.tuples(ODD, MENTION, ODD, MENTION, ODD, MENTION, ODD), st.permutations("abp"))
@example(("", "\u200b", "", "\u0301", "", "\u00ad", " x"), list("abp"))
@example(("x ", "\u200b", "", "\u0301", "", "\u00ad", ""), list("pab"))
def test_odd_unicode_loses_no_mention(parts, order):
    corpus = Corpus([make(*parts, order="".join(order))])
    encoder = load_encoder()
    if encoder.tokenizer.tokenize(corpus[0].text):
        check(corpus, encoder)
    else:  # the tokenizer throws everything away
        with pytest.raises(MemberError, match="no pieces"):
            align(corpus, encoder)


def test_a_mention_that_vanishes_gets_the_next_piece_or_the_last(tiny_encoder):
    view = align(Corpus([make("he ", "\u200b", " met ", "\u200b", " and ", "\u200b", "")]), tiny_encoder)
    chars = [tuple(view.chars[start]) for start in view.mentions[0, [1, 2, 0], 0]]
    assert chars == [(5, 6), (11, 14), (11, 14)]  # "m" of met, "and", "and" again: nothing follows


@settings(max_examples=60)
@given(st.lists(st.integers(0, 30), min_size=7, max_size=7), st.permutations("abp"), st.integers(9, 40))
def test_a_window_is_centred_on_its_mention_and_full_where_there_is_text(sizes, order, max_pieces):
    # one piece a word; contexts of any length between mentions of one to three words
    words = [["xy"[place % 2]] * (1 + size % 3 if place % 2 else size) for place, size in enumerate(sizes)]
    parts = [" ".join(part) if place % 2 else f" {' '.join(part)} " for place, part in enumerate(words)]
    row = make(*parts, order="".join(order))
    encoder = load_encoder()
    twice = Corpus([row, replace(row, id="again")])
    view, whole = windows_around(twice, encoder, max_pieces), align(Corpus([row]), encoder)
    assert len(view) == 6
    assert view.mentions.shape == (6, 1, 2)
    total, space = int(whole.lengths[0]) - 2, max_pieces - 2
    for number in range(6):
        ids, (first, end) = view.ids[view.row(number)], view.mentions[number, 0]
        assert len(ids) == min(total, space) + 2
        assert (ids[0], ids[-1]) == (whole.ids[0], whole.ids[-1])
        start, stop = whole.mentions[0, number % 3]
        at = int(start - first)
        np.testing.assert_array_equal(ids[1:-1], whole.ids[1 + at : 1 + at + len(ids) - 2])
        assert end - first == stop - start
        left, right = first - 1, len(ids) - 1 - end
        # one side is longer by more than the odd piece only where the other has all of the text
        assert left <= right + 1 or at + len(ids) - 2 == total
        assert right <= left + 1 or at == 0


def test_padding_that_the_tokenizers_file_asks_for_is_no_part_of_a_window(gap_splits):
    # the embedded encoder's file pads to 128 pieces
    fresh = Encoder("fresh", load_encoder().folder, "")
    row = gap_splits["development"][:1]
    assert windows_around(row, fresh, 32).lengths.tolist() == [32, 32, 32]
    again = Encoder("fresh", load_encoder().folder, "")
    assert align(row, again, 40).lengths.tolist() == [40]


def test_what_does_not_fit_is_refused_by_id_and_no_rows_give_an_empty_view(tiny_encoder):
    long = Corpus([make("", "q" * 30, " ", "z" * 30, " ", "he", "", name="long-3")])
    with pytest.raises(MemberError, match=r"'long-3'.*40 pieces"):
        align(long, tiny_encoder, 40)
    with pytest.raises(MemberError, match=r"'long-3'.*8 pieces"):
        windows_around(long, tiny_encoder, 8)
    blank = make("", "\u200b", " ", "\u200b", " ", "\u200b", "", name="blank-7")
    with pytest.raises(MemberError, match="blank-7"):
        align(Corpus([blank]), tiny_encoder)
    empty = align(Corpus([]), tiny_encoder)
    assert (len(empty), empty.ids.shape, empty.mentions.shape) == (0, (0,), (0, 3, 2))
