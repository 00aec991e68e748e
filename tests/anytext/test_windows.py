"""Every pronoun of any text is in one window, which knows where its characters stand in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.anytext.windows import WORDS, pronouns, windows
from gapstack.data import Span

SENTENCE = "Ann said that she knew it well. "
LONG = SENTENCE * 60
WORD = st.sampled_from(
    ["Ann", "she", "him", "left.", "\n", "\n\n", "\t", "U.S.", '"', "\x00", "\u202e", "\ud800", "é", "😀"]
)


def answered(text):
    return [window.origin(pronoun) for window in windows(text) for pronoun in window.pronouns]


@given(st.lists(WORD, max_size=400).map(" ".join))
def test_each_pronoun_is_answered_once_and_where_it_stands(text):
    assert answered(text) == list(pronouns(text))


@given(st.text(max_size=200))
def test_no_text_breaks_it_and_what_it_gives_can_be_printed(text):
    for window in windows(text):
        assert window.text == " ".join(window.text.split())
        window.text.encode("utf-8")


def test_spans_of_a_window_have_an_origin():
    (window,) = windows("Ann\n  Lee left.\n\nShe slept.")
    assert window.text == "Ann Lee left. She slept."
    assert window.origin(Span(0, 7)) == Span(0, 9)


@pytest.mark.parametrize(
    "text", ["she " * 5000, "x" * 300_000 + " she", "she" + "." * 50_000, "a,she; " * 4000]
)
def test_text_without_sentences_is_cut(text):
    found = list(windows(text))
    assert sum(len(window.pronouns) for window in found) == len(pronouns(text)) > 0
    assert all(len(window.text) < 200 * WORDS * 2 for window in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tell 'em she's here", ["she"]),
        ("HER hers herself, them", ["HER", "hers", "herself", "them"]),
        ("the sheriff heard shes", []),
        ("xe took xyr hat", ["xe", "xyr"]),
    ],
)
def test_pronouns_are_whole_words(text, found):
    assert [text[slice(*span)] for span in pronouns(text)] == found
