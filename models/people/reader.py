"""A document's mentions, linked to entities in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from entities import Context, Entity, excluded, noun_features, pronoun_features
from mentions import Kind, Mention

from gapstack.types import Floats

Decide = Callable[[Mention, Sequence[Entity], Floats], int]
"""The index of the entity that a mention refers to, or that of the last row of features for none."""
_LONGEST_UNIT = 8  # sentences that are read together
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
    pronouns = [mention for mention in unit if mention.kind is Kind.PRONOUN]
    others = [mention for mention in unit if mention.kind is not Kind.PRONOUN]
    for mention in chain(others, sorted(pronouns, key=lambda one: (one.quote >= 0, one.start))):
        if mention.quote >= 0 and mention.quote not in context.speakers:
            speaker = _speaker(mention, unit, context)
            if speaker is not None:
                context.speakers[mention.quote] = speaker
        entities = candidates(mention, context)
        features = (pronoun_features if mention.kind is Kind.PRONOUN else noun_features)(
            mention, entities, context
        )
        choice = decide(mention, entities, features)
        context.link(mention, entities[choice] if choice < len(entities) else None)


def candidates(mention: Mention, context: Context) -> list[Entity]:
    """Entities that a mention may refer to."""
    return [
        entity
        for entity in context.recent(mention)
        if not excluded(mention, entity, context) and _is_near(mention, entity)
    ]


def _is_near(mention: Mention, entity: Entity) -> bool:
    """False for an entity that first appears in a later sentence, or, for a pronoun, was last mentioned long ago."""
    last = entity.before(mention)
    if last is None:
        return entity.mentions[0].sentence <= mention.sentence
    return mention.kind is not Kind.PRONOUN or mention.sentence - last.sentence <= _DISTANCE


def _speaker(mention: Mention, unit: Sequence[Mention], context: Context) -> Entity | None:
    speaking = [one for one in unit if one.speaks and one.head in context.by_head]
    nearest = min(speaking, key=lambda one: abs(one.start - mention.start), default=None)
    return context.by_head[nearest.head] if nearest else None
