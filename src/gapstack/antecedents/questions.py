"""A pronoun with k candidates as rows of two names: what a predictor can answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from gapstack.antecedents.people import Person
from gapstack.corpus import Example, Span
from gapstack.corpus.pronouns import GENDER_BY_FORM

MOST = 6
"""Candidates of a pronoun, the nearest; 15 pairs. Of GAP development's rows 13% detect more people."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A pronoun of a window, its candidates, and the rows that compare them two by two.

    Attributes
    ----------
    pronoun : Span
    people : tuple of Person
        The k candidates, in the order of the text.
    mentions : tuple of Span
        The mention of each that stands for it in rows.
    pairs : tuple of (int, int)
        Candidates A and B of each row. One candidate is compared with a word that is nobody, -1.
    rows : tuple of Example
    """

    pronoun: Span
    people: tuple[Person, ...]
    mentions: tuple[Span, ...]
    pairs: tuple[tuple[int, int], ...]
    rows: tuple[Example, ...]


def question(text: str, pronoun: Span, people: Sequence[Person], url: str | None = None) -> Question:
    """Compare the people that are nearest to a pronoun, at most :data:`MOST`, two by two.

    A person is represented by the last mention before the pronoun, or else the first after it.
    """
    nearest = {
        person: mention for person in people if not (mention := person.nearest(pronoun)).overlaps(pronoun)
    }
    chosen = sorted(nearest, key=lambda person: abs(nearest[person].start - pronoun.start))[:MOST]
    chosen.sort(key=lambda person: nearest[person])
    mentions = tuple(nearest[person] for person in chosen)
    # one that stands within another cannot be its rival
    pairs = tuple(
        (i, j) for i, j in combinations(range(len(chosen)), 2) if not mentions[i].overlaps(mentions[j])
    )
    spans = [(mentions[i], mentions[j]) for i, j in pairs]
    if len(chosen) == 1:
        nobody = _nobody(text, pronoun, mentions[0])
        if nobody is not None:
            first = mentions[0] < nobody
            pairs = ((0, -1),) if first else ((-1, 0),)
            spans = [(mentions[0], nobody) if first else (nobody, mentions[0])]
    rows = tuple(
        Example(f"{pronoun.start}-{number}", text, pronoun, a, b, url) for number, (a, b) in enumerate(spans)
    )
    return Question(pronoun, tuple(chosen), mentions, pairs, rows)


def _nobody(text: str, pronoun: Span, name: Span) -> Span | None:
    """The word nearest to the pronoun that is neither it nor the name, one that begins upper case before others."""
    options = [
        span
        for match in _WORD.finditer(text)
        if not (span := Span(*match.span())).overlaps(pronoun)
        and not span.overlaps(name)
        and match[0].lower() not in GENDER_BY_FORM
    ]
    return min(
        options,
        key=lambda span: (not text[span.start].isupper(), abs(span.start - pronoun.start)),
        default=None,
    )
