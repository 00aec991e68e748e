"""The extraction patterns of the GAP corpus (Webster et al. 2018, section 3.1 and table 1), on dependency parses.

============ ==================== ======================================================================================
FinalPro     name, name, pronoun  both names in one sentence, the pronoun in it or in the next
MedialPro    name, pronoun, name  the first name in the sentence before the pronoun's, the second in the pronoun's
InitialPro   pronoun, name, name  all in one sentence
============ ==================== ======================================================================================

In MedialPro and InitialPro the pronoun stands in an initial subordinate clause, or is a possessive in an initial
prepositional phrase. Pronouns are singular, gendered and not reflexive; the two names have heads of their own, and
there is no intruder: no third name of a person who may have the pronoun's gender between the mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from gapstack.data import Gender, Span
from gapstack.data.example import GENDER_BY_FORM, Example
from gapstack.text.grammar import Parse, PartOfSpeech, Role
from gapstack.text.word_classes import POSSESSIVE_MARKS
from gapstack.text.words import distinctive_tokens

PER_PAGE = 3
"""Maximum number of rows of one gender from a page."""
WORDS = 100
"""Maximum number of tokens of a snippet; 92% of GAP development's have no more."""
FORMS = frozenset({"he", "him", "his", "she", "her"})
"""The pronouns of GAP."""
GenderOf = Callable[[Span], Gender | None]
"""Gender of the person that a name at a place of the text names; None if unknown."""

_LETTER = re.compile(r"[^\W\d_]")


class Pattern(StrEnum):
    """Order of the three mentions."""

    FINAL = "FinalPro"
    MEDIAL = "MedialPro"
    INITIAL = "InitialPro"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match of a pattern: characters of pronoun and names (in order), and tokens of the snippet's sentences."""

    pattern: Pattern
    pronoun: Span
    a: Span
    b: Span
    gender: Gender
    first: int
    last: int


def pattern_of(example: Example) -> Pattern:
    """The pattern whose order the mentions of an example have."""
    names_before = sum(name.start < example.pronoun.start for name in (example.a, example.b))
    return (Pattern.INITIAL, Pattern.MEDIAL, Pattern.FINAL)[names_before]


def contexts(parse: Parse, gender_of: GenderOf, words: int = WORDS) -> Iterator[PatternMatch]:
    """Find every match of a pattern in a text, in the order of the pronouns.

    A snippet ends with the last mention's sentence and has as many sentences before the mentions as fit into ``words``
    tokens; contexts whose own sentences have more are left out.
    """
    names = person_names(parse)
    genders = [gender_of(parse.characters(name)) for name in names]
    for token in range(len(parse)):
        form = parse.words(token).lower()
        if form not in FORMS or parse.pos[token] != PartOfSpeech.PRONOUN:
            continue
        gender = GENDER_BY_FORM[form]
        fitting = [name for name, own in zip(names, genders, strict=True) if own in (None, gender)]
        for pattern, one, other in _pairs(parse, token, fitting):
            if not _different(parse, one, other):
                continue
            bounds = _snippet(parse, min(token, one.start), max(token, other.start), words)
            if bounds is not None:
                tokens = (range(token, token + 1), one, other)
                pronoun, a, b = (parse.characters(own) for own in tokens)
                yield PatternMatch(pattern, pronoun, a, b, gender, *bounds)


def person_names(parse: Parse) -> list[range]:
    """Tokens of the names of single persons: PERSON entities with a proper noun as head, without a possessive mark."""
    names = []
    for start, stop in parse.persons.tolist():
        worded = [i for i in range(start, stop) if is_word(parse.words(i))]
        name = range(start, worded[-1] + 1 if worded else start)
        head = parse.head_of(name)
        plural = start > 0 and parse.words(start - 1).lower() == "the"  # "the Smiths", "the Duke"
        if head >= 0 and parse.pos[head] == PartOfSpeech.PROPER_NOUN and not plural:
            names.append(name)
    return names


def is_word(word: str) -> bool:
    """True if a token of a name has a letter and is not a possessive mark."""
    return word not in POSSESSIVE_MARKS and _LETTER.search(word) is not None


def _pairs(parse: Parse, pronoun: int, names: list[range]) -> Iterator[tuple[Pattern, range, range]]:
    """Patterns of a pronoun with the names next to it, and to each other, so that there is none between."""
    here = parse.sentence[pronoun]
    before = [name for name in names if name.stop <= pronoun]
    after = [name for name in names if name.start > pronoun and parse.sentence[name.start] == here]
    sentence = {name: int(parse.sentence[name.start]) for name in (*before[-2:], *after[:2])}
    if len(before) > 1:
        one, other = before[-2:]
        if sentence[one] == sentence[other] >= here - 1:
            yield Pattern.FINAL, one, other
    medial = bool(before and after) and sentence[before[-1]] == here - 1
    if (medial or len(after) > 1) and is_initial(parse, pronoun):
        if medial:
            yield Pattern.MEDIAL, before[-1], after[0]
        if len(after) > 1:
            yield Pattern.INITIAL, after[0], after[1]


def is_initial(parse: Parse, pronoun: int) -> bool:
    """True if a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase.

    Initial: no noun, verb or pronoun stands before it in its sentence, and what it depends on comes after it.
    """
    first = int(np.flatnonzero(parse.sentence == parse.sentence[pronoun])[0])
    token = pronoun
    while parse.heads[token] != token:
        head = int(parse.heads[token])
        is_clause = parse.roles[token] == Role.CLAUSE and parse.pos[head] != PartOfSpeech.NOUN
        is_phrase = (
            parse.roles[token] == Role.OBLIQUE
            and parse.roles[pronoun] == Role.POSSESSIVE
            and bool(((parse.heads == token) & (parse.roles == Role.CASE)).any())
        )
        if (is_clause or is_phrase) and head > token:
            own = np.flatnonzero(parse.ancestors[:, token]).tolist()
            if max(own) < head and all(parse.pos[i] == PartOfSpeech.OTHER for i in range(first, own[0])):
                return True
        token = head
    return False


def _different(parse: Parse, *names: range) -> bool:
    """True if two names share no word; names that do could be one person's."""
    one, other = (set(distinctive_tokens(parse.text[slice(*parse.characters(name))])) for name in names)
    return bool(one and other) and one.isdisjoint(other)


def _snippet(parse: Parse, first: int, last: int, words: int) -> tuple[int, int] | None:
    """Tokens (first, past the last) of the sentences from one token to another and those before that fit."""
    starts = [0, *(np.flatnonzero(np.diff(parse.sentence)) + 1).tolist(), len(parse)]
    sentences = [range(*bounds) for bounds in pairwise(starts)]
    at, end = int(parse.sentence[first]), sentences[int(parse.sentence[last])].stop
    if end - sentences[at].start > words:
        return None
    while at > 0 and end - sentences[at - 1].start <= words:
        at -= 1
    return sentences[at].start, end
