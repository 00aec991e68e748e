"""Every pronoun of any text is in one window, which knows where its characters stand in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.running_text.windows import WORDS, passages, pronouns, windows

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


@pytest.mark.parametrize("mark", ["\u200b", "\u200e", "\u200f", "\u202a", "\u2060", "\u2066", "\ufeff"])
def test_invisible_characters_belong_to_no_word(mark):
    text = f"Ann Lee{mark} left, and{mark}{mark} then {mark}she{mark} slept."
    (window,) = windows(text)
    assert window.text == "Ann Lee left, and then she slept."
    assert [text[slice(*span)] for span in answered(text)] == ["she"]
    assert text[slice(*window.origin(Span(0, 7)))] == "Ann Lee"


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


@given(st.lists(WORD, min_size=5, max_size=600).map(" ".join), st.integers(1, 400))
def test_passages_before_the_last_do_not_change_when_more_text_follows(text, cut):
    short = list(passages(text[: -cut or None], most=12, context=4))
    whole = list(passages(text, most=12, context=4))
    assert short[:-2] == whole[: max(0, len(short) - 2)]


@given(st.lists(WORD, max_size=300).map(" ".join))
def test_passages_have_every_visible_stretch_once_as_their_own(text):
    found = list(passages(text, most=12, context=4))
    owned = [
        origin
        for window in found
        for start, origin in zip(window.starts, window.origins, strict=True)
        if start >= window.own
    ]
    everything = [origin for window in passages(text, most=10_000) for origin in window.origins]
    assert owned == sorted(owned) == everything
