from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pauline's friend", ["Pauline", "'s", "friend"]),
        ("the boys' mother", ["the", "boys", "'", "mother"]),
        ("O'Neil, Jean-Pierre", ["O'Neil", ",", "Jean-Pierre"]),
        ("C*rdoba (n*e *lvaro) * ***", ["C*rdoba", "(", "n*e", "*lvaro", ")", "*", "***"]),
        ("J.R.R. Tolkien, U.S.", ["J.R.R.", "Tolkien", ",", "U.S."]),
        ("1,500 at 10:45 in 1990s", ["1,500", "at", "10:45", "in", "1990s"]),
        ("''Remote Viewers``.", ["''", "Remote", "Viewers", "``", "."]),
        ("so -- well... no", ["so", "--", "well", "...", "no"]),
        ("Zoe\u0301's", ["Zoe\u0301", "'s"]),
        ("", []),
        ("  \n", []),
    ],
)
def test_words_are_split_where_a_reader_would(text, expected):
    assert list(words(text).strings) == expected


@given(st.text())
def test_every_visible_character_lies_in_exactly_one_word(text):
    found = words(text)
    rebuilt = [" " if c.isspace() else "x" for c in text]
    covered = [" "] * len(text)
    for string, start, end in zip(found.strings, found.starts, found.ends, strict=True):
        assert text[start:end] == string
        assert "x" not in covered[start:end]
        covered[start:end] = ["x"] * (end - start)
    assert covered == rebuilt


@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_word_index_gives_the_words_that_share_a_character(text, start, length):
    found = words(text)
    span = Span(start, start + length + 1)
    expected = [
        i
        for i, (a, b) in enumerate(zip(found.starts, found.ends, strict=True))
        if a < span.end and span.start < b
    ]
    assert list(found.word_index(span)) == expected


@given(st.text())
def test_sentences_cover_all_words_in_order(text):
    found = words(text)
    sentences = found.sentences
    assert [i for sentence in sentences for i in sentence] == list(range(len(found)))
    assert len(found.sentence_of) == len(found)
    assert all(b - a in (0, 1) for a, b in pairwise(found.sentence_of))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("She left. He stayed.", 2),
        ("He met Dr. Smith and Mrs. J. K. Brown. They talked.", 2),
        ("Samuel L. Jackson starred. No. 5 lost.", 2),
        ("She moved to the U.S. and sang. He did not.", 2),
        ("She moved to the U.S. He did not.", 2),
        ("''Go away!`` she said. ''Why?`` asked Ann.", 2),
        ("It closed. ''It was over,`` he said.", 2),
        ("He won (by a nose.) She lost.", 2),
        ("at the Opera., all in 2007.", 1),
        ("Martin Luther King, Jr. Center opened. The end", 2),
        ("He was born in St. Louis on Jan. 5.", 1),
        ("Heading\n\nThe text", 2),
        ("He asked why... she left", 1),
        ("so it ended... She left", 2),
        ("", 0),
    ],
)
def test_abbreviations_initials_and_quotes_do_not_end_sentences(text, count):
    found = words(text)
    assert len(found.sentences) == count, [found.text[slice(*found.span(s))] for s in found.sentences]
