"""An example as a resolver sees it: every mention of the two names, third persons, other pronouns, salience.

The cues look at where A and B stand; people are mentioned more than once. What is gathered here follows the
knowledge-poor resolvers: salience by role and recency (Lappin and Leass 1994), the preferred centre of the
previous sentence (Grosz, Joshi and Weinstein 1995), and the rule that pronouns of one gender in a snippet are
mostly one person, so that what is barred for one of them is barred for all.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Example, Span
from gapstack.corpus.pronouns import GENDER_BY_FORM
from gapstack.text.binding import barriers, understood_subject
from gapstack.text.cues import SENTENCE_COST, Cue, Measures, measure, passes, sieve
from gapstack.text.grammar import Parse, Role
from gapstack.text.page_title import fold, telling_tokens, tokens
from gapstack.text.scenes import Scene, Setting, scene

# each sentence back halves what a mention is worth (Lappin and Leass 1994)
_DECAY = 0.5


class Discourse:
    """One example: the pronoun, both names, and everybody else in the text.

    Attributes
    ----------
    two, all : Scene
        The gold-two-mention and the snippet-context scene, of one parse.
    names : tuple of Name
        A and B.
    """

    def __init__(self, example: Example, parse: Parse):
        self.example, self.parse = example, parse
        self.two: Scene = scene(example, parse, Setting.GOLD_TWO_MENTION)
        self.all: Scene = scene(example, parse, Setting.SNIPPET_CONTEXT)
        self.at: int = self.two.pronoun
        self.names = (Name(self, 0), Name(self, 1))

    @cached_property
    def measured(self) -> Measures:
        """Measures of A and B."""
        return measure(self.two)

    @cached_property
    def measured_all(self) -> Measures:
        """Measures of every PERSON name."""
        return measure(self.all)

    @cached_property
    def choices(self) -> dict[Cue, int]:
        """Which PERSON name each cue chooses, -1 where there is none."""
        return {cue: sieve(passes(cue, self.measured_all))[0] for cue in Cue}

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Dependency distance of every token to the pronoun."""
        return self.parse.distances(self.at, SENTENCE_COST)

    @cached_property
    def companion_distances(self) -> NDArray[np.float64]:
        """Dependency distance of every token to the last other pronoun of the gender before the asked one."""
        return self.parse.distances(self.previous_companion, SENTENCE_COST)

    @cached_property
    def clause_distances(self) -> NDArray[np.int32]:
        """Clause boundaries between every token and the pronoun."""
        return self.parse.clause_distances(self.at)

    @cached_property
    def folded(self) -> list[str]:
        """Every token, folded."""
        return [fold(self.parse.words(i)) for i in range(len(self.parse))]

    @cached_property
    def thirds(self) -> NDArray[np.intp]:
        """Which PERSON names stand for neither A nor B: no telling word in common."""
        known = {*self.names[0].telling, *self.names[1].telling}
        strangers = [
            i
            for i, span in enumerate(self.all.spans)
            if known.isdisjoint(tokens(self.example.words(span))) and self.all.heads[i] >= 0
        ]
        return np.array(strangers, dtype=np.intp)

    @cached_property
    def free_thirds(self) -> NDArray[np.intp]:
        """Third persons that no barrier keeps from the pronoun."""
        return self.thirds[self.all.barriers[self.thirds] == 0]

    @cached_property
    def third_salience(self) -> float:
        """Salience of the most salient third person, 0 without one."""
        totals: dict[str, float] = {}
        for i in self.thirds:
            own = telling_tokens(self.example.words(self.all.spans[i]))
            key = own[-1] if own else ""
            totals[key] = totals.get(key, 0.0) + self.worth(int(self.all.heads[i]))
        return max(totals.values(), default=0.0)

    @cached_property
    def companions(self) -> list[int]:
        """Tokens that are other pronouns of the asked gender."""
        gender = self.example.gender
        return [
            i for i, word in enumerate(self.folded) if i != self.at and GENDER_BY_FORM.get(word) is gender
        ]

    @cached_property
    def companion_barriers(self) -> NDArray[np.bool_]:
        """(companions, 2): whether each is barred from A, and from B."""
        found = [barriers(self.parse, i, self.two.heads) != 0 for i in self.companions]
        return np.array(found, dtype=bool).reshape(-1, 2)

    @cached_property
    def centre(self) -> tuple[int, float]:
        """Sentence before the pronoun's and the theta-prominence of its most prominent name (0 without one)."""
        before = int(self.parse.sentence[self.at]) - 1
        heads = [*self.names[0].mentions, *self.names[1].mentions, *self.all.heads[self.thirds]]
        there = [float(self.parse.theta[h]) for h in heads if self.parse.sentence[h] == before]
        return before, max(there, default=0.0)

    @cached_property
    def previous_companion(self) -> int:
        """The last other pronoun of the gender before the pronoun; -1 if there is none."""
        return max((i for i in self.companions if i < self.at), default=-1)

    @cached_property
    def everybody(self) -> list[tuple[int, int]]:
        """Every mention of a person but those behind barriers: who (0 A, 1 B, 2 somebody else) and head token."""
        found = [(who, head) for who in (0, 1) for head in self.names[who].mentions]
        found += [(2, int(head)) for head in self.all.heads[self.thirds]]
        barred = barriers(self.parse, self.at, np.array([head for _, head in found], dtype=np.int32)) != 0
        return [pair for pair, out in zip(found, barred, strict=True) if not out]

    @cached_property
    def hobbs(self) -> list[int]:
        """Who is met when the text is searched as Hobbs (1978) does: own sentence upwards, then backwards.

        Within a sentence before the pronoun's the search is breadth first, from the left.
        """
        here = int(self.parse.sentence[self.at])
        meeting = (self.parse.ancestors & self.parse.ancestors[self.at]) * (self.parse.depth + 1)
        order = []
        for who, head in self.everybody:
            if head > self.at:
                continue
            back = here - int(self.parse.sentence[head])
            climb = -int(meeting[head].max()) if not back else 0
            order.append((back, climb, int(self.parse.depth[head]), head, who))
        return [entry[-1] for entry in sorted(order)]

    def subject_of_sentence(self, sentence: int) -> int:
        """Subject of the main clause of a sentence; -1 if there is none."""
        roots = np.flatnonzero((self.parse.sentence == sentence) & (self.parse.roles == Role.ROOT))
        return understood_subject(self.parse, int(roots[0])) if len(roots) else -1

    def kind(self, token: int) -> int:
        """Who a token is: 0 nobody, 1 the pronoun, 2 a pronoun of its gender, 3 A or B, 4 a third person, 5 other."""
        if token < 0:
            return 0
        if token == self.at:
            return 1
        if token in self.companions:
            return 2
        if any(token in name.mentions for name in self.names):
            return 3
        return 4 if token in self.all.heads[self.thirds] else 5

    @cached_property
    def own_subject(self) -> int:
        """Subject of the pronoun's clause, understood ones included; -1 if none."""
        return understood_subject(self.parse, int(self.parse.clause[self.at]))

    @cached_property
    def upper_subject(self) -> int:
        """Subject of the clause above the pronoun's; -1 if there is none."""
        clause = int(self.parse.clause[self.at])
        above = int(self.parse.clause[self.parse.heads[clause]])
        return -1 if above == clause else understood_subject(self.parse, above)

    def worth(self, mention: int) -> float:
        """What one mention adds to the salience of who it names: its prominence, halved for each sentence."""
        gap = int(self.parse.sentence[self.at]) - int(self.parse.sentence[mention])
        return 0.0 if gap < 0 else float(self.parse.theta[mention]) * _DECAY**gap


class Name:
    """One of the two names of a :class:`Discourse` with all its mentions."""

    def __init__(self, discourse: Discourse, side: int):
        self.discourse, self.side = discourse, side
        self.span: Span = discourse.two.spans[side]
        self.head = int(discourse.two.heads[side])
        self.text = discourse.example.words(self.span)
        self.telling = telling_tokens(self.text)

    @property
    def rival(self) -> Name:
        """The other name."""
        return self.discourse.names[1 - self.side]

    @cached_property
    def own_words(self) -> frozenset[str]:
        """Telling words that the rival does not share (all of them where it shares all)."""
        return frozenset(self.telling) - frozenset(self.rival.telling) or frozenset(self.telling)

    @cached_property
    def mentions(self) -> list[int]:
        """Head tokens of all mentions of the name, the given one included, in the order of the text."""
        parse, words = self.discourse.parse, self.discourse.folded
        found = {self.head} if self.head >= 0 else set()
        hits = [i for i, word in enumerate(words) if word in self.own_words and self._is_upper(i)]
        for i in hits:
            # words of one mention stand side by side
            last = i
            while last + 1 in hits:
                last += 1
            first = i
            while first - 1 in hits:
                first -= 1
            found.add(parse.head_of(range(first, last + 1)))
        return sorted(found)

    def _is_upper(self, token: int) -> bool:
        return self.discourse.parse.words(token)[:1].isupper()

    @cached_property
    def earlier(self) -> list[int]:
        """Mentions before the pronoun."""
        return [i for i in self.mentions if i < self.discourse.at]

    @cached_property
    def closest(self) -> int:
        """The earlier mention at the shortest dependency distance, the given one without any; may be -1."""
        return min(self.earlier, key=lambda i: self.discourse.distances[i], default=self.head)

    @cached_property
    def salience(self) -> float:
        """Sum of what the mentions before the pronoun are worth."""
        return sum(self.discourse.worth(i) for i in self.earlier)

    @cached_property
    def chain(self) -> list[int]:
        """The head and what it is coordinated with, in apposition to or part of, upwards."""
        parse, at = self.discourse.parse, self.head
        chain = [at]
        while parse.roles[at] in (Role.CONJUNCT, Role.APPOSITION, Role.NAME) and parse.heads[at] != at:
            at = int(parse.heads[at])
            chain.append(at)
        return chain

    @cached_property
    def is_person(self) -> bool:
        """Whether a PERSON name of the parse overlaps it."""
        return any(span.overlaps(self.span) for span in self.discourse.all.spans)
