"""Paragraphs of wrapped text and of a line each; no word is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data.paragraphs import WRAPPED, paragraphs

LONG = "word " * 30 + "end."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree\n", ["one two", "three"]),  # wrapped lines
        (f"{LONG}\n{LONG}\n", [LONG, LONG]),  # a paragraph a line
        (f"Title\n{LONG}\nshort\n", ["Title", LONG, "short"]),
        ("a\tb\u00a0 c\r\nd", ["a b c d"]),
        (" \n\n", []),
    ],
)
def test_paragraphs_end_at_empty_lines_and_after_long_ones(text, expected):
    assert list(paragraphs(text)) == expected


@given(st.text(max_size=3 * WRAPPED))
def test_no_word_is_lost(text):
    found = list(paragraphs(text))
    assert " ".join(found).split() == text.split()
    assert not any(set("\t\r\n") & set(one) for one in found)


def test_what_is_too_long_to_parse_is_cut_where_a_sentence_ends():
    found = list(paragraphs("Ann met Bo. " * 4000))
    assert len(found) == 3
    assert all(one.startswith("Ann") and one.endswith("Bo.") for one in found)
