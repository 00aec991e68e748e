"""Texts with substituted names: every row can be, A and B alike."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.data.example import Gender
from gapstack.members.name_substitution import (
    masked_texts,
    substitute_names,
    unused,
)


def example(text: str, pronoun: str, a: str, b: str) -> Example:
    """The first place of each, B behind A."""
    at_a = text.index(a)
    at_b = text.index(b, at_a + len(a))
    at = text.index(pronoun)
    spans = [(at, at + len(pronoun)), (at_a, at_a + len(a)), (at_b, at_b + len(b))]
    return Example("x", text, *(Span(*span) for span in spans))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (example("Ann saw Bo. she and Ann ran", "she", "Ann", "Bo"), "X saw Y. # and X ran"),
        # whole words only, and the longer name first
        (
            example("Ann met Ann Lee. she left Annual Ann Lee", "she", "Ann", "Ann Lee"),
            "X met Y. # left Annual Y",
        ),
        # nobody says whose the third is
        (example("Ann met Ann. she saw Ann", "she", "Ann", "Ann"), "X met Y. # saw Ann"),
        # three words, and a name within a word
        (example("McAnn de la Cruz met Bo's she", "she", "Ann de la Cruz", "Bo"), "McX met Y's #"),
    ],
)
def test_names_are_replaced_wherever_they_stand(row, expected):
    copy = substitute_names(row, "X", "Y", "#")
    assert copy.text == expected
    assert (copy.a_text, copy.b_text, copy.words(copy.pronoun)) == ("X", "Y", "#")
    swapped = substitute_names(replace(row, a=row.b, b=row.a), "Y", "X", "#")
    assert swapped.text == expected
    assert (swapped.a_text, swapped.b_text) == ("Y", "X")


def test_names_in_the_text_are_left_out_unless_too_few_are_left():
    assert unused("mary saw Annual reports", ["Mary", "Ann", "Eve"]) == ["Ann", "Eve"]
    assert unused("Mary saw Ann", ["Mary", "Ann", "Eve"]) == ["Mary", "Ann", "Eve"]


KNOWN = {Gender.FEMININE: {"Mary": 1, "Eve": 2, "Joan": 3}}


def test_an_example_masks_a_later_mention_behind_both_names():
    row = example("Ann met Bo. Ann, Bo and Ann sang when she left", "she", "Ann", "Bo")
    examples, targets = masked_texts(Corpus([row]), KNOWN, "#", most=10, seed=0)
    assert len(examples) == 2  # as many for Bo as for Ann, though Ann comes more often
    texts = []
    for masked, target in zip(examples, targets, strict=True):
        assert masked.words(masked.pronoun) == "#"
        assert masked.label is None
        name = {number: name for name, number in KNOWN[Gender.FEMININE].items()}[target]
        solved = masked.text.replace("#", name)
        assert name in masked.text  # named elsewhere, so that it can be known
        texts.append(solved.replace(masked.a_text, "Ann").replace(masked.b_text, "Bo"))
        assert masked.text.index("#") > max(masked.a.end, masked.b.end)
    assert texts == [row.text] * 2


def test_the_pronouns_of_answered_rows_are_masked_and_their_names_the_targets():
    row = example("Ann met Bo when she sang with Ann", "she", "Ann", "Bo")
    rows = Corpus(replace(row, id=str(place)) for place in range(3))
    answers = np.array([[0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    examples, targets = masked_texts(rows, KNOWN, "#", 10, 0, answers)
    assert sorted(examples.ids) == ["0", "1"]  # nobody knows who the third is
    names = {number: name for name, number in KNOWN[Gender.FEMININE].items()}
    for masked, target in zip(examples, targets, strict=True):
        assert masked.text == f"{masked.a_text} met {masked.b_text} when # sang with {masked.a_text}"
        assert names[target] == (masked.a_text, masked.b_text)[int(masked.id)]
    assert len(masked_texts(rows, KNOWN, "#", 1, 0, answers)[0]) == 1
