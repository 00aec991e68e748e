import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.resolvers.align import align

PAIRS = (
    # text of the resolver, original, part of the first, its place in the second
    ("Ann did not see Bo.", "Ann didn't see Bo.", "Bo", "Bo"),
    ("ann met Bo", "Ann met Bo", "ann", "Ann"),
    ("Jose met Bo", "Jos* met  Bo", "Jose", "Jos*"),
    ("Ann -LRB- born 1900 -RRB- met Bo", "Ann (born 1900) met Bo", "Bo", "Bo"),
    ("Ann 's dog", "Ann's dog", "Ann 's dog", "Ann's dog"),
    ("Bo met Bo", "Bo met Bo", "Bo met Bo", "Bo met Bo"),
)


@pytest.mark.parametrize(("ours", "original", "part", "expected"), PAIRS)
def test_mentions_find_their_place(ours, original, part, expected):
    start = ours.index(part)
    found = align(ours, original).span(Span(start, start + len(part)))
    assert found is not None
    assert original[found.start : found.end].startswith(expected[:3])
    assert original[found.start : found.end] in {expected, expected.rstrip("*")}


def test_what_is_not_in_the_original_has_no_place():
    found = align("Ann met the tall Bo", "Ann met Bo")
    assert found.span(Span(12, 16)) is None
    assert 0.5 < found.similarity < 1


@given(st.text(min_size=1, max_size=60))
def test_equal_texts_stay_where_they_are(text):
    found = align(text, text)
    assert found.similarity == 1
    assert found.span(Span(0, len(text))) == Span(0, len(text))


words = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=12)


@given(words, st.data())
def test_other_blanks_change_no_mention(tokens, data):
    ours = " ".join(tokens)
    gaps = data.draw(st.lists(st.sampled_from([" ", "  ", "\n"]), min_size=len(tokens), max_size=len(tokens)))
    original = "".join(token + gap for token, gap in zip(tokens, gaps, strict=True))
    which = data.draw(st.integers(0, len(tokens) - 1))
    start = sum(len(token) + 1 for token in tokens[:which])
    found = align(ours, original).span(Span(start, start + len(tokens[which])))
    assert found is not None
    assert original[found.start : found.end] == tokens[which]
    assert found.start == sum(len(t) + len(g) for t, g in zip(tokens[:which], gaps[:which], strict=True))
