"""Reasons for a candidate's probability in plain words, from what :mod:`gapstack.anytext.coupling` reads.

What a predictor reads inside a row of two names is not known here, only whom it prefers.
"""

from __future__ import annotations

from gapstack.anytext.coupling import Question
from gapstack.data.example import Gender, gender_of
from gapstack.types import Probabilities


def reasons(question: Question, probabilities: Probabilities, form: str) -> list[tuple[str, ...]]:
    """What speaks for or against each candidate of a pronoun, given the predictions (rows, 3) for its pairs."""
    every = [
        (
            _gender(person.gender, form),
            f"named {len(person.mentions)} times" if len(person.mentions) > 1 else "",
            _pairs(question, place, probabilities),
        )
        for place, person in enumerate(question.people)
    ]
    return [tuple(filter(None, found)) for found in every]


def _pairs(question: Question, place: int, probabilities: Probabilities) -> str:
    """How a candidate does against the others, in rows of two names."""
    if len(question.people) == 1:
        return "the only person named nearby"
    won = [
        (a > b) == (place == i)
        for (i, j), (a, b, _) in zip(question.pairs, probabilities.tolist(), strict=True)
        if place in (i, j)
    ]
    if len(won) == 1:
        return "preferred to the other name" if won[0] else "the other name is preferred"
    return f"preferred in {sum(won)} of {len(won)} pairs" if won else ""


def _gender(suggested: Gender | None, form: str) -> str:
    """The comparison of the gender that title or first name suggest with the pronoun's."""
    gender = gender_of(form)
    if suggested is None or gender is Gender.NEUTRAL:
        return ""
    unlike = "" if suggested is gender else f", unlike {form.lower()!r}"
    return f"{suggested} title or first name{unlike}"
