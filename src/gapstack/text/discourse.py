"""Discourse of an example: all mentions of the two names, third persons, other pronouns, and salience.

The quantities are those of knowledge-poor resolvers: salience by role and recency (Lappin and Leass 1994), the
preferred centre of the previous sentence (Grosz, Joshi and Weinstein 1995), and barriers of other pronouns of the
same gender, since these are mostly the same person within a snippet.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Example, Span
from gapstack.data.example import GENDER_BY_FORM
from gapstack.text.cues import SENTENCE_COST, Cue, Measures, measure, passes, sieve
from gapstack.text.grammar import Parse, Role
from gapstack.text.page_title import distinctive_tokens, fold, tokens
from gapstack.text.scenes import Candidates, Scene, barriers, scene, understood_subject

# each sentence back halves a mention's salience (Lappin and Leass 1994)
_DECAY = 0.5


class Discourse:
    """Pronoun, both names and third persons of one example.

    Attributes
    ----------
    two, all : Scene
        A and B, and all detected names, in the same parse.
    at : int
        Token of the pronoun.
    names : tuple of Name
        A and B.
    """

    def __init__(self, example: Example, parse: Parse):
        self.example, self.parse = example, parse
        self.two: Scene = scene(example, parse, Candidates.GOLD_TWO_MENTION)
        self.all: Scene = scene(example, parse, Candidates.DETECTED)
        self.at: int = self.two.pronoun
        self.names = (Name(self, 0), Name(self, 1))

    @cached_property
    def measures(self) -> Measures:
        """Measures of all PERSON names."""
        return measure(self.all)

    @cached_property
    def choices(self) -> dict[Cue, int]:
        """Index of the PERSON name that each cue chooses, -1 where there is none."""
        return {cue: sieve(passes(cue, self.measures))[0] for cue in Cue}

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Dependency distance of every token to the pronoun."""
        return self.parse.distances(self.at, SENTENCE_COST)

    @cached_property
    def previous_distances(self) -> NDArray[np.float64]:
        """Dependency distance of every token to :attr:`previous_same_gender`."""
        return self.parse.distances(self.previous_same_gender, SENTENCE_COST)

    @cached_property
    def clause_distances(self) -> NDArray[np.int32]:
        """Clause boundaries between every token and the pronoun."""
        return self.parse.clause_distances(self.at)

    @cached_property
    def folded(self) -> list[str]:
        """Folded text of every token."""
        return [fold(self.parse.words(i)) for i in range(len(self.parse))]

    @cached_property
    def third_persons(self) -> NDArray[np.intp]:
        """Indices of the PERSON names that share no distinctive token with A or B."""
        name_tokens = {*self.names[0].tokens, *self.names[1].tokens}
        others = [
            i
            for i, span in enumerate(self.all.spans)
            if name_tokens.isdisjoint(tokens(self.example.words(span))) and self.all.heads[i] >= 0
        ]
        return np.array(others, dtype=np.intp)

    @cached_property
    def free_third_persons(self) -> NDArray[np.intp]:
        """Third persons without a barrier to the pronoun."""
        return np.asarray(self.third_persons[self.all.barriers[self.third_persons] == 0])

    @cached_property
    def third_salience(self) -> float:
        """Salience of the most salient third person, 0 if there is none."""
        totals: dict[str, float] = {}
        for i in self.third_persons:
            own = distinctive_tokens(self.example.words(self.all.spans[i]))
            key = own[-1] if own else ""
            totals[key] = totals.get(key, 0.0) + self.mention_salience(int(self.all.heads[i]))
        return max(totals.values(), default=0.0)

    @cached_property
    def same_gender(self) -> list[int]:
        """Tokens of the other pronouns of the pronoun's gender."""
        gender = self.example.gender
        return [
            i for i, word in enumerate(self.folded) if i != self.at and GENDER_BY_FORM.get(word) is gender
        ]

    @cached_property
    def same_gender_barriers(self) -> NDArray[np.bool_]:
        """True where a pronoun of :attr:`same_gender` has a barrier to A, or B, (k, 2)."""
        rows = [barriers(self.parse, i, self.two.heads) != 0 for i in self.same_gender]
        return np.array(rows, dtype=bool).reshape(-1, 2)

    @cached_property
    def centre(self) -> tuple[int, float]:
        """Index of the sentence before the pronoun's, and theta-prominence of its most prominent name, or 0."""
        before = int(self.parse.sentence[self.at]) - 1
        heads = [*self.names[0].mentions, *self.names[1].mentions, *self.all.heads[self.third_persons]]
        return before, max(
            (float(self.parse.theta[h]) for h in heads if self.parse.sentence[h] == before), default=0.0
        )

    @cached_property
    def previous_same_gender(self) -> int:
        """The last pronoun of the same gender before the pronoun; -1 if there is none."""
        return max((i for i in self.same_gender if i < self.at), default=-1)

    @cached_property
    def person_mentions(self) -> list[tuple[int, int]]:
        """Person (0 A, 1 B, 2 a third person) and head token of every person mention without a barrier."""
        mentions = [(who, head) for who in (0, 1) for head in self.names[who].mentions]
        mentions += [(2, int(head)) for head in self.all.heads[self.third_persons]]
        barred = barriers(self.parse, self.at, np.array([head for _, head in mentions], dtype=np.int32)) != 0
        return [pair for pair, is_barred in zip(mentions, barred, strict=True) if not is_barred]

    @cached_property
    def hobbs(self) -> list[int]:
        """Persons in the order of Hobbs' (1978) search: up the pronoun's sentence, then sentence by sentence backwards.

        Earlier sentences are searched breadth first, from the left.
        """
        here = int(self.parse.sentence[self.at])
        meeting = (self.parse.ancestors & self.parse.ancestors[self.at]) * (self.parse.depth + 1)
        order = []
        for who, head in self.person_mentions:
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
        """Kind of a token: 0 none, 1 the pronoun, 2 a pronoun of its gender, 3 A or B, 4 a third person, 5 other."""
        if token < 0:
            return 0
        if token == self.at:
            return 1
        if token in self.same_gender:
            return 2
        if any(token in name.mentions for name in self.names):
            return 3
        return 4 if token in self.all.heads[self.third_persons] else 5

    @cached_property
    def own_subject(self) -> int:
        """Subject of the pronoun's clause, including understood ones; -1 if there is none."""
        return understood_subject(self.parse, int(self.parse.clause[self.at]))

    @cached_property
    def upper_subject(self) -> int:
        """Subject of the clause above the pronoun's; -1 if there is none."""
        clause = int(self.parse.clause[self.at])
        above = int(self.parse.clause[self.parse.heads[clause]])
        return -1 if above == clause else understood_subject(self.parse, above)

    def mention_salience(self, mention: int) -> float:
        """Salience of one mention: its theta-prominence, halved for each sentence back."""
        gap = int(self.parse.sentence[self.at]) - int(self.parse.sentence[mention])
        return 0.0 if gap < 0 else float(self.parse.theta[mention]) * _DECAY**gap


class Name:
    """One of the two names of a :class:`Discourse`, with all its mentions."""

    def __init__(self, discourse: Discourse, side: int):
        self.discourse, self.side = discourse, side
        self.span: Span = discourse.two.spans[side]
        self.head = int(discourse.two.heads[side])
        self.tokens = distinctive_tokens(discourse.example.words(self.span))

    @property
    def rival(self) -> Name:
        """The other name."""
        return self.discourse.names[1 - self.side]

    @cached_property
    def distinctive_words(self) -> frozenset[str]:
        """Tokens that the rival does not share; all tokens if it shares all."""
        return frozenset(self.tokens) - frozenset(self.rival.tokens) or frozenset(self.tokens)

    @cached_property
    def mentions(self) -> list[int]:
        """Head tokens of all mentions of the name, including the labelled one, in the order of the text."""
        parse, words = self.discourse.parse, self.discourse.folded
        heads = {self.head} if self.head >= 0 else set()
        hits = [i for i, word in enumerate(words) if word in self.distinctive_words and self._is_upper(i)]
        for i in hits:
            # adjacent words belong to one mention
            last = i
            while last + 1 in hits:
                last += 1
            first = i
            while first - 1 in hits:
                first -= 1
            heads.add(parse.head_of(range(first, last + 1)))
        return sorted(heads)

    def _is_upper(self, token: int) -> bool:
        return self.discourse.parse.words(token)[:1].isupper()

    @cached_property
    def earlier(self) -> list[int]:
        """Mentions before the pronoun."""
        return [i for i in self.mentions if i < self.discourse.at]

    @cached_property
    def closest(self) -> int:
        """Earlier mention at the shortest dependency distance, or else the labelled one; may be -1."""
        return min(self.earlier, key=lambda i: self.discourse.distances[i], default=self.head)

    @cached_property
    def salience(self) -> float:
        """Total salience of the mentions before the pronoun."""
        return sum(self.discourse.mention_salience(i) for i in self.earlier)

    @cached_property
    def chain(self) -> list[int]:
        """The head token and its ancestors through coordination, apposition and names."""
        parse, at = self.discourse.parse, self.head
        chain = [at]
        while parse.roles[at] in (Role.CONJUNCT, Role.APPOSITION, Role.NAME) and parse.heads[at] != at:
            at = int(parse.heads[at])
            chain.append(at)
        return chain

    @cached_property
    def is_person(self) -> bool:
        """True if a PERSON entity overlaps it."""
        return any(span.overlaps(self.span) for span in self.discourse.all.spans)
