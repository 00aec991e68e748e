"""Words, sentences and names are split as a reader would, and every character is in one word."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.language.words import PageTitle, page_title, same_name, same_token, shared_tokens, tokens, words

WIKI = "http://en.wikipedia.org/wiki/"


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


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (WIKI + "Jos%C3%A9_Manuel_de_la_Sota", PageTitle("José Manuel de la Sota")),
        (WIKI + "Crime_(band)", PageTitle("Crime", "band")),
        (WIKI + "AC/DC", PageTitle("AC/DC")),
        (
            WIKI + "List_of_Teachers_(UK_TV_series)_characters",
            PageTitle("List of Teachers (UK TV series) characters"),
        ),
        (WIKI + "Who%3F", PageTitle("Who?")),
        ("https://example.org/people/Ada_Lovelace", PageTitle("Ada Lovelace")),
        ("https://example.org/", None),
        ("", None),
        (None, None),
    ],
)
def test_title_is_read_off_the_url(url, expected):
    assert page_title(url) == expected


@pytest.mark.parametrize(
    ("name", "title", "shared", "same"),
    [
        ("De la Sota", "José Manuel de la Sota", 1, False),
        ("Jos* Manuel", "José Manuel de la Sota", 2, False),
        ("ANNA BERG", "Anna Berg", 2, True),
        ("Wei*", "Weiß", 1, True),
        ("Berg's", "Anna Berg", 1, False),
        ("Bergman", "Anna Berg", 0, False),
        ("Duke of York", "House of Lords", 0, False),
        ("J. Smith", "J. Jones", 0, False),
        ("***", "Ann", 0, False),
        ("Lützow-Smith", "Smith", 1, False),
        ("Of", "Of", 1, True),
        ("", "Ann", 0, False),
    ],
)
def test_a_name_meets_a_title(name, title, shared, same):
    assert shared_tokens(name, title) == shared
    assert same_name(name, title) is same


@given(st.text(max_size=12), st.text(max_size=12))
def test_token_equality_is_symmetric(left, right):
    assert same_token(left, right) == same_token(right, left)


@given(st.text(max_size=30))
def test_a_name_is_its_own_title(name):
    if tokens(name):
        assert same_name(name, name)
        assert shared_tokens(name, name) > 0
