"""Discourse of an example: all mentions of the two names, third persons, other pronouns, and salience.

The quantities are those of knowledge-poor resolvers: salience by role and recency (Lappin and Leass 1994), the
preferred centre of the previous sentence (Grosz, Joshi and Weinstein 1995), and barriers of other pronouns.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Example, Span
from gapstack.data.example import GENDER_BY_FORM
from gapstack.language.cues import SENTENCE_COST, Cue, Measures, measure, passes, sieve
from gapstack.language.grammar import Parse, Role
from gapstack.language.scenes import barriers, climb, scene, understood_subject
from gapstack.language.words import distinctive_tokens, fold, tokens
from gapstack.types import Floats


class Discourse:
    """An example's pronoun (token ``at``), its two names and third persons.

    ``two`` is the scene of A and B, ``all`` that of all PERSON names.
    """

    def __init__(self, example: Example, parse: Parse):
        self.example, self.parse = example, parse
        self.two = scene(example, parse, "gold-two-mention")
        self.all = scene(example, parse, "detected")
        self.at: int = self.two.pronoun
        self.names = (Name(self, 0), Name(self, 1))

    @cached_property
    def measures(self) -> Measures:
        """Measures of all PERSON names."""
        return measure(self.all)

    @cached_property
    def choices(self) -> dict[Cue, int]:
        """Index of the PERSON name that each cue chooses, -1 without one."""
        return {cue: sieve(passes(cue, self.measures))[0] for cue in Cue}

    @cached_property
    def here(self) -> int:
        """Index of the pronoun's sentence."""
        return int(self.parse.sentence[self.at])

    def function(self, token: int) -> int:
        """Function of a token; -1 for token -1."""
        return int(self.parse.functions[token]) if token >= 0 else -1

    @cached_property
    def distances(self) -> Floats:
        """Dependency distance of every token to the pronoun."""
        return self.parse.distances(self.at, SENTENCE_COST)

    @cached_property
    def clause_distances(self) -> NDArray[np.int32]:
        """Clause boundaries between every token and the pronoun."""
        return self.parse.clause_distances(self.at)

    @cached_property
    def folded(self) -> list[str]:
        """Folded text of every token."""
        return [fold(self.parse.words(i)) for i in range(len(self.parse))]

    @cached_property
    def third_persons(self) -> list[int]:
        """Indices of the PERSON names that share no distinctive token with A or B."""
        name_tokens = {*self.names[0].tokens, *self.names[1].tokens}
        return [
            i
            for i, span in enumerate(self.all.spans)
            if name_tokens.isdisjoint(tokens(self.example.words(span))) and self.all.heads[i] >= 0
        ]

    @cached_property
    def third_heads(self) -> list[int]:
        """Head tokens of the third persons' names."""
        heads: list[int] = self.all.heads[self.third_persons].tolist()
        return heads

    @cached_property
    def free_third_heads(self) -> list[int]:
        """Head tokens of third persons that grammar does not exclude as antecedents."""
        return [int(self.all.heads[i]) for i in self.third_persons if not self.all.barriers[i]]

    @cached_property
    def third_salience(self) -> float:
        """Salience of the most salient third person, 0 without one."""
        totals = Counter[str]()
        for i, head in zip(self.third_persons, self.third_heads, strict=True):
            words = distinctive_tokens(self.example.words(self.all.spans[i]))
            totals[words[-1] if words else ""] += self.salience(head)  # type: ignore[assignment]
        return max(totals.values(), default=0.0)

    @cached_property
    def same_gender(self) -> list[int]:
        """Tokens of the other pronouns of the pronoun's gender."""
        gender = self.example.gender
        return [i for i, w in enumerate(self.folded) if i != self.at and GENDER_BY_FORM.get(w) is gender]

    @cached_property
    def same_gender_barriers(self) -> NDArray[np.bool_]:
        """True where a pronoun of :attr:`same_gender` has a barrier to A, or B, (k, 2)."""
        rows = [barriers(self.parse, i, self.two.heads) != 0 for i in self.same_gender]
        return np.array(rows, dtype=bool).reshape(-1, 2)

    @cached_property
    def centre(self) -> float:
        """Theta-prominence of the most prominent name of the sentence before the pronoun's, or 0."""
        heads = [*self.names[0].mentions, *self.names[1].mentions, *self.third_heads]
        before = [h for h in heads if self.parse.sentence[h] == self.here - 1]
        return max((float(self.parse.theta[h]) for h in before), default=0.0)

    @cached_property
    def previous_distances(self) -> Floats | None:
        """Dependency distance of every token to the previous pronoun of the same gender; None without one."""
        before = [i for i in self.same_gender if i < self.at]
        return self.parse.distances(max(before), SENTENCE_COST) if before else None

    @cached_property
    def person_mentions(self) -> list[tuple[int, int]]:
        """Person (0 A, 1 B, 2 a third person) and head token of every person mention without a barrier."""
        mentions = [(who, head) for who in (0, 1) for head in self.names[who].mentions]
        mentions += [(2, head) for head in self.third_heads]
        barred = barriers(self.parse, self.at, np.array([head for _, head in mentions], dtype=np.int32)) != 0
        return [pair for pair, is_barred in zip(mentions, barred, strict=True) if not is_barred]

    @cached_property
    def hobbs(self) -> list[int]:
        """Persons in the order of Hobbs' (1978) search: up the pronoun's sentence, then through earlier ones."""
        meeting = (self.parse.ancestors & self.parse.ancestors[self.at]) * (self.parse.depth + 1)
        order = []
        for who, head in self.person_mentions:
            if head <= self.at:
                back = self.here - int(self.parse.sentence[head])
                climbed = 0 if back else -int(meeting[head].max())
                order.append((back, climbed, int(self.parse.depth[head]), head, who))
        return [entry[-1] for entry in sorted(order)]

    def subject_of_sentence(self, sentence: int) -> int:
        """Subject of the main clause of a sentence; -1 without one."""
        roots = np.flatnonzero((self.parse.sentence == sentence) & (self.parse.roles == Role.ROOT))
        return understood_subject(self.parse, int(roots[0])) if len(roots) else -1

    def kind(self, token: int) -> int:
        """Kind of a token: 0 none (-1), 1 the pronoun, 2 one of its gender, 3 A or B, 4 a third person, 5 other."""
        if token < 0:
            return 0
        of_names = [*self.names[0].mentions, *self.names[1].mentions]
        groups = ([self.at], self.same_gender, of_names, self.third_heads)
        return next((number for number, group in enumerate(groups, 1) if token in group), 5)

    @cached_property
    def own_subject(self) -> int:
        """Subject of the pronoun's clause, including understood ones; -1 without one."""
        return understood_subject(self.parse, int(self.parse.clause[self.at]))

    @cached_property
    def upper_subject(self) -> int:
        """Subject of the clause above the pronoun's; -1 without one."""
        clause = int(self.parse.clause[self.at])
        above = int(self.parse.clause[self.parse.heads[clause]])
        return -1 if above == clause else understood_subject(self.parse, above)

    def salience(self, mention: int) -> float:
        """Theta-prominence of a mention, halved for each sentence back (Lappin and Leass 1994)."""
        gap = self.here - int(self.parse.sentence[mention])
        return 0.0 if gap < 0 else float(self.parse.theta[mention]) * 0.5**gap


class Name:
    """One of the two names of a :class:`Discourse`, with all its mentions."""

    def __init__(self, discourse: Discourse, side: int):
        self.d, self.parse, self.side = discourse, discourse.parse, side
        self.span: Span = discourse.two.spans[side]
        self.head = int(discourse.two.heads[side])
        self.tokens = distinctive_tokens(discourse.example.words(self.span))

    @property
    def rival(self) -> Name:
        """The other name."""
        return self.d.names[1 - self.side]

    @cached_property
    def mentions(self) -> list[int]:
        """Head tokens of all mentions of the name: runs of capitalised words that the rival does not share, if any."""
        distinct = set(self.tokens) - set(self.rival.tokens) or set(self.tokens)
        hits = [i for i, w in enumerate(self.d.folded) if w in distinct and self.parse.words(i)[:1].isupper()]
        starts = [i for i in hits if i - 1 not in hits]
        ends = [i + 1 for i in hits if i + 1 not in hits]
        heads = {self.parse.head_of(range(*bounds)) for bounds in zip(starts, ends, strict=True)}
        return sorted(heads | ({self.head} if self.head >= 0 else set()))

    @cached_property
    def earlier(self) -> list[int]:
        """Mentions before the pronoun."""
        return [i for i in self.mentions if i < self.d.at]

    def in_sentence(self, number: int) -> list[int]:
        """Mentions before the pronoun in sentence ``number``."""
        return [i for i in self.earlier if self.parse.sentence[i] == number]

    @cached_property
    def closest(self) -> int:
        """Earlier mention at the shortest dependency distance; without one, the labelled mention, or -1."""
        return min(self.earlier, key=lambda i: self.d.distances[i], default=self.head)

    @cached_property
    def salience(self) -> float:
        """Total salience of the mentions before the pronoun."""
        return sum(self.d.salience(i) for i in self.earlier)

    @cached_property
    def chain(self) -> list[int]:
        """The head token and its ancestors through coordination, apposition and names."""
        return climb(self.parse, self.head, Role.CONJUNCT, Role.APPOSITION, Role.NAME)
