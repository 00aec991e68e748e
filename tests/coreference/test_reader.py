"""Mentions of a parse, candidates of a mention, and the conditional logit."""

import numpy as np
import pytest

from gapstack.coreference.detection import Position, sentences
from gapstack.coreference.entities import Context
from gapstack.coreference.lexicon import Lexicon
from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.ranking import Choices, choose, fit
from gapstack.coreference.reader import candidates, read, units
from gapstack.text.parses import docs

LEXICON = Lexicon(
    {"mary": 5.0, "johnson": -5.0}, {"johnson": 0.95}, {"nurse": (9, 10)}, common=frozenset({"mary"})
)


def mentions_of(text: str) -> list[Mention]:
    ((_, doc),) = docs([text])
    found = sentences(doc, Position(), LEXICON, lambda span: span)
    return [mention for unit in units(found) for mention in unit]


def candidates_of(text: str) -> dict[str, list[str]]:
    """The last names and nouns of each pronoun's candidates, where each other mention is an entity of its own."""
    context, found = Context(), {}

    def decide(mention, entities, features):
        if mention.kind is Kind.PRONOUN:
            found[mention.text] = [entity.last.text for entity in entities if entity.last_name]
        return len(features) - 1

    read(mentions_of(text), context, decide)
    return found


def test_mentions_are_pronouns_names_with_titles_and_nouns_for_people():
    text = "Miss Mary Smith told Peter that the nurse was ill. She smiled."
    mentions = mentions_of(text)
    assert [(mention.kind, text[slice(*mention.display)]) for mention in mentions] == [
        (Kind.NAME, "Miss Mary Smith"),
        (Kind.NAME, "Peter"),
        (Kind.NOUN, "the nurse"),
        (Kind.PRONOUN, "She"),
    ]
    assert mentions[0].sign == mentions[-1].sign == 1


def test_greetings_and_verbs_are_no_part_of_a_name():
    names = [mention.text for mention in mentions_of("Hi Bob, JOHN SMITH SAID he was here.") if mention.words]
    assert names == ["Bob", "JOHN SMITH"]


def test_names_without_capitals_are_found():
    assert [mention.text for mention in mentions_of("Yesterday mary was late.")] == ["mary"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Robin met Alex after they had called xem.", ["they", "xem"]),
        ("Robin lost hir keys and ze was upset.", ["hir", "ze"]),
        ("Alex said xe would bring eir bag to fae.", ["xe", "eir", "fae"]),
        ("Robin was late. Ze had no bike.", ["Ze"]),
        ("Robin met Alex after she called em.", ["she", "em"]),
        ("Fae met Em.", []),
    ],
)
def test_neopronouns_are_pronouns_whatever_the_parser_takes_them_for(text, expected):
    assert [one.text for one in mentions_of(text) if one.kind is Kind.PRONOUN] == expected


def test_subject_and_object_of_one_verb_are_two_people():
    assert set(candidates_of("Mary met Peter and kissed him.")["him"]) == {"Peter"}
    assert set(candidates_of("Mary met Peter because he was late.")["he"]) == {"Mary", "Peter"}


@pytest.mark.parametrize(
    ("text", "may_precede"),
    [
        ("When she had sold the house, Mary left.", True),
        ("Her brother met Mary.", True),
        ("Peter sold her boat, and Mary sold a piano.", False),
        ("She met Mary.", False),
        ("She said that Mary was late.", False),
    ],
)
def test_pronouns_only_precede_names_of_clauses_above_theirs(text, may_precede):
    (found,) = candidates_of(text).values()
    assert ("Mary" in found) == may_precede


def test_relatives_of_two_subjects_are_no_group_and_show_genders():
    mentions = mentions_of("Mary is my sister, and Robin is my uncle.")
    assert [one.text for one in mentions if one.plural] == []
    read(mentions, Context(), lambda mention, entities, features: len(features) - 1)
    assert [(one.text, one.sign) for one in mentions if one.words] == [("Mary", 1), ("Robin", -1)]


def test_a_reflexive_is_the_subject():
    assert candidates_of("Mary knew that Peter blamed himself.")["himself"] == ["Peter"]


def test_a_bare_surname_has_no_gender_after_the_full_name():
    first, second = (one for one in mentions_of("Mary Johnson left. Johnson was tired.") if one.words)
    context = Context()
    read([first, second], context, lambda mention, entities, features: len(features) - 1)
    assert first.odds == 5
    assert second.odds == 0


def test_candidates_are_bounded_and_names_are_reachable_from_far():
    context = Context()
    text = "Mary Smith left. " + "The nurse came. " * 60 + "Mary Smith returned."
    mentions = mentions_of(text)
    read(mentions[:-1], context, lambda mention, entities, features: len(features) - 1)
    found = candidates(mentions[-1], context)
    assert len(found) < 40
    assert any(entity.longest == ("mary", "smith") for entity in found)


def test_conditional_logit_learns_a_choice_and_sums_to_one():
    rng = np.random.default_rng(0)
    choices, tables = Choices(), [rng.normal(size=(4, 2)) for _ in range(400)]
    for table in tables:
        choices.add([{"x": x, "y": y} for x, y in table], table[:, 0] == table[:, 0].max())
    model = fit(choices, rounds=40)
    chosen = [choose(model, [{"x": x, "y": y} for x, y in table]) for table in tables]
    assert np.sum(chosen, axis=1) == pytest.approx(1)
    right = [one.argmax() == table[:, 0].argmax() for one, table in zip(chosen, tables, strict=True)]
    assert np.mean(right) > 0.8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prime Minister Mary Ardern spoke.", ("Prime Minister Mary Ardern", 0, 5.0)),
        ("Lord Selby wrote to Lady Ashdown in March.", ("Lady Ashdown", 1, 0.0)),
        ("Mr. and Mrs. Novotny came.", ("Mr.", -1, 0.0)),
        ("She called her mother-in-law.", ("her mother-in-law", 1, 0.0)),
    ],
)
def test_titles_and_nouns_of_relation_show_the_gender(text, expected):
    found = [(text[slice(*one.display)], one.sign, one.odds) for one in mentions_of(text)]
    assert expected in found
    assert "March" not in [name for name, *_ in found]


def test_a_bare_surname_is_the_person_with_the_full_name():
    context = Context()
    read(mentions_of("Mary Johnson met Peter. Johnson smiled."), context, lambda *args: len(args[2]) - 1)
    assert [[one.text for one in entity.mentions] for entity in context.entities] == [
        ["Mary Johnson", "Johnson"],
        ["Peter"],
    ]
