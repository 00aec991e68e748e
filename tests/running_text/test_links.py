"""Probabilities of links: chains of pronouns, names that follow their pronouns, people whom the user names."""

import numpy as np
import pytest

from gapstack.data import Span
from gapstack.data.example import Gender
from gapstack.running_text.given_people import GivenPerson
from gapstack.running_text.links import Linker
from gapstack.running_text.mentions import describe
from gapstack.running_text.text_model import Projections
from tests.running_text.tiny_model import LINKS, PRODUCT, tiny_model

MODEL = tiny_model()


class Fixed(Linker):
    """A linker whose logits are given: a row per mention, of none and of each mention before it."""

    def __init__(self, rows):
        super().__init__(MODEL)
        self.rows = rows

    def read_all(self, words, given=None):
        count = len(words)
        mentions = [
            describe(one, Span(0, len(one)), 3 * i, 3 * i, MODEL.lexicon) for i, one in enumerate(words)
        ]
        new = np.array([[row[0] for row in self.rows]] * 2, dtype=np.float32)
        zeros = (np.zeros((2, count, size), dtype=np.float32) for size in (LINKS, LINKS, PRODUCT))
        scores = iter([np.array(row[1:], dtype=float) for row in self.rows[1:]])
        self.model = _WithScores(scores)
        self.read(mentions, Projections(*zeros, new), given)
        return self


class _WithScores:
    def __init__(self, scores):
        self.scores = scores

    def link_logits(self, *_):
        return next(self.scores)


def test_a_chain_of_pronouns_has_the_name_it_began_with():
    linker = Fixed([[0], [-9, 0], [-9, -9, 0]]).read_all(["Ann", "she", "her"])
    assert linker.resolutions[2].anchors[0] > 0.99
    assert len(linker.memory.entities) == 1


def test_doubt_is_carried_along_the_chain():
    linker = Fixed([[0], [0, 0], [-9, -9, 0]]).read_all(["Ann", "she", "her"])
    last = linker.resolutions[2]
    assert last.anchors[0] == pytest.approx(0.5, abs=0.01)
    assert last.open == pytest.approx(0.5, abs=0.01)


def test_a_name_that_follows_takes_what_is_open():
    linker = Fixed([[0], [-9, 9]]).read_all(["she", "Ann"])
    assert linker.resolutions[0].anchors[1] > 0.99
    assert linker.resolutions[0].open < 0.01


@pytest.mark.parametrize(("genders", "right"), [({Gender.FEMININE}, 0), ({Gender.MASCULINE}, 1)])
def test_given_people_have_the_given_pronouns(genders, right):
    gabriel = GivenPerson(frozenset(["Gabriel"]), frozenset(genders))
    linker = Fixed([[0], [5, 0], [-9, 0, 0]]).read_all(["Gabriel", "Ann", "She"], [gabriel, None, None])
    assert linker.resolutions[2].anchors[right] > (0.4 if right == 0 else 0.99)


def test_given_people_are_never_one_person():
    kate, mary = GivenPerson(frozenset(["Kate"])), GivenPerson(frozenset(["Mary"]))
    linker = Fixed([[0], [-9, 9]]).read_all(["Kate", "Mary"], [kate, mary])
    assert len(linker.memory.entities) == 2


def test_a_name_is_that_of_the_person_who_had_it_most_often():
    names = ["Ann Lee", *["Emma"] * 8, "Emma"]
    apart = [[0], [0, -9]] + [[-9, -9, *[0] * (i - 1)] for i in range(2, 9)]
    as_close = [-9, 1, *[0 - np.log(8)] * 8]  # both people are as close, the wrong one a little closer
    linker = Fixed([*apart, as_close]).read_all(names)
    assert [len(entity.mentions) for entity in linker.memory.entities] == [1, 9]


_TWO_EMMAS = [[0], [-9, 0], [9, -9, -9], [-9, -9, -9, 0], [-9, 0, -9, -9, -9]]


def test_two_people_with_the_same_usual_name_become_one():
    linker = Fixed(_TWO_EMMAS).read_all(["Emma", "she", "Emma", "her", "her"])
    (emma,) = linker.memory.entities
    assert emma.mentions == [0, 1, 2, 3, 4]
    assert emma.pronouns[0] == pytest.approx(3, abs=0.01)


@pytest.mark.parametrize(("given", "people"), [("Kate", 2), ("Emma", 3)])
def test_a_given_person_is_not_taken_for_a_namesake(given, people):
    person = GivenPerson(frozenset([given]))
    words = ["Emma", "she", "Emma", "her", "her", "Kate"]
    linker = Fixed([*_TWO_EMMAS, [9, *[-9] * 5]])
    linker.read_all(
        words, [person if i in (2, 5) and word == given else None for i, word in enumerate(words)]
    )
    assert len(linker.memory.entities) == people


@pytest.mark.parametrize(
    "words",
    [
        ["Robin", "she", "he", "Robin"],  # pronouns of two genders
        ["Mr. Weston", "he", "I", "Mrs. Weston"],
        ["John Knightley", "he", "I", "Mrs. John Knightley"],
    ],
)
def test_people_with_similar_names_stay_apart(words):
    linker = Fixed([[0], [-9, 0], [9, -9, -9], [-9, -9, -9, 0]]).read_all(words)
    assert [entity.mentions for entity in linker.memory.entities] == [[0, 1], [2, 3]]
