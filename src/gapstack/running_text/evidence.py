"""How mentions compare by their words, and the memory of a document's mentions and people.

Gender is always compared, never named: every feature is the same if all genders of a text are exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gapstack.running_text.mentions import Mention, MentionKind
from gapstack.types import Floats, Ints

_KINDS = len(MentionKind)
_DISTANCES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)

MENTION_FEATURES = _KINDS + 6
"""Number of features of a mention alone."""


def mention_features(mention: Mention) -> Floats:
    """Features of a mention alone (:data:`MENTION_FEATURES`,)."""
    features = np.zeros(MENTION_FEATURES)
    features[mention.kind] = 1
    features[_KINDS:] = (
        abs(mention.noun),
        abs(mention.name),
        mention.person,
        float(mention.quote >= 0),
        min(len(mention.words), 5) / 5,
        mention.validity,
    )
    return features


PAIR_FEATURES = 2 * _KINDS + len(_DISTANCES) + 1 + 38
"""Number of features of a pair."""


class Entity:
    """A person or group: how it was mentioned so far."""

    def __init__(self, number: int):
        self.number = number
        """Number of its first mention when it was new; no other entity has it."""
        self.mentions: list[int] = []
        """Numbers of its mentions in the memory."""
        self.pronouns = np.zeros(3)
        """Pronouns, each by the probability of its link: feminine less masculine, their sum, and neutral ones."""
        self.noun = self.name = 0.0
        self.words: set[str] = set()
        """Words of its names."""
        self.names: Counter[str] = Counter()
        """How often it had each name (:func:`name_of`)."""

    def summary(self) -> tuple[float, ...]:
        """Genders by pronouns, by nouns and by names, numbers of pronouns, presence of a name, and size."""
        difference, gendered, neutral = self.pronouns.tolist()
        return (
            difference / (gendered + 0.5),
            min(gendered, 5) / 5,
            min(neutral, 5) / 5,
            self.noun,
            self.name,
            float(bool(self.words)),
            float(np.log1p(len(self.mentions))) / 4,
        )

    def add(self, mention: Mention, number: int, weight: float = 1.0) -> None:
        """Count a mention, whose link has the probability ``weight``."""
        self.mentions.append(number)
        self.pronouns += weight * np.array(
            [
                mention.pronoun,
                abs(mention.pronoun),
                float(mention.kind in (MentionKind.THEY, MentionKind.NEOPRONOUN)),
            ]
        )
        self.noun = float(np.clip(self.noun + weight * mention.noun, -1, 1))
        if mention.is_name:
            self.name = max(self.name, mention.name, key=abs)
            self.words |= mention.words
            self.names[name_of(mention)] += 1

    def is_called(self, name: str) -> bool:
        """True if no other name is more frequent."""
        return self.names[name] == max(self.names.values(), default=0) > 0

    def absorb(self, other: Entity) -> None:
        """Add all mentions of another entity."""
        self.mentions = sorted(self.mentions + other.mentions)
        self.pronouns += other.pronouns
        self.noun = float(np.clip(self.noun + other.noun, -1, 1))
        self.name = max(self.name, other.name, key=abs)
        self.words |= other.words
        self.names += other.names


def name_of(mention: Mention) -> str:
    """A name in the form in which names are compared: two words or more lose the title, except "Mrs. John Smith"."""
    if len(mention.words) > 1 and mention.noun * mention.name >= 0:
        return " ".join(sorted(mention.words))
    return (mention.full_name or mention.text).lower()


class EntityMemory:
    """Mentions read so far and the entities that they were linked to; compares a mention with earlier ones.

    The last :data:`NEAR` mentions are candidates, and of older entities the last name or noun; at most :data:`OLD` of
    them, the most recently mentioned, and those that share a word with the mention.
    """

    NEAR = 160
    OLD = 60

    def __init__(self) -> None:
        self.mentions: list[Mention] = []
        self.entity: list[Entity] = []
        """Entity of each mention."""
        self.entities: list[Entity] = []
        self._table = np.zeros((1024, _KINDS + 8))
        self._shown: dict[int, int] = {}
        """The last name or noun of each entity, in the order of their last mentions."""
        self._by_word: dict[str, dict[int, None]] = {}
        self._bearers: dict[str, dict[Entity, None]] = {}
        """Entities that had each name."""

    def candidates(self, mention: Mention) -> Ints:
        """Numbers of the mentions that one may refer to, in increasing order (k,)."""
        count = len(self.mentions)
        near = range(max(0, count - self.NEAR), count)
        if near.start == 0:
            return np.arange(count)
        old = [number for number in list(self._shown.values())[-self.OLD :] if number < near.start]
        for word in mention.words if not mention.is_pronoun else ():
            for entity in list(self._by_word.get(word, {}))[-8:]:
                shown = self._shown.get(entity, near.start)
                if shown < near.start:
                    old.append(shown)
        old += [self._shown[bearer.number] for bearer in self._bearers_of(mention)[:2]]
        return np.array(sorted({*old, *near}), dtype=np.int64)

    def familiarity(self, mention: Mention, numbers: Ints) -> Floats:
        """How often each candidate's entity had the mention's name: log of the ratio to who had it most often (k,).

        Features compare a name with single mentions and do not see that it was somebody else's a hundred times. Zeros
        for a mention that is not a name.
        """
        name, bearers = name_of(mention), self._bearers_of(mention)
        if not bearers:
            return np.zeros(len(numbers))
        counts = np.array([self.entity[number].names[name] for number in numbers.tolist()])
        return np.log((counts + 1) / (bearers[0].names[name] + 1))

    def namesake(self, mention: Mention, entity: Entity) -> Entity | None:
        """Another entity that has the mention's name as its most frequent one, if this entity has so too."""
        name = name_of(mention)
        others = (one for one in self._bearers_of(mention) if one is not entity and one.is_called(name))
        other = next(others, None)
        if other is None or not entity.is_called(name) or other.pronouns[0] * entity.pronouns[0] < 0:
            return None
        return other

    def merge(self, one: Entity, other: Entity) -> Entity:
        """Return the older entity, which gets all mentions of both."""
        kept, gone = sorted((one, other), key=lambda entity: entity.number)
        for number in gone.mentions:
            self.entity[number] = kept
        for word in {word for number in gone.mentions for word in self.mentions[number].words}:
            del self._by_word[word][gone.number]
            self._by_word[word].setdefault(kept.number)
        for name in gone.names:
            del self._bearers[name][gone]
            self._bearers[name].setdefault(kept)
        self._shown[kept.number] = max(self._shown.pop(kept.number), self._shown.pop(gone.number))
        self.entities.remove(gone)
        kept.absorb(gone)
        return kept

    def _bearers_of(self, mention: Mention) -> list[Entity]:
        """Entities that had the mention's name, the one that had it most often first; none if it is not a name."""
        if not mention.is_name:
            return []
        name = name_of(mention)
        return sorted(self._bearers.get(name, ()), key=lambda entity: -entity.names[name])

    def features(self, mention: Mention, numbers: Ints) -> Floats:
        """Features (k, :data:`PAIR_FEATURES`) of a mention with each candidate."""
        count = len(numbers)
        own = self._table[numbers]
        of_entity = [self.entity[number] for number in numbers.tolist()]
        result = np.zeros((count, PAIR_FEATURES))
        result[:, mention.kind] = 1
        result[:, _KINDS : 2 * _KINDS] = own[:, :_KINDS]
        at = 2 * _KINDS
        distance = np.maximum(mention.first - own[:, _KINDS + 3], 0)
        result[np.arange(count), at + np.searchsorted(_DISTANCES, distance)] = 1
        at += len(_DISTANCES) + 1
        ages = len(self.mentions) - numbers
        pronoun, noun, name = own[:, _KINDS], own[:, _KINDS + 1], own[:, _KINDS + 2]
        summaries = {entity: entity.summary() for entity in dict.fromkeys(of_entity)}
        table = np.array([summaries[entity] for entity in of_entity]).reshape(count, 7)
        gender = mention.gender
        by_entity = np.where(
            np.abs(table[:, 0]) > 0.3, table[:, 0], np.where(table[:, 3] != 0, table[:, 3], table[:, 4])
        )
        agreement = gender * by_entity
        fits = agreement >= -0.2
        # how many later candidates fit as well
        rank: Ints = np.cumsum(fits[::-1])[::-1] - fits
        quotes = own[:, _KINDS + 4]
        gender_before, noun_before, name_before = table[:, 0], table[:, 3], table[:, 4]
        in_quote, other_in_quote = mention.quote >= 0, quotes >= 0
        columns = {
            "pronoun, pronoun": mention.pronoun * pronoun,
            "pronoun, noun": mention.pronoun * noun,
            "pronoun, name": mention.pronoun * name,
            "noun, pronoun": mention.noun * pronoun,
            "noun, noun": mention.noun * noun,
            "noun, name": mention.noun * name,
            "name, pronoun": mention.name * pronoun,
            "name, noun": mention.name * noun,
            "name, name": mention.name * name,
            "gender, pronouns of the entity": gender * gender_before,
            "gender, nouns of the entity": gender * noun_before,
            "gender, names of the entity": gender * name_before,
            "agreement": agreement,
            "disagreement": np.maximum(-agreement, 0),
            "gendered pronouns of the entity": table[:, 1],
            "neutral pronouns of the entity": table[:, 2],
            "the entity has a name": table[:, 5],
            "size of the entity": table[:, 6],
            "mentions between": np.log1p(ages) / 5,
            "later candidates that fit": np.log1p(rank) / 4,
            "the last candidate that fits": fits & (rank == 0),
            "in the same quotation": in_quote & (quotes == mention.quote),
            "in different quotations": in_quote & other_in_quote & (quotes != mention.quote),
            "only this one is quoted": in_quote & ~other_in_quote,
            "only the candidate is quoted": (mention.quote < 0) & other_in_quote,
            "the candidate contains it": own[:, _KINDS + 5] >= mention.first,
            "a word apart": mention.first - own[:, _KINDS + 5] == 2,
            "the candidate's noun denotes people": own[:, _KINDS + 6],
            "the candidate is a mention": own[:, _KINDS + 7],
            "pieces between": np.log1p(distance) / 8,
        }
        parts = [np.stack(list(columns.values()), axis=1)]
        if not mention.is_pronoun:
            parts.append(self._strings(mention, numbers.tolist(), of_entity))
        values = np.concatenate(parts, axis=1)
        result[:, at : at + values.shape[1]] = values
        return result

    def _strings(self, mention: Mention, numbers: Sequence[int], of_entity: Sequence[Entity]) -> Floats:
        """Comparisons of words (k, 8)."""
        rows = np.zeros((len(numbers), 8))
        words, is_name = mention.words, mention.is_name
        for row, number, entity in zip(rows, numbers, of_entity, strict=True):
            other = self.mentions[number]
            if not other.is_pronoun and words and other.words:
                shared = len(words & other.words)
                row[0] = words == other.words
                row[1] = bool(mention.head) and mention.head == other.head
                row[2] = shared / max(len(words), len(other.words))
                row[3] = words <= other.words or other.words <= words
                row[4] = is_name and other.is_name and not shared
            if is_name and entity.words:
                inside = len(words & entity.words)
                row[5] = inside / len(words)
                row[6] = not inside
                row[7] = 0 < inside < len(words) and not entity.words <= words
        return rows

    def add(self, mention: Mention, entity: Entity | None, weight: float = 1.0) -> Entity:
        """Remember a mention; it opens an entity if it has none, which is returned."""
        number = len(self.mentions)
        if entity is None:
            entity = Entity(number)
            self.entities.append(entity)
        self.mentions.append(mention)
        self.entity.append(entity)
        entity.add(mention, number, weight)
        if number == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        row = self._table[number]
        row[mention.kind] = 1
        row[_KINDS:] = (
            mention.pronoun,
            mention.noun,
            mention.name,
            mention.first,
            mention.quote,
            mention.last,
            mention.person,
            mention.validity,
        )
        if not mention.is_pronoun or entity.number not in self._shown:
            self._shown.pop(entity.number, None)
            self._shown[entity.number] = number
        else:
            self._shown[entity.number] = self._shown.pop(entity.number)
        if mention.is_name:
            self._bearers.setdefault(name_of(mention), {}).setdefault(entity)
        if not mention.is_pronoun:
            for word in mention.words:
                self._by_word.setdefault(word, {}).setdefault(entity.number)
        return entity
