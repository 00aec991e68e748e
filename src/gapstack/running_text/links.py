"""Links the mentions of a document, in the order of the text, to the people before them.

Each mention has a distribution over the mentions before it and none of them (mention ranking).
A name or noun is an anchor; a pronoun's probabilities are carried along its antecedents to their anchors, so a chain of
pronouns is answered by the names that it began with. What is left over is open: a name that joins the pronoun's entity
later takes its share ("When she had left, Ann called").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import softmax

from gapstack.data.example import gender_of
from gapstack.running_text.evidence import Entity, EntityMemory
from gapstack.running_text.given_people import GivenPerson
from gapstack.running_text.mentions import Mention, MentionKind
from gapstack.running_text.text_model import Projections, TextModel
from gapstack.types import Floats, Floats32, Ints

_ANCHORS = 16
"""Anchors that a pronoun's distribution keeps."""
_OPEN = 0.02
"""Least probability that a later name may take."""
_WAITING = 60
"""Mentions that a pronoun without a name waits for one."""
_DISOBEYS = 12.0
"""What the log-odds of a given person lose for pronouns that the person does not have."""
_SPEAKS = 3.5
"""What the log-odds of the speaker lose for *he* and *she* in the speaker's own words."""
_INDEFINITE = frozenset(
    ["everyone", "everybody", "someone", "somebody", "anyone", "anybody", "another", "whoever"]
)


def is_anchor(mention: Mention) -> bool:
    """True for a mention that can answer a pronoun: a name, a noun, a group, or *someone*."""
    return not mention.is_pronoun or mention.text.lower() in _INDEFINITE


@dataclass(eq=False)
class Resolution:
    """A mention's anchors with probabilities, by their numbers in the memory; ``open`` is the rest."""

    number: int
    mention: Mention
    anchors: dict[int, float] = field(default_factory=dict)
    open: float = 0.0


class Linker:
    """Reads the mentions of a document one by one."""

    def __init__(self, model: TextModel):
        self.model, self.memory = model, EntityMemory()
        self.resolutions: list[Resolution] = []
        keys, products = model.sizes
        self._keys = np.zeros((2, 256, keys), dtype=np.float32)
        self._products = np.zeros((2, 256, products), dtype=np.float32)
        self._waiting: dict[Entity, list[Resolution]] = defaultdict(list)
        self._given: dict[GivenPerson, Entity] = {}
        self._labels: dict[int, int] = {}
        """Number of the mention that names the speaker of each turn."""

    def read(
        self,
        mentions: Sequence[Mention],
        projections: Projections,
        given: Sequence[GivenPerson | None] | None = None,
    ) -> None:
        """Link the mentions of a passage; those of a given person are that person's."""
        for row, mention in enumerate(mentions):
            self._link(mention, projections, row, given[row] if given else None)

    def _scores(self, mention: Mention, numbers: Ints, projections: Projections, row: int) -> Floats:
        """Logits of earlier mentions as antecedents (k,)."""
        memory = self.memory
        scores = self.model.link_logits(
            projections.query[:, row],
            projections.product[:, row],
            self._keys[:, numbers],
            self._products[:, numbers],
            memory.features(mention, numbers),
        )
        for person, entity in self._given.items() if mention.kind <= MentionKind.NEOPRONOUN else ():
            if person.genders and gender_of(mention.text) not in person.genders:
                scores[[memory.entity[number] is entity for number in numbers.tolist()]] -= _DISOBEYS
        label = self._labels.get(mention.turn)
        if label is not None and mention.kind == MentionKind.GENDERED and mention.quote < 0:
            speaker = memory.entity[label]
            scores[[memory.entity[number] is speaker for number in numbers.tolist()]] -= _SPEAKS
        return scores + memory.familiarity(mention, numbers)

    def _link(self, mention: Mention, projections: Projections, row: int, person: GivenPerson | None) -> None:
        memory = self.memory
        numbers = memory.candidates(mention)
        of_pronoun = not is_anchor(mention)
        logits = np.array([projections.new[:, row].mean()], dtype=np.float64)
        if len(numbers):
            logits = np.concatenate([logits, self._scores(mention, numbers, projections, row)])
        shares: Floats = softmax(logits)
        of_entity: dict[Entity, float] = defaultdict(float)
        for number, share in zip(numbers.tolist(), shares[1:].tolist(), strict=True):
            of_entity[memory.entity[number]] += share
        best = max(of_entity, key=lambda entity: of_entity[entity], default=None)
        if best is not None and of_entity[best] <= shares[0]:
            best = None
        weight = of_entity[best] if best is not None else float(shares[0])
        if person is not None:
            best, weight = self._given.get(person), 1.0
        elif best is not None and mention.is_name and best in self._given.values():
            # another name is another person's
            best = best if mention.words <= best.words else None
        resolution = self._resolution(mention, numbers.tolist(), shares, of_pronoun)
        entity = memory.add(mention, best, weight)
        if person is not None:
            self._given.setdefault(person, entity).words.update(*person.words)
        elif (other := memory.namesake(mention, entity)) and not {entity, other} & {*self._given.values()}:
            open_of_both = self._waiting.pop(entity, []) + self._waiting.pop(other, [])
            entity = memory.merge(entity, other)
            if open_of_both:
                self._waiting[entity] = open_of_both
        self._remember(projections, row)
        if mention.labels_turn:
            self._labels[mention.turn] = resolution.number
        self.resolutions.append(resolution)
        if of_pronoun:
            if resolution.open > _OPEN:
                self._waiting[entity].append(resolution)
        elif entity in self._waiting:
            self._take_open(entity, resolution, weight)

    def _resolution(
        self, mention: Mention, numbers: Sequence[int], shares: Floats, of_pronoun: bool
    ) -> Resolution:
        result = Resolution(len(self.resolutions), mention)
        if not of_pronoun:
            result.anchors[result.number] = 1.0
            return result
        anchors: dict[int, float] = defaultdict(float)
        result.open = float(shares[0])
        for number, share in zip(numbers, shares[1:].tolist(), strict=True):
            if share > 1e-4:
                antecedent = self.resolutions[number]
                result.open += share * antecedent.open
                for anchor, of_anchor in antecedent.anchors.items():
                    anchors[anchor] += share * of_anchor
        kept = sorted(anchors, key=lambda anchor: -anchors[anchor])[:_ANCHORS]
        result.anchors = {anchor: anchors[anchor] for anchor in kept}
        return result

    def _take_open(self, entity: Entity, name: Resolution, weight: float) -> None:
        """Give the open probability of an entity's pronouns to the first name that joins it."""
        waiting = self._waiting.pop(entity)
        for resolution in waiting:
            if name.number - resolution.number <= _WAITING:
                taken = weight * resolution.open
                resolution.anchors[name.number] = resolution.anchors.get(name.number, 0.0) + taken
                resolution.open -= taken

    def _remember(self, projections: Projections, row: int) -> None:
        at = len(self.memory.mentions) - 1
        if at == self._keys.shape[1]:
            self._keys, self._products = _doubled(self._keys), _doubled(self._products)
        self._keys[:, at] = projections.key[:, row]
        self._products[:, at] = projections.product[:, row]

    def members_nearby(self, resolution: Resolution, most: int = 45) -> list[Mention]:
        """The people named just before a plural pronoun without a name: each by the last name or noun, in order."""
        found: dict[Entity, Mention] = {}
        for number in range(resolution.number - 1, -1, -1):
            mention = self.memory.mentions[number]
            if resolution.mention.first - mention.last > most:
                break
            entity = self.memory.entity[number]
            singular = mention.kind not in (MentionKind.GROUP, MentionKind.THEY, MentionKind.WE)
            if is_anchor(mention) and singular and not mention.is_pronoun and entity not in found:
                found[entity] = mention
        return list(found.values())[::-1]


def _doubled(array: Floats32) -> Floats32:
    return np.concatenate([array, np.zeros_like(array)], axis=1)
