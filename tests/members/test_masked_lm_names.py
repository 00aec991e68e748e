"""Texts with substituted names: every row can be, A and B alike."""

from dataclasses import replace

import pytest

from gapstack.data import Example, Span
from gapstack.members.name_substitution import (
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
