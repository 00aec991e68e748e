"""The pronouns of any text, answered by any predictor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from gapstack.antecedents.answer import Answer, Answers, Candidate
from gapstack.antecedents.coupling import couple
from gapstack.antecedents.first_names import common_first_names
from gapstack.antecedents.people import names, people
from gapstack.antecedents.questions import Question, question
from gapstack.antecedents.windows import SEEN, WORDS, Window, windows
from gapstack.code import code_behind
from gapstack.corpus import Corpus, Span
from gapstack.corpus.example import occurrences
from gapstack.corpus.pronouns import GENDER_BY_FORM
from gapstack.errors import DataError, MemberError
from gapstack.files import fingerprint, scratch_cache
from gapstack.members.predictor import Predictor
from gapstack.text.memory import forget_all
from gapstack.text.parses import find_parser, parses
from gapstack.types import Probabilities

PLURAL = frozenset({"they", "them", "their", "theirs", "themselves"})
"""Forms that are mostly plural."""
BATCH = 64
"""Windows that are parsed and predicted together."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text to resolve.

    Attributes
    ----------
    text : str
    pronouns : tuple of str
        Forms to answer, in lower case.
    names : tuple of str
        The candidates' names as they are written; none: those that the parser detects.
    url : str or None
        Address of its page, whose title some predictors read.
    """

    text: str
    pronouns: tuple[str, ...] = tuple(GENDER_BY_FORM)
    names: tuple[str, ...] = ()
    url: str | None = None


class PronounResolver:
    """Says which of a text's people each pronoun refers to, with what probability.

    Parameters
    ----------
    predictor : Predictor
        That answers rows of two names; not one of stored rows alone.
    parser : str or Path, optional
        Pipeline that detects names; the project's own by default.
    words : int
        Words of a window.

    Raises
    ------
    MemberError
        If the predictor knows stored rows alone.
    """

    def __init__(self, predictor: Predictor, parser: str | Path | None = None, words: int = WORDS):
        if predictor.stored:
            raise MemberError(
                "a file of answers knows its own rows alone; texts need a fitted member, a stack or a run"
            )
        self.predictor, self.parser, self.words = predictor, parser, words

    @property
    def identity(self) -> str:
        """Hash of all that decides an answer but its window: predictor, parser, and the code of this room."""
        return fingerprint(
            dict(self.predictor.identity), find_parser(self.parser).fingerprint, code_behind(__name__)
        )

    def ask(
        self,
        text: str,
        *,
        pronoun: str | None = None,
        names: Sequence[str] = (),
        url: str | None = None,
    ) -> Answers:
        """Answer every pronoun of a text.

        Parameters
        ----------
        text : str
        pronoun : str, optional
            The one form to answer, in any case; all third-person forms by default.
        names : sequence of str
            Names to choose among, as they are written in the text; by default those that the parser detects.
        url : str, optional
            Address of the page that the text is from.

        Raises
        ------
        DataError
            If the form is no pronoun that gapstack knows, or the text has not one of the names.
        """
        forms = tuple(GENDER_BY_FORM) if pronoun is None else (_known_form(pronoun),)
        return next(self.stream([Text(text, forms, _there(text, names), url)]))

    def predict(self, texts: Iterable[str]) -> list[Answers]:
        """Answer every pronoun of many texts, in batches."""
        return list(self.stream(map(Text, texts)))

    def stream(self, texts: Iterable[Text]) -> Iterator[Answers]:
        """Answer texts in order, a batch of windows at a time."""
        # None ends a text
        work = (
            (text, window)
            for text in texts
            for window in chain(windows(text.text, text.pronouns, self.words), [None])
        )
        answers: list[Answer] = []
        while batch := list(islice(work, BATCH)):
            answered = iter(self.answer([(text, window) for text, window in batch if window]))
            for text, window in batch:
                if window:
                    answers += next(answered)
                else:
                    yield Answers(
                        text.text,
                        answers,
                        "" if answers else "the text has no third-person pronoun that was looked for",
                    )
                    answers = []

    def answer(self, work: Sequence[tuple[Text, Window]]) -> list[list[Answer]]:
        """Answer the pronouns of some windows in one pass: one parse of each, and one table of rows for all."""
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
            forget_all()
        return [
            [self._answer(window, one, np.array(list(islice(shares, len(one.rows))))) for one in of_window]
            for (_, window), of_window in zip(work, questions, strict=True)
        ]

    def _questions(self, work: Sequence[tuple[Text, Window]]) -> list[list[Question]]:
        """The questions of each window's pronouns."""
        trees = parses([window.text for _, window in work], self.parser)
        questions = []
        for (text, window), tree in zip(work, trees, strict=True):
            mentions = _named(window.text, text.names) if text.names else names(tree)
            persons = people(window.text, mentions, common_first_names())
            questions.append(
                [question(window.text, pronoun, persons, text.url) for pronoun in window.pronouns]
            )
        return questions

    @staticmethod
    def _answer(window: Window, question: Question, probabilities: Probabilities) -> Answer:
        form = window.text[slice(*question.pronoun)]
        shares = couple(question, probabilities.reshape(-1, 3), form).tolist()
        candidates = [
            Candidate(
                window.origin(mention),
                window.text[slice(*mention)],
                share,
                tuple(map(window.origin, person.mentions)),
            )
            for person, mention, share in zip(question.people, question.mentions, shares[:-1], strict=True)
        ]
        candidates.sort(key=lambda candidate: -candidate.probability)
        return Answer(
            window.origin(question.pronoun), form, tuple(candidates), shares[-1], _notes(question, form)
        )


def _notes(question: Question, form: str) -> tuple[str, ...]:
    """What a reader of an answer should know."""
    notes = []
    if not question.people:
        notes.append("no name was detected near it")
    elif form.lower() not in SEEN:
        plural = ", and it may be a plural" if form.lower() in PLURAL else ""
        notes.append(
            f"no training row has {form.lower()!r}: its names are weighed as those of he and she{plural}"
        )
    return tuple(notes)


def _known_form(pronoun: str) -> str:
    form = pronoun.lower()
    if form not in GENDER_BY_FORM:
        raise DataError(
            f"{pronoun!r} is no pronoun that gapstack knows", expected=f"one of {', '.join(GENDER_BY_FORM)}"
        )
    return form


def _there(text: str, names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if not occurrences(text, name):
            raise DataError(f"the text has no {name!r}", expected="whole words of the text, in its case")
    return tuple(names)


def _named(text: str, names: Sequence[str]) -> list[Span]:
    """Where the names occur; a shorter one does not count within a longer one."""
    places: list[Span] = []
    for name in sorted(names, key=len, reverse=True):
        spans = occurrences(text, " ".join(name.split()))
        places += [span for span in spans if not any(span.overlaps(other) for other in places)]
    return sorted(places)
