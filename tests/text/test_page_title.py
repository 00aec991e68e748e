import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.text.words import PageTitle, page_title, same_name, same_token, shared_tokens, tokens

WIKI = "http://en.wikipedia.org/wiki/"


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
