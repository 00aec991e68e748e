"""A document's mentions, linked to entities in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from gapstack.coreference.entities import (
    Context,
    Entity,
    Features,
    agreement,
    are_coarguments,
    disagrees,
    excluded,
    name_match,
    noun_features,
    pronoun_features,
)
from gapstack.coreference.lexicon import INDEFINITE
from gapstack.coreference.mentions import Determiner, Kind, Mention
from gapstack.coreference.ranking import OFFSET
from gapstack.data.example import PLURAL
from gapstack.text.words import same_token

Decide = Callable[[Mention, Sequence[Entity], Features], int]
"""The index of the entity that a mention refers to, or that of the last row of features for none."""
_LONGEST_UNIT = 8  # sentences that are read together
_RECENT = 20
"""Entities with the most recent mentions that any mention may refer to."""
_KNOWN = 1.8
"""Log-odds of a gender that count as known."""
_NEAR = 2  # sentences
_LESS_PROBABLE = 2.0, 4.0
"""What the log-odds of nobody, and of a person of the other gender, lose if the gender of somebody near is known."""
_OTHER_NAME = 2.0
"""What the log-odds of a person lose who has another name."""
_DISTANCE = 80  # sentences back to the last mention of a pronoun's entity


def units(sentences: Iterable[tuple[bool, list[Mention]]]) -> Iterator[list[Mention]]:
    """Join sentences with those that continue them, such as the parts of a quotation and its speaker."""
    unit: list[Mention] = []
    size = 0
    for continues, mentions in sentences:
        if size and (not continues or size == _LONGEST_UNIT):
            yield unit
            unit, size = [], 0
        unit = [*unit, *mentions]
        size += 1
    yield unit


def read(unit: Sequence[Mention], context: Context, decide: Decide) -> None:
    """Link the mentions of a unit: names and nouns first, then pronouns outside quotations, then those in them.

    So a pronoun may refer to a name that follows in its sentence, and the speaker of a quotation is known within it.
    """
    _describe(unit)
    pronouns = [mention for mention in unit if mention.kind is Kind.PRONOUN]
    others = [mention for mention in unit if mention.kind is not Kind.PRONOUN]
    for mention in chain(others, sorted(pronouns, key=lambda one: (one.quote >= 0, one.start))):
        if mention.quote >= 0 and mention.quote not in context.speakers:
            speaker = _speaker(mention, unit, context)
            if speaker is not None:
                context.speakers[mention.quote] = speaker
        if len(mention.words) == 1 and mention.words[0] in context.surnames:
            mention.odds = 0.0  # a surname, even if it is a first name too
        if mention.kind is Kind.PRONOUN:
            context.expect(mention)
        entities = candidates(mention, context)
        features = (pronoun_features if mention.kind is Kind.PRONOUN else noun_features)(
            mention, entities, context
        )
        if mention.kind is Kind.PRONOUN:
            (_weigh_gender if mention.sign else _weigh_number)(mention, entities, features)
        if mention.kind is Kind.NAME:
            _weigh_names(entities, features)
        choice = _certain(mention, entities, context)
        if choice is None:
            choice = decide(mention, entities, features)
        context.link(mention, entities[choice] if choice < len(entities) else None)


def _describe(unit: Sequence[Mention]) -> None:
    """Give names and nouns the gender of their predicate or apposition: "Finley is my uncle"."""
    by_head = {mention.head: mention for mention in unit if mention.kind is not Kind.PRONOUN}
    for mention in by_head.values():
        for head in (mention.predicate_of, mention.apposition):
            other = by_head.get(head)
            if other is not None and not (mention.plural or other.plural):
                other.sign = other.sign or (mention.sign if mention.kind is Kind.NOUN else 0)
                mention.sign = mention.sign or other.sign


def _weigh_names(entities: Sequence[Entity], features: Features) -> None:
    """Make a person with another name less probable, unless the grammar says that both are one."""
    for one, row in zip(entities, features, strict=False):
        if one.longest and not row["match"] and 1 not in (row["apposition"], row["predicate"]):
            row[OFFSET] -= _OTHER_NAME


def _weigh_number(mention: Mention, entities: Sequence[Entity], features: Features) -> None:
    """Make a person less probable for they who was just named together with others."""
    last = [one.last for one in entities if one.plural and mention.sentence - one.last.sentence <= 1]
    together = {word for one in last if "+" in one.lemma for word in one.lemma.split("+")}
    if mention.text.lower() in PLURAL:
        for one, row in zip(entities, features, strict=False):
            if not one.pronouns[1] and not together.isdisjoint(one.longest):
                row[OFFSET] -= _LESS_PROBABLE[0]


def _certain(mention: Mention, entities: Sequence[Entity], context: Context) -> int | None:
    """The entity of a noun's apposition ("my aunt, Reese"), or the only one whose full name ends with a bare surname.

    The genders of the latter must not differ.
    """
    if mention.kind is Kind.PRONOUN or mention.plural:
        return None
    described = context.by_head.get(mention.apposition)
    surname = mention.words[0] if len(mention.words) == 1 else ""
    found = [
        number
        for number, entity in enumerate(entities)
        if (
            entity is described and mention.sign * entity.sign >= 0 and not (mention.words and entity.longest)
        )
        or (
            len(entity.longest) > 1
            and same_token(entity.longest[-1], surname)
            and agreement(entity, mention.sign) >= 0
        )
    ]
    return found[0] if len(found) == 1 else None


def candidates(mention: Mention, context: Context) -> list[Entity]:
    """Entities that a mention may refer to: the most recent ones, and those of its name or noun."""
    ordered = sorted(context.entities, key=lambda one: -one.last.start)
    entities = [
        entity
        for number, entity in enumerate(ordered)
        if (number < _RECENT or _is_called(mention, entity))
        and _is_near(mention, entity)
        and not disagrees(mention, entity)
        and not excluded(mention, entity, context)
        and not _is_addressed(mention, entity)
    ]
    if mention.reflexive:
        bound = [one for one in entities if any(are_coarguments(mention, m) for m in one.mentions[-4:])]
        entities = bound or entities
    return entities


def _weigh_gender(mention: Mention, entities: Sequence[Entity], features: Features) -> None:
    """Make the other gender, "someone" and nobody less probable where somebody near has the pronoun's gender."""
    known = [agreement(one, mention.sign) for one in entities]
    near = (mention.sentence - one.last.sentence <= _NEAR for one in entities)
    if not any(is_near and fits > _KNOWN for is_near, fits in zip(near, known, strict=True)):
        return
    for one, row, fits in zip([*entities, None], features, [*known, 0.0], strict=True):
        if one is None:
            row[OFFSET] = -_LESS_PROBABLE[0]
        elif fits < -_KNOWN or not one.lemmas.isdisjoint(INDEFINITE):
            row[OFFSET] -= _LESS_PROBABLE[1]


def _is_called(mention: Mention, entity: Entity) -> bool:
    """True if an entity has a word of the mention's name, or its noun."""
    return mention.lemma in entity.lemmas or name_match(mention.words, entity) > 0


def _is_addressed(mention: Mention, entity: Entity) -> bool:
    """True for a pronoun and a person who is only spoken to where it is: "Dear Ann"."""
    return mention.kind is Kind.PRONOUN and all(
        one.vocative and one.quote == mention.quote for one in entity.mentions
    )


def _is_near(mention: Mention, entity: Entity) -> bool:
    """False for an entity that only appears later, unless the mention may precede it.

    An indefinite noun ("a woman") introduces its person, so that no pronoun before it is. An entity that a pronoun
    refers to was mentioned not long ago.
    """
    last = entity.before(mention)
    if last is None:
        first = entity.mentions[0]
        return mention.may_precede(first) and first.determiner is not Determiner.INDEFINITE
    return mention.kind is not Kind.PRONOUN or mention.sentence - last.sentence <= _DISTANCE


def _speaker(mention: Mention, unit: Sequence[Mention], context: Context) -> Entity | None:
    speaking = [one for one in unit if one.speaks and one.head in context.by_head]
    nearest = min(speaking, key=lambda one: abs(one.start - mention.start), default=None)
    return context.by_head[nearest.head] if nearest else None
