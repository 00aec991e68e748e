"""A part of a name is enough to find a given person, unless somebody else may have it."""

import pytest

from gapstack.data import Span
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.characters import known_characters
from gapstack.running_text.given_people import given_people, identified
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import describe
from gapstack.text_model_files import shipped

OAK, ELIZABETH = {"Gabriel Oak": "she"}, {"Elizabeth Bennet": "she"}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.load(shipped())


@pytest.mark.parametrize(
    ("people", "mentions", "expected"),
    [
        (OAK, "Gabriel Oak, Gabriel, Oak, Ms. Oak", "Gabriel Oak, Gabriel, Oak, Ms. Oak"),
        (OAK, "Gabriel's, GABRIEL, gabriel, Gabriel M. Oak", "Gabriel's, GABRIEL, gabriel, Gabriel M. Oak"),
        (OAK, "Ann, the oak, she, Gabriel and Ann, Gabriel's mother", ""),
        (OAK, "Gabriel, Oak, Jane Oak", "Gabriel"),
        (OAK, "Gabriel, Oak, Mr. Oak", "Gabriel"),
        (OAK, "Gabriel Oak, Gabriel Marsh, Gabriel", "Gabriel Oak"),
        (OAK | {"Jane Oak": "she"}, "Gabriel, Oak, Jane", "Gabriel, Jane"),
        (OAK | {"Oak": "he"}, "Gabriel, Oak", "Gabriel, Oak"),
        (ELIZABETH, "Elizabeth, Miss Bennet, Mr. Bennet, Mrs. Bennet", "Elizabeth"),
        ({"Gabriel": "she"}, "Gabriel Oak, Gabriel", "Gabriel Oak, Gabriel"),
        ({"Gabriel": "she"}, "Gabriel Oak, Gabriel Marsh, Gabriel", "Gabriel"),
        ({"Dr. Marsh": "she"}, "Marsh, Jane Marsh", "Marsh, Jane Marsh"),
        ({"the Stranger": "she"}, "the Stranger, Stranger", "the Stranger"),
        ({}, "Gabriel", ""),
    ],
)
def test_a_part_of_a_name_is_a_persons_if_nobody_else_has_it(lexicon, people, mentions, expected):
    described = [describe(one, Span(0, len(one)), 0, 0, lexicon) for one in mentions.split(", ")]
    given = given_people(Text("", people=known_characters(people)), lexicon)
    found = identified(described, given)
    assert [one.text for one, person in zip(described, found, strict=True) if person] == [
        *filter(None, expected.split(", "))
    ]
    signs = {one.text: one.gender for one, person in zip(described, found, strict=True) if person}
    assert all(sign == (-1 if people.get(text) == "he" else 1) for text, sign in signs.items())


def test_names_among_which_to_choose_are_whole_names(lexicon):
    described = [describe(one, Span(0, len(one)), 0, 0, lexicon) for one in ("Oak", "Gabriel Oak")]
    given = given_people(Text("", names=("Gabriel Oak",)), lexicon)
    assert [bool(person) for person in identified(described, given)] == [False, True]
