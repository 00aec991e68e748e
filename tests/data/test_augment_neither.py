"""Rows with another person in place of the right name: nobody who may be meant."""

import pytest

from gapstack.data import Example, Label, Span
from gapstack.data.augment import other_person
from gapstack.data.augment import people as people_of
from gapstack.data.gender import FirstNames, first_names

NAMES = FirstNames.of(["James", "Paul"], ["Mary", "Ruth", "Ida"])


def row(text, a="Ann Poe", b="Eve Orr", pronoun="she", label=Label.A, name="r"):
    spans = [Span(text.index(w), text.index(w) + len(w)) for w in (pronoun, a, b)]
    return Example(name, text, *spans, "u", label)


def made(text, **options):
    return other_person(row(text, **options), NAMES)


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Mary Lamb saw James Fox.", ["Mary Lamb"]),
        ("Ruth J. Fox's aunt, Ida Bell, met Mary.", ["Ruth J. Fox", "Ida Bell"]),
        ("The Ruth Fox Prize of Mary Lamb. Paul", ["Mary Lamb"]),
        ("no name here, mary lamb", []),
    ],
)
def test_people_are_first_names_of_the_pronouns_gender_with_one_more_word(text, people):
    example = row(f"{text} x Ann Poe, Eve Orr; she")
    assert [example.words(span) for span in people_of(example, NAMES) if span.start < len(text)] == people


def test_the_right_name_gives_way_to_a_stranger_and_a_stays_before_b():
    text = "Mary Lamb met Eve Orr. Ann Poe sang while she danced."
    example = made(text, a="Eve Orr", b="Ann Poe", label=Label.B)
    assert (example.a_text, example.b_text) == ("Mary Lamb", "Eve Orr")
    assert (example.id, example.label, example.text) == ("r", Label.NEITHER, text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ann Poe met Eve Orr; she ran.", Label.A),  # nobody else
        ("Ann Poe met Eve Orr and Ruth Poe; she ran.", Label.A),  # shares a surname with the right name
        ("Ann Poe met Eve Orr and Ida Orr; she ran.", Label.A),  # or with the wrong one
        ("Ann Poe, born Ruth Fox, met Eve Orr; she ran.", Label.A),  # the same person
        ("Ann Poe (Ruth Fox) met Eve Orr; she ran.", Label.A),
        ("Ann Poe met Eve Orr and James Fox; she ran.", Label.A),  # of the other gender
        ("Ann Poe met Eve Orr and Ruth Fox; she ran.", Label.NEITHER),
        ("Ann Poe met Eve Orr and Ruth Fox; she ran.", None),
    ],
)
def test_no_row_is_made_where_nobody_is_known_to_be_another_person(text, label):
    assert made(text, label=label) is None


def test_a_fifth_of_the_rows_of_development_have_another_person(gap_splits, gap_folder):
    corpus, names = gap_splits["development"], first_names(gap_folder)
    made = [row for row in corpus if other_person(row, names)]
    assert 0.15 < len(made) / len(corpus) < 0.25
