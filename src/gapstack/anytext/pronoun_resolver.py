"""Resolves the pronouns of any text with any predictor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from gapstack.anytext.answer import Answer, Answers, Candidate
from gapstack.anytext.coupling import Question, couple, question, reasons
from gapstack.anytext.people import common_first_names, full_name, names, people
from gapstack.anytext.windows import WORDS, Window, pronouns, windows
from gapstack.data import Corpus, Span
from gapstack.data.example import GAP_FORMS, GENDER_BY_FORM, PLURAL, occurrences
from gapstack.errors import DataError, MemberError
from gapstack.files import fingerprint, scratch_cache
from gapstack.members.member import Predictor
from gapstack.records import versions
from gapstack.text.parses import find_parser, parses
from gapstack.types import Probabilities

BATCH = 64
"""Number of windows that are parsed and predicted together."""
_ANSWERS = TypeAdapter(list[Answer])


@dataclass(frozen=True, slots=True)
class Text:
    """A text to resolve.

    ``pronouns`` are the forms to resolve, in lower case; ``names`` those of the candidates as written in the text,
    detected by the parser if empty; ``url`` that of its page, whose title some predictors read.
    """

    text: str
    pronouns: tuple[str, ...] = tuple(GENDER_BY_FORM)
    names: tuple[str, ...] = ()
    url: str | None = None


class AnyTextResolver(ABC):
    """Predicts which of a text's people each pronoun refers to, in two steps.

    Pieces of texts are read in batches, independently of each other (the expensive part); their results are JSON
    values. Then the results of each whole text are linked.
    """

    parser: str | Path | None

    @property
    @abstractmethod
    def identity(self) -> str:
        """Hash of all that decides an answer but its text."""

    @abstractmethod
    def pieces(self, text: Text) -> Iterator[Window]:
        """The pieces of a text that are read."""

    @abstractmethod
    def read(self, work: Sequence[tuple[Text, Window]]) -> list[Any]:
        """A JSON value for each piece."""

    @abstractmethod
    def link(self, text: Text, results: Iterable[Any]) -> Answers:
        """Answers for a text, from the values of its pieces."""

    def ask(
        self,
        text: str,
        *,
        pronoun: str | None = None,
        names: Sequence[str] = (),
        url: str | None = None,
    ) -> Answers:
        """Resolve the pronouns of a text.

        Parameters
        ----------
        text : str
        pronoun : str, optional
            The only form to resolve, which the text has; all third-person forms by default.
        names : sequence of str
            Candidates, as written in the text; detected by the parser by default.
        url : str, optional
            URL of the text's page.

        Raises
        ------
        DataError
            If the text does not have that pronoun, or a name does not occur in it.
        """
        forms = tuple(GENDER_BY_FORM)
        if pronoun is not None:
            forms = (pronoun.lower(),)
            found = list(dict.fromkeys(text[slice(*span)].lower() for span in pronouns(text)))
            if pronoun.lower() not in found:
                expected = f"one of its pronouns: {', '.join(found)}" if found else "a text with pronouns"
                raise DataError(f"the text has no pronoun {pronoun!r}", expected=expected)
        for name in names:
            if not occurrences(text, name):
                expected = "whole words of the text, in its case"
                raise DataError(f"{name!r} does not occur in the text", expected=expected)
        return next(self.stream([Text(text, forms, tuple(names), url)]))

    def predict(self, texts: Iterable[str]) -> list[Answers]:
        """Resolve the pronouns of many texts, in batches."""
        return list(self.stream(map(Text, texts)))

    def stream(self, texts: Iterable[Text]) -> Iterator[Answers]:
        """Resolve texts in order, a batch of pieces at a time."""
        # None ends a text
        work = ((text, piece) for text in texts for piece in chain(self.pieces(text), [None]))
        results: list[Any] = []
        while batch := list(islice(work, BATCH)):
            read = iter(self.read([(text, piece) for text, piece in batch if piece]))
            for text, piece in batch:
                if piece:
                    results.append(next(read))
                else:
                    yield self.link(text, results)
                    results = []


class PronounResolver(AnyTextResolver):
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
        """Windows with context."""
        return windows(text.text, text.pronouns, self.words)

    def read(self, work: Sequence[tuple[Text, Window]]) -> list[Any]:
        """Answers of each window, as JSON values."""
        return [_ANSWERS.dump_python(answers, mode="json") for answers in self.answer(work)]

    def link(self, text: Text, results: Iterable[Any]) -> Answers:
        """Restore the answers; windows are independent."""
        return Answers(text.text, list(chain.from_iterable(map(_ANSWERS.validate_python, results))))

    def answer(self, work: Sequence[tuple[Text, Window]]) -> list[list[Answer]]:
        """Resolve the pronouns of some windows in one pass: one parse each, and one corpus of rows for all."""
        if not work:
            return []
        with scratch_cache():
            questions = self._questions(work)
            rows = [
                replace(row, id=f"{number}-{row.id}")
                for number, of_window in enumerate(questions)
                for one in of_window
                for row in one.rows
            ]
            corpus = Corpus(rows, name="text")
            self.predictor.prepare(corpus)
            shares = iter(self.predictor.predict_proba(corpus))
        return [
            [self._answer(window, one, np.array(list(islice(shares, len(one.rows))))) for one in of_window]
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
