"""Names of one person are put together, and those of two are not."""

import pytest

from gapstack.data import Gender, Span
from gapstack.data.gender import common_first_names
from gapstack.language.grammar import parse_of
from gapstack.members.people import Person, names, people
from tests.trees import tree


@pytest.mark.parametrize(
    ("mentions", "persons"),
    [
        (("Kate Winslet", "Mary", "Winslet", "Kate"), [["Kate Winslet", "Winslet", "Kate"], ["Mary"]]),
        (("John Smith", "Mary Smith", "Smith"), [["John Smith"], ["Mary Smith", "Smith"]]),
        (("Winslet", "Kate Winslet"), [["Winslet", "Kate Winslet"]]),
        (("Mr Darcy", "Miss Darcy"), [["Mr Darcy"], ["Miss Darcy"]]),
        (("José Díaz", "Jose Diaz"), [["José Díaz", "Jose Diaz"]]),
        (("C*rdoba", "Córdoba"), [["C*rdoba", "Córdoba"]]),
        (("Ann", "Anna"), [["Ann"], ["Anna"]]),
    ],
)
def test_mentions_are_grouped_by_person(mentions, persons):
    text = " met ".join(mentions)
    spans, at = [], 0
    for mention in mentions:
        spans.append(Span(at, at + len(mention)))
        at += len(mention) + len(" met ")
    found = people(text, spans, common_first_names())
    assert [[text[slice(*span)] for span in person.mentions] for person in found] == persons


def test_a_title_and_a_common_first_name_tell_a_gender_and_a_rare_one_does_not():
    text = "Mr Darcy, Kate, Xqwz"
    spans = [Span(3, 8), Span(10, 14), Span(16, 20)]
    genders = [person.gender for person in people(text, spans, common_first_names())]
    assert genders == [Gender.MASCULINE, Gender.FEMININE, None]


def test_the_mention_that_stands_for_a_person_is_the_last_before_the_pronoun():
    person = Person((Span(0, 3), Span(10, 13), Span(30, 33)))
    assert person.nearest(Span(20, 23)) == Span(10, 13)
    assert Person((Span(30, 33), Span(40, 43))).nearest(Span(20, 23)) == Span(30, 33)


def test_families_and_marks_are_no_persons():
    spec = "the/o/det/1 Smiths/p/nsubj/2 met/v/root/2 Ann/p/obj/2 's/o/case/3 and/c/cc/6 --/u/conj/3"
    parse = parse_of(tree(spec, ["Smiths", "Ann 's", "--"]))
    assert [parse.text[slice(*span)] for span in names(parse)] == ["Ann"]
