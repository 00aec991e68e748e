"""Entities read so far, and the features of a mention with each entity that it may refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log, nan

import numpy as np

from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.ranking import OFFSET
from gapstack.data.example import PLURAL
from gapstack.text.grammar import Role
from gapstack.text.words import same_token

Features = list[dict[str, float]]
"""Features of a mention with each alternative; those that an alternative lacks are missing values."""
_KEPT = 400
_LEAST = 1e-3
_NEURAL = (
    *("neural", "neural_best", "neural_share", "neural_of_best", "neural_person", "neural_person_share"),
    *("neural_new", "validity"),
)
# log-odds of a gender by kind of evidence: names are evidence and no proof
_OF_TITLE, _OF_NAME, _OF_PRONOUNS, _OF_NEUTRAL = 6.0, 5.0, 7.0, 4.0
_ARGUMENTS = {Role.SUBJECT, Role.OBJECT, Role.DATIVE}


@dataclass(eq=False)
class Entity:
    """A person (or group) and the mentions linked to it so far, in order of linking."""

    mentions: list[Mention] = field(default_factory=list)
    longest: tuple[str, ...] = ()
    lemmas: set[str] = field(default_factory=set)
    sign: int = 0
    odds: float = 0.0
    pronouns: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Masculine, neutral and feminine pronouns, each counted by the probability of its link."""
    probable_pronouns: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    """The same by the language model, each by its probability, whatever it was linked to."""
    subjects: int = 0
    plural: bool = False
    personhood: float = 0.0
    """The highest of its names and nouns; 1 with a pronoun."""
    last_name: Mention | None = None
    _last: Mention | None = None

    @property
    def last(self) -> Mention:
        """The mention that comes last in the text."""
        assert self._last is not None, "an entity has mentions"
        return self._last

    def add(self, mention: Mention) -> None:
        """Link a mention."""
        if not self.mentions:
            self.plural = mention.plural
        self.mentions.append(mention)
        self.subjects += mention.role is Role.SUBJECT
        self.personhood = max(self.personhood, mention.personhood)
        if self._last is None or mention.start >= self._last.start:
            self._last = mention
        if mention.kind is Kind.PRONOUN:
            self.pronouns[mention.sign + 1] += mention.certainty
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
        if self.last.start < mention.start:
            return self.last
        return next((one for one in reversed(self.mentions) if one.start < mention.start), None)


@dataclass
class Context:
    """Entities and what the last pronouns of each gender referred to."""

    entities: list[Entity] = field(default_factory=list)
    past: list[Entity] = field(default_factory=list)
    """Entities that no later mention may refer to."""
    last_of_sign: dict[int, tuple[Entity, Mention]] = field(default_factory=dict)
    subject_of: dict[int, Entity] = field(default_factory=dict)
    """Entity of the first subject of each sentence."""
    speakers: dict[int, Entity] = field(default_factory=dict)
    """Speaker of each quotation."""
    addressees: dict[int, Entity] = field(default_factory=dict)
    by_head: dict[int, Entity] = field(default_factory=dict)
    """Entity of the mention with each head token."""
    entity_of: dict[Mention, Entity] = field(default_factory=dict)
    surnames: set[str] = field(default_factory=set)
    """Last words of the full names so far."""

    def expect(self, pronoun: Mention) -> None:
        """Count a pronoun with the entities of the names and nouns that the language model links it to."""
        if pronoun.neural is not None:
            for mention, p in pronoun.neural.people.items():
                if mention in self.entity_of:
                    self.entity_of[mention].probable_pronouns[pronoun.sign + 1] += p

    def forget(self) -> None:
        """Keep the entities with the most recent mentions, so that memory and time are bounded."""
        if len(self.entities) > _KEPT + _KEPT // 4:
            ordered = sorted(self.entities, key=lambda one: -one.last.start)
            self.past += ordered[_KEPT:]
            self.entities = ordered[:_KEPT]
            start = self.entities[-1].last.start
            self.by_head = {head: one for head, one in self.by_head.items() if head >= start}
            self.entity_of = {m: one for one in self.entities for m in one.mentions}

    def link(self, mention: Mention, entity: Entity | None) -> Entity:
        """Link a mention to an entity, or to a new one."""
        if entity is None:
            entity = Entity()
            self.entities.append(entity)
        entity.add(mention)
        if len(mention.words) > 1:
            self.surnames.add(mention.words[-1])
        self.by_head[mention.head] = entity
        self.entity_of[mention] = entity
        if mention.kind is Kind.PRONOUN:
            self.last_of_sign[mention.sign] = entity, mention
        if mention.role is Role.SUBJECT:
            self.subject_of.setdefault(mention.sentence, entity)
        if mention.vocative and mention.quote >= 0:
            self.addressees[mention.quote] = entity
        return entity


def disagrees(mention: Mention, entity: Entity) -> bool:
    """True for he or she and a plural, and for a plural noun and a single person who is not they."""
    if mention.kind is Kind.PRONOUN:
        return mention.sign != 0 and entity.plural
    return mention.plural and not entity.plural and not entity.pronouns[1]


def excluded(mention: Mention, entity: Entity, context: Context) -> bool:
    """True if a mention cannot refer to an entity: another argument of its verb, or its own possessor, does.

    A reflexive refers to an argument of its verb.
    """
    for other in entity.mentions[-6:]:
        if other is mention or other.sentence != mention.sentence:
            continue
        nested = mention.start <= other.start < mention.stop or other.start <= mention.start < other.stop
        possesses = mention.head == other.possessor or other.head == mention.possessor
        if (
            nested
            or possesses
            or (are_coarguments(mention, other) and not (mention.reflexive or other.reflexive))
        ):
            return True
    return False


def are_coarguments(one: Mention, other: Mention) -> bool:
    """True for the subject of a verb and an object of it, and for two objects of different roles."""
    roles = {one.role, other.role}
    if one.head == other.head or len(roles) == 1 or not roles <= _ARGUMENTS:
        return False
    if Role.SUBJECT in roles:
        return one.clause == other.clause >= 0
    return one.governor == other.governor >= 0


def agreement(entity: Entity, sign: int) -> float:
    """Log-odds that an entity has a signed gender, by title or noun, first name, and pronouns linked to it."""
    named = _OF_TITLE * entity.sign if entity.sign else float(np.clip(entity.odds, -_OF_NAME, _OF_NAME))
    masculine, neutral, feminine = entity.pronouns
    number = feminine + masculine  # pronouns outweigh a name that differs
    gender = sign * (named + _OF_PRONOUNS * (feminine - masculine)) / (number + 1)
    return gender - _OF_NEUTRAL * neutral / (number + neutral + 1)


def _gender(entity: Entity, sign: int) -> dict[str, float]:
    """Agreement of an entity with a signed gender, by kind of evidence; its log-probability is the fixed utility."""
    masculine, neutral, feminine = entity.pronouns
    same, other = (feminine, masculine) if sign > 0 else (masculine, feminine)
    agrees = agreement(entity, sign)
    return {
        OFFSET: log(2) - log(1 + exp(-agrees)) if sign else 0.0,
        "agreement": agrees if sign else nan,
        "title_agrees": float(entity.sign * sign) if sign else float(entity.sign != 0),
        "name_agrees": entity.odds * sign if sign and entity.odds else nan,
        "same_pronouns": float(same) if sign else nan,
        "other_pronouns": float(other if sign else masculine + feminine),
        "neutral_pronouns": float(neutral),
        "probable_pronouns": entity.probable_pronouns[sign + 1],
    }


def pronoun_features(mention: Mention, entities: Sequence[Entity], context: Context) -> Features:
    """Features of a pronoun with each entity, and with nobody at the end."""
    by_recency = sorted(entities, key=lambda one: -one.last.start)
    fitting = [one for one in by_recency if _fits(one, mention.sign)]
    rank = {id(one): float(number) for number, one in enumerate(by_recency)}
    fitting_rank = {id(one): float(number) for number, one in enumerate(fitting)}
    before = context.last_of_sign.get(mention.sign)
    own = {
        "sign": float(mention.sign),
        "role": float(mention.role),
        "quoted": float(mention.quote >= 0),
        "reflexive": float(mention.reflexive),
        "plural_form": float(mention.text.lower() in PLURAL),
        "sentence": float(min(mention.sentence, 5)),
        "fitting": float(len(fitting)),
        "fitting_near": float(sum(mention.sentence - one.last.sentence <= 2 for one in fitting)),
        "sentences_since_pronoun": float(mention.sentence - before[1].sentence) if before else nan,
        "same_role_as_pronoun": float(before[1].role is mention.role) if before else nan,
    }
    neural = _neural(mention, entities, context)
    rows = []
    for one in entities:
        last = one.before(mention) or one.mentions[0]
        name = one.last_name
        rows.append(
            own
            | _gender(one, mention.sign)
            | _quotation(mention, one, context)
            | neural[id(one)]
            | {
                "nobody": 0.0,
                "rank": rank[id(one)],
                "fitting_rank": fitting_rank.get(id(one), -1.0),
                "sentences": float(mention.sentence - last.sentence),
                "tokens": log(1 + abs(mention.start - last.start)),
                "later": float(last.start > mention.start),
                "last_kind": float(last.kind),
                "last_role": float(last.role),
                "same_role": float(last.role is mention.role),
                "last_quoted": float(last.quote >= 0),
                "mentions": log(len(one.mentions)),
                "recent_mentions": float(sum(mention.sentence - m.sentence <= 5 for m in one.mentions[-8:])),
                "subject_share": one.subjects / len(one.mentions),
                "of_previous_pronoun": float(before is not None and before[0] is one),
                "subject_of_sentence": float(context.subject_of.get(mention.sentence) is one),
                "subject_of_previous": float(context.subject_of.get(mention.sentence - 1) is one),
                "subject_of_clause": float(
                    any(m.role is Role.SUBJECT and m.clause == mention.clause for m in one.mentions[-4:])
                ),
                "governs": float(last.head == mention.governor or last.governor == mention.head),
                "plural": float(one.plural),
                "name_tokens": log(1 + mention.start - name.start)
                if name and name.start <= mention.start
                else nan,
                "name_words": float(len(one.longest)),
                "personhood": one.personhood,
                "first_sentence": float(one.mentions[0].sentence),
            }
        )
    return [*rows, own | _none(mention) | {"nobody": 1.0}]


def _neural(mention: Mention, entities: Sequence[Entity], context: Context) -> dict[int, dict[str, float]]:
    """What the language model says about a mention and each entity, by the entity's identity."""
    if mention.neural is None:
        return {id(one): dict.fromkeys(_NEURAL, nan) for one in entities}
    found = {id(one): [0.0, 0.0, 0.0] for one in entities}
    for link, p in mention.neural.links.items():
        of_entity = found.get(id(context.entity_of.get(link)))
        if of_entity:
            of_entity[0] += p
            of_entity[1] = max(of_entity[1], p)
    for link, p in mention.neural.people.items():
        of_entity = found.get(id(context.entity_of.get(link)))
        if of_entity:
            of_entity[2] += p
    total = mention.neural.new + sum(mass for mass, *_ in found.values()) + _LEAST
    best = max(mass for mass, *_ in found.values()) if found else 0.0
    known = sum(reach for *_, reach in found.values()) + _LEAST
    result = {}
    for one, (mass, nearest, reach) in found.items():
        values = (
            log(mass + _LEAST),
            log(nearest + _LEAST),
            mass / total,
            mass / (best + _LEAST),
            reach,
            reach / known,
        )
        result[one] = dict(zip(_NEURAL, (*values, mention.neural.new, mention.neural.validity), strict=True))
    return result


def _none(mention: Mention) -> dict[str, float]:
    """The same about none of the entities."""
    if mention.neural is None:
        return {}
    return {"neural_new": mention.neural.new, "validity": mention.neural.validity}


def _quotation(mention: Mention, entity: Entity, context: Context) -> dict[str, float]:
    """Flags: the entity speaks, is spoken to, and spoke the quotations before a quoted mention."""
    if mention.quote < 0:
        return dict.fromkeys(("speaker", "addressee", "speaker_before", "speaker_before_that"), nan)
    return {
        "speaker": float(context.speakers.get(mention.quote) is entity),
        "addressee": float(context.addressees.get(mention.quote) is entity),
        "speaker_before": float(context.speakers.get(mention.quote - 1) is entity),
        "speaker_before_that": float(context.speakers.get(mention.quote - 2) is entity),
    }


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


def noun_features(mention: Mention, entities: Sequence[Entity], context: Context) -> Features:
    """Features of a name or noun with each entity, and with a new one at the end."""
    matches = [name_match(mention.words, one) for one in entities]
    own = {
        "kind": float(mention.kind),
        "determiner": float(mention.determiner),
        "own_plural": float(mention.plural),
        "words": float(len(mention.words)),
        "best_match": float(max(matches, default=0)),
        "same_nouns": float(sum(mention.lemma in one.lemmas for one in entities)) if mention.lemma else nan,
        "own_personhood": mention.personhood,
        "role": float(mention.role),
        "quoted": float(mention.quote >= 0),
        "entities": float(len(entities)),
    }
    sign = mention.sign or (1 if mention.odds > 1 else -1 if mention.odds < -1 else 0)
    possessor = context.by_head.get(mention.possessor)
    neural = _neural(mention, entities, context)
    rows = []
    for one, match in zip(entities, matches, strict=True):
        last = one.before(mention) or one.mentions[0]
        rows.append(
            own
            | _gender(one, sign)
            | _quotation(mention, one, context)
            | neural[id(one)]
            | {
                "new": 0.0,
                "match": float(match),
                "same_first": float(
                    bool(mention.words and one.longest and mention.words[0] == one.longest[0])
                ),
                "same_last": float(
                    bool(mention.words and one.longest and mention.words[-1] == one.longest[-1])
                ),
                "name_words": float(len(one.longest)),
                "same_noun": float(mention.lemma in one.lemmas) if mention.lemma else nan,
                "nouns": float(len(one.lemmas)),
                "same_title": float(mention.sign * one.sign),
                "sentences": float(mention.sentence - last.sentence),
                "tokens": log(1 + abs(mention.start - last.start)),
                "last_kind": float(last.kind),
                "last_role": float(last.role),
                "mentions": log(len(one.mentions)),
                "pronoun_share": sum(one.pronouns) / len(one.mentions),
                "same_number": float(mention.plural == one.plural),
                "personhood": one.personhood,
                "of_possessor": float(possessor is one) if possessor else nan,
                "same_possessor": float(
                    possessor is not None and any(m.possessor == mention.possessor for m in one.mentions[-8:])
                ),
                "apposition": _is_head(one, mention.apposition, context),
                "predicate": _is_head(one, mention.predicate_of, context),
            }
        )
    return [*rows, own | _none(mention) | {"new": 1.0}]


def _is_head(entity: Entity, head: int, context: Context) -> float:
    return float(context.by_head.get(head) is entity) if head >= 0 else nan
