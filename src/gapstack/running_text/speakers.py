"""Speakers of a conversation: one person each, to whom *I* refers in what they say, and *you* in what others say."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from gapstack.data import Span
from gapstack.data.clusters import same_name
from gapstack.data.conversations import Turn
from gapstack.running_text.answer import Answer, Answers, Candidate, KnownPerson

_FIRST = re.compile(r"(?<![\w'\u2019])(?:I|me|my|mine|myself)(?!\w)")
_SECOND = re.compile(r"(?<![\w'\u2019])(?:you|your|yours|yourself)(?!\w)", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
OWN = 0.98
"""Probability that *I* is the speaker."""
OTHER_OF_TWO = 0.9
"""Probability that *you* is the other of two speakers."""
LAST_SPEAKER = 0.6
"""Probability that *you* is the person who spoke before, among three or more."""


def with_speakers(answers: Answers, turns: Sequence[Turn], *, first_person: bool = False) -> Answers:
    """The answers with the speakers of a conversation among the people, and with *I* and *you* if ``first_person``.

    A speaker is the person whose mentions include the speaker's name before a turn, else the first with that name, else
    a new one. Quotations are left out, since somebody else says *I* in them.
    """
    if not turns:
        return answers
    entities = list(answers.entities)
    numbers: dict[str, int] = {}
    labels_of: dict[str, set[Span]] = {}
    for turn in turns:
        labels_of.setdefault(turn.speaker, set()).add(turn.label)
    for speaker, labels in labels_of.items():
        number = _number(answers.text, entities, speaker, labels)
        if number is None:
            number = len(entities)
            entities.append(KnownPerson(speaker, ()))
        person = entities[number]
        numbers[speaker] = number
        # a mention is one person's: labels are taken from whom they were given to
        for other, someone in enumerate(entities):
            if other != number and not labels.isdisjoint(someone.mentions):
                rest = tuple(mention for mention in someone.mentions if mention not in labels)
                entities[other] = someone._replace(mentions=rest)
        mentions = tuple(sorted({*person.mentions, *labels}))
        entities[number] = person._replace(mentions=mentions, named=True)
    added = list(_first_and_second(answers.text, turns, entities, numbers)) if first_person else []
    known = {mention for person in entities for mention in person.mentions}
    kept = [_with_candidates(answer, known) for answer in answers]
    people = [person for person in entities if person.mentions]
    ordered = sorted([*kept, *added], key=lambda answer: answer.pronoun)
    return Answers(answers.text, ordered, people)


def _number(text: str, people: Sequence[KnownPerson], speaker: str, labels: set[Span]) -> int | None:
    """The person with most of the labels, else the first with the speaker's name; None if there is none."""
    shared = [len(labels.intersection(person.mentions)) for person in people]
    if any(shared):
        return shared.index(max(shared))
    for number, person in enumerate(people):
        if any(same_name(text[slice(*mention)], speaker) for mention in person.mentions):
            return number
    return None


def _with_candidates(answer: Answer, known: Collection[Span]) -> Answer:
    """The answer with candidates that are mentions of some person still."""
    if all(candidate.span in known for candidate in answer.candidates):
        return answer
    kept = tuple(candidate for candidate in answer.candidates if candidate.span in known)
    lost = sum(candidate.probability for candidate in answer.candidates if candidate.span not in known)
    return replace(answer, candidates=kept, other=answer.other + lost)


def _first_and_second(
    text: str, turns: Sequence[Turn], people: Sequence[KnownPerson], numbers: dict[str, int]
) -> list[Answer]:
    """Answers for *I* and *you* and their forms."""
    answers = []
    previous, addressee = turns[0], next((turn for turn in turns if turn.speaker != turns[0].speaker), None)
    for turn in turns:
        if turn.speaker != previous.speaker:
            addressee = previous
        previous = turn
        for span in _spoken(text, _FIRST, turn.speech):
            answers.append(_answer(text, span, people[numbers[turn.speaker]], turn.label, OWN, "speaks here"))
        if addressee is not None:
            probability = OTHER_OF_TWO if len(numbers) == 2 else LAST_SPEAKER
            for span in _spoken(text, _SECOND, turn.speech):
                person = people[numbers[addressee.speaker]]
                answers.append(_answer(text, span, person, addressee.label, probability, "is spoken to here"))
    return answers


def _spoken(text: str, pattern: re.Pattern[str], speech: Span) -> list[Span]:
    """Matches in what somebody says, quotations left out."""
    quoted = [Span(*match.span()) for match in _QUOTED.finditer(text, *speech)]
    spans = [Span(*match.span()) for match in pattern.finditer(text, *speech)]
    return [span for span in spans if not any(span.overlaps(quotation) for quotation in quoted)]


def _answer(
    text: str, pronoun: Span, person: KnownPerson, label: Span, probability: float, reason: str
) -> Answer:
    name = text[slice(*label)]
    candidate = Candidate(label, name, probability, (label,), person.full_name, (reason,))
    return Answer(pronoun, text[slice(*pronoun)], (candidate,), 0.0, (), 1 - probability)
