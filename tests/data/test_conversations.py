"""Speakers of plays and transcripts."""

import pytest

from gapstack.data.conversations import transcript_turns, with_colons


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("HAMLET. Words.\nPOLONIUS. What is it?", "HAMLET: Words.\nPOLONIUS: What is it?"),
        ("LADY BRACKNELL.\nA handbag?\n\nJACK. Yes.", "LADY BRACKNELL:\nA handbag?\n\nJACK: Yes."),
        ("HAMLET. Words.\r\n\r\nLADY M.\r\nA?", "HAMLET: Words.\r\n\r\nLADY M:\r\nA?"),
        ("MRS. HUSHABYE. Quick.", "MRS. HUSHABYE: Quick."),
        ("ÉLISE. Words.\nZOË. What?", "ÉLISE: Words.\nZOË: What?"),
    ],
)
def test_speakers_of_a_play_are_read_as_those_of_a_transcript(text, read):
    assert with_colons(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "She joined the\nBBC. He did not.",
        "He works at IBM. She knows.",
        "MRS. BENNET came.",
        "I. She came.",
        "BOOK I. She came.",
        "THE END.\n\nShe left.",
        "No. He left.",
    ],
)
def test_other_periods_stay(text):
    assert with_colons(text) == text


def test_turns_of_a_play():
    text = "JACK. She is late.\nCECILY. Who is?\nJACK. Gwendolen."
    assert [(turn.speaker, text[slice(*turn.speech)]) for turn in transcript_turns(text)] == [
        ("JACK", "She is late."),
        ("CECILY", "Who is?"),
        ("JACK", "Gwendolen."),
    ]
