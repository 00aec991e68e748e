"""Resolves the pronouns of any text with a predictor of rows of two names: candidates are compared in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from gapstack.data import Corpus, Span
from gapstack.data.example import GAP_FORMS, PLURAL, occurrences
from gapstack.data.gender import common_first_names
from gapstack.errors import DataError, MemberError
from gapstack.files import fingerprint, scratch_cache
from gapstack.language.parses import find_parser, parses
from gapstack.members.coupling import Question, couple, question, reasons
from gapstack.members.people import full_name, names, people
from gapstack.records import versions
from gapstack.running_text.answer import Answer, Answers, Candidate, KnownPerson
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.windows import WORDS, Window, windows
from gapstack.types import Probabilities

if TYPE_CHECKING:
    from gapstack.members.member import Predictor

_ANSWERS = TypeAdapter(list[Answer])


class PairsResolver(AnyTextResolver):
    """Resolves pronouns with a predictor of rows of two names, window by window of at most ``words`` words.

    ``parser`` is the pipeline that detects names, ``en_gapstack`` by default. MemberError if the predictor only returns
    stored predictions.
    """

    def __init__(self, predictor: Predictor, parser: str | Path | None = None, words: int = WORDS):
        if predictor.stored:
            problem = "a prediction file cannot predict new texts; give a fitted member, a stack or a run"
            raise MemberError(problem)
        self.predictor, self.parser, self.words = predictor, parser, words

    @property
    def identity(self) -> str:
        """Hash of all that decides an answer but its window: predictor, parser, and versions."""
        return fingerprint(dict(self.predictor.identity), find_parser(self.parser).fingerprint, versions())

    def pieces(self, text: Text) -> Iterator[Window]:
        """Windows with context; DataError for known people, whom a predictor of rows does not read."""
        if text.people:
            raise DataError(
                "a model that compares names in pairs reads no known people",
                expected="the bundled model of running text, and a text without URL",
                remedy="Leave out the people, or the model and the URL",
            )
        return windows(text.text, text.pronouns, self.words)

    def read(self, work: Sequence[tuple[Text, Window]]) -> list[Any]:
        """Answers of each window, as JSON values."""
        return [_ANSWERS.dump_python(answers, mode="json") for answers in self.answer(work)]

    def link(self, text: Text, results: Iterable[Any]) -> Answers:
        """Restore the answers, which are independent of other windows, and group the names by person."""
        answers = list(chain.from_iterable(map(_ANSWERS.validate_python, results)))
        mentions = {span for answer in answers for person in answer.candidates for span in person.mentions}
        return Answers(
            text.text,
            answers,
            [
                KnownPerson(full_name(text.text, person.mentions), person.mentions)
                for person in people(text.text, mentions, common_first_names())
            ],
        )

    def answer(self, work: Sequence[tuple[Text, Window]]) -> list[list[Answer]]:
        """Resolve the pronouns of some windows in one pass: one parse each, and one corpus of rows for all."""
        if not work:
            return []
        with scratch_cache():
            questions = self._questions(work)
            rows = [
                replace(row, id=f"{number}-{row.id}")
                for number, of_window in enumerate(questions)
                for question in of_window
                for row in question.rows
            ]
            corpus = Corpus(rows, name="text")
            self.predictor.prepare(corpus)
            shares = iter(self.predictor.predict_proba(corpus))
        return [
            [
                self._answer(window, question, np.array(list(islice(shares, len(question.rows)))))
                for question in of_window
            ]
            for (_, window), of_window in zip(work, questions, strict=True)
        ]

    def _questions(self, work: Sequence[tuple[Text, Window]]) -> list[list[Question]]:
        """The questions of each window's pronouns."""
        trees = parses([window.text for _, window in work], self.parser)
        questions = []
        for (text, window), tree in zip(work, trees, strict=True):
            mentions = _occurrences_of_names(window.text, text.names) if text.names else names(tree)
            persons = people(window.text, mentions, common_first_names())
            questions.append(
                [question(window.text, pronoun, persons, text.url) for pronoun in window.pronouns]
            )
        return questions

    @staticmethod
    def _answer(window: Window, question: Question, probabilities: Probabilities) -> Answer:
        form = window.text[slice(*question.pronoun)]
        pairs = probabilities.reshape(-1, 3)
        *shares, nobody = couple(question, pairs, form).tolist()
        candidates = [
            Candidate(
                window.origin(mention),
                window.text[slice(*mention)],
                share,
                tuple(map(window.origin, person.mentions)),
                full_name(window.text, person.mentions),
                why,
            )
            for person, mention, share, why in zip(
                question.people, question.mentions, shares, reasons(question, pairs, form), strict=True
            )
        ]
        best_first = tuple(sorted(candidates, key=lambda candidate: -candidate.probability))
        notes = _notes(question, form)
        return Answer(window.origin(question.pronoun), form, best_first, nobody, notes)


def _notes(question: Question, form: str) -> tuple[str, ...]:
    """Caveats of an answer."""
    if not question.people:
        return ("no name was detected near it",)
    if form.lower() in GAP_FORMS:
        return ()
    plural = ", and it may be a plural" if form.lower() in PLURAL else ""
    weights = "its candidates are weighted like those of he and she"
    return (f"{form.lower()!r} does not occur in training; {weights}{plural}",)


def _occurrences_of_names(text: str, names: Sequence[str]) -> list[Span]:
    """Occurrences of the names; a shorter name does not count inside a longer one."""
    places: list[Span] = []
    for name in sorted(names, key=len, reverse=True):
        spans = occurrences(text, " ".join(name.split()))
        places += [span for span in spans if not any(span.overlaps(other) for other in places)]
    return sorted(places)
