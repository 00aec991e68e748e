"""Entities read so far, and the features of a mention with each entity that it may refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, nan

import numpy as np
from mentions import Kind, Mention

from gapstack.text.grammar import Role
from gapstack.text.words import same_token
from gapstack.types import Floats

MOST = 40
"""Most recent entities that a mention may refer to."""
_PLURAL = {"they", "them", "their", "theirs", "themselves"}


@dataclass(eq=False)
class Entity:
    """A person (or group) and the mentions linked to it so far, in order of linking."""

    mentions: list[Mention] = field(default_factory=list)
    longest: tuple[str, ...] = ()
    lemmas: set[str] = field(default_factory=set)
    sign: int = 0
    odds: float = 0.0
    pronouns: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Numbers of masculine, neutral and feminine pronouns."""
    subjects: int = 0
    plural: bool = False
    last: Mention | None = None
    last_name: Mention | None = None
    last_pronoun: Mention | None = None
    in_title: bool = False

    def add(self, mention: Mention) -> None:
        """Link a mention."""
        if not self.mentions:
            self.plural = mention.plural
        self.mentions.append(mention)
        self.subjects += mention.role is Role.SUBJECT
        if self.last is None or mention.start >= self.last.start:
            self.last = mention
        if mention.kind is Kind.PRONOUN:
            self.pronouns[mention.sign + 1] += 1
            self.last_pronoun = mention
            return
        self.sign = mention.sign or self.sign
        if mention.kind is Kind.NAME:
            self.last_name = mention
            if len(mention.words) > len(self.longest) or not self.longest:
                self.longest, self.odds = mention.words, mention.odds
        else:
            self.lemmas.add(mention.lemma)

    def before(self, mention: Mention) -> Mention | None:
        """The last linked mention that begins before another."""
        if self.last is not None and self.last.start < mention.start:
            return self.last
        return next((one for one in reversed(self.mentions) if one.start < mention.start), None)


@dataclass
class Context:
    """Entities and what the last pronouns of each gender referred to."""

    entities: list[Entity] = field(default_factory=list)
    last_of_sign: dict[int, tuple[Entity, Mention]] = field(default_factory=dict)
    subject_of: dict[int, Entity] = field(default_factory=dict)
    """Entity of the first subject of each sentence."""
    speakers: dict[int, Entity] = field(default_factory=dict)
    """Speaker of each quotation."""
    addressees: dict[int, Entity] = field(default_factory=dict)
    by_head: dict[int, Entity] = field(default_factory=dict)
    """Entity of the mention with each head token."""

    def recent(self, mention: Mention, window: int = MOST) -> list[Entity]:
        """Entities with the most recent mentions."""
        return sorted(self.entities, key=lambda one: one.last.start if one.last else 0)[-window:]

    def link(self, mention: Mention, entity: Entity | None) -> Entity:
        """Link a mention to an entity, or to a new one."""
        if entity is None:
            entity = Entity()
            self.entities.append(entity)
        entity.add(mention)
        self.by_head[mention.head] = entity
        if mention.kind is Kind.PRONOUN:
            self.last_of_sign[mention.sign] = entity, mention
        if mention.role is Role.SUBJECT:
            self.subject_of.setdefault(mention.sentence, entity)
        if mention.vocative and mention.quote >= 0:
            self.addressees[mention.quote] = entity
        return entity


def excluded(mention: Mention, entity: Entity, context: Context) -> bool:
    """True if a mention cannot refer to an entity: another argument of its verb, or its own possessor, does.

    A reflexive refers to an argument of its verb.
    """
    for other in entity.mentions[-6:]:
        if other is mention or other.sentence != mention.sentence:
            continue
        arguments = (
            other.governor == mention.governor >= 0
            and Role.POSSESSIVE not in (mention.role, other.role)
            and other.head != mention.head
            and other.role is not mention.role
        )
        nested = mention.start <= other.start < mention.stop or other.start <= mention.start < other.stop
        if nested or (arguments and not (mention.reflexive or other.reflexive)):
            return True
    return False


def _evidence(entity: Entity, sign: int) -> list[float]:
    """Agreement of an entity with a pronoun's signed gender, by kind of evidence."""
    same = entity.pronouns[sign + 1]
    other = entity.pronouns[1 - sign] if sign else entity.pronouns[0] + entity.pronouns[2]
    return [
        float(entity.sign * sign) if sign else float(entity.sign != 0),
        entity.odds * sign if sign and entity.odds else nan,
        float(same),
        float(other),
        float(entity.pronouns[1]),
    ]


def pronoun_features(mention: Mention, entities: Sequence[Entity], context: Context) -> Floats:
    """Features (k + 1, f) of a pronoun with k entities, and with nobody in the last row."""
    own = [
        float(mention.sign),
        float(mention.role),
        float(mention.quote >= 0),
        float(mention.reflexive),
        float(mention.text.lower() in _PLURAL),
        float(min(mention.sentence, 5)),
    ]
    by_recency = sorted(entities, key=lambda one: -(one.last.start if one.last else 0))
    fitting = [one for one in by_recency if _fits(one, mention.sign)]
    rank = {id(one): number for number, one in enumerate(by_recency)}
    fit_rank = {id(one): number for number, one in enumerate(fitting)}
    near = sum(mention.sentence - one.last.sentence <= 2 for one in fitting if one.last)
    before = context.last_of_sign.get(mention.sign)
    rows = []
    for one in entities:
        last = one.before(mention)
        later = last is None
        last = last or one.mentions[0]
        sentences = mention.sentence - last.sentence
        name = one.last_name
        previous = before is not None and before[0] is one
        governs = last.head == mention.governor or last.governor == mention.head
        rows.append(
            [
                *own,
                0.0,
                *_evidence(one, mention.sign),
                float(rank[id(one)]),
                float(fit_rank.get(id(one), -1)),
                float(near),
                float(sentences),
                log(1 + abs(mention.start - last.start)),
                float(later),
                float(last.kind),
                float(last.role),
                float(last.role is mention.role),
                float(last.quote >= 0),
                float(last.quote == mention.quote),
                log(len(one.mentions)),
                one.subjects / len(one.mentions),
                float(previous),
                float(mention.sentence - before[1].sentence) if before else nan,
                float(before[1].role is mention.role) if before else nan,
                float(context.subject_of.get(mention.sentence) is one),
                float(context.subject_of.get(mention.sentence - 1) is one),
                float(context.speakers.get(mention.quote) is one) if mention.quote >= 0 else nan,
                float(context.addressees.get(mention.quote) is one) if mention.quote >= 0 else nan,
                float(one.plural),
                log(1 + mention.start - name.start) if name and name.start <= mention.start else nan,
                float(bool(one.longest)),
                float(len(one.longest)),
                max((m.personhood for m in one.mentions[-3:]), default=1.0),
                float(governs),
                float(one.in_title),
                float(one.mentions[0].sentence),
                float(len(fitting)),
                float(sum(mention.sentence - m.sentence <= 5 for m in one.mentions[-8:])),
            ]
        )
    width = len(rows[0]) if rows else len(own) + 36
    nobody = [*own, 1.0, *[nan] * (width - len(own) - 1)]
    nobody[len(own) + 8] = float(near)
    nobody[width - 2] = float(len(fitting))
    return np.array([*rows, nobody])


def _fits(entity: Entity, sign: int) -> bool:
    """True if an entity may have a pronoun of this signed gender."""
    if not sign:
        return True
    same, other = entity.pronouns[sign + 1], entity.pronouns[1 - sign]
    if same != other:
        return same > other
    return (entity.sign or entity.odds) * sign >= 0 and not entity.plural


def name_match(words: Sequence[str], entity: Entity) -> int:
    """How a name agrees with an entity's: 0 not, 1 some words, 2 all words of the shorter one, 3 equal."""
    long = entity.longest
    if not words or not long:
        return 0
    shared = sum(any(same_token(word, other) for other in long) for word in words)
    if shared == len(words) == len(long):
        return 3
    return 2 if shared == min(len(words), len(long)) else int(shared > 0)


def noun_features(mention: Mention, entities: Sequence[Entity], context: Context) -> Floats:
    """Features (k + 1, f) of a name or noun with k entities, and with a new one in the last row."""
    matches = [name_match(mention.words, one) for one in entities]
    best = max(matches, default=0)
    same_nouns = sum(mention.lemma in one.lemmas for one in entities) if mention.lemma else 0
    own = [
        float(mention.kind),
        float(mention.determiner),
        float(mention.plural),
        float(len(mention.words)),
        float(best),
        float(same_nouns),
        mention.personhood,
        float(mention.role),
        float(mention.quote >= 0),
        float(min(len(entities), MOST)),
    ]
    possessor = context.by_head.get(mention.possessor)
    rows = []
    for one, match in zip(entities, matches, strict=True):
        last = one.before(mention) or one.mentions[0]
        sign = mention.sign or (1 if mention.odds > 1 else -1 if mention.odds < -1 else 0)
        agreement = _evidence(one, sign) if sign else [nan] * 5
        rows.append(
            [
                *own,
                0.0,
                float(match),
                float(bool(mention.words and one.longest and mention.words[0] == one.longest[0])),
                float(bool(mention.words and one.longest and mention.words[-1] == one.longest[-1])),
                float(len(one.longest)),
                float(mention.lemma in one.lemmas) if mention.lemma else nan,
                float(len(one.lemmas)),
                *agreement[:4],
                float(mention.sign * one.sign),
                float(mention.sentence - last.sentence),
                log(1 + abs(mention.start - last.start)),
                float(last.kind),
                float(last.role),
                log(len(one.mentions)),
                float(mention.plural == one.plural),
                float(possessor is one) if possessor else nan,
                float(possessor is not None and any(m.possessor == mention.possessor for m in one.mentions)),
                float(context.by_head.get(mention.apposition) is one) if mention.apposition >= 0 else nan,
                float(context.by_head.get(mention.predicate_of) is one) if mention.predicate_of >= 0 else nan,
                float(context.speakers.get(mention.quote) is one) if mention.quote >= 0 else nan,
                float(one.last_name is None and not one.lemmas),
            ]
        )
    width = len(rows[0]) if rows else len(own) + 24
    return np.array([*rows, [*own, 1.0, *[nan] * (width - len(own) - 1)]])
