"""The interface of what resolves the pronouns of any text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from gapstack.data.conversations import Turn, transcript_turns
from gapstack.data.example import GENDER_BY_FORM, occurrences
from gapstack.errors import DataError
from gapstack.running_text.answer import Answers
from gapstack.running_text.characters import KnownCharacter, People, known_characters
from gapstack.running_text.speakers import with_speakers
from gapstack.running_text.windows import Window, pronouns

BATCH = 64
"""Number of pieces that are read together."""
STEP = 4
"""Number of pieces that are read together where somebody may stop waiting."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text to resolve.

    ``pronouns`` are the forms to resolve, in lower case; ``names`` those of the candidates as written in the text,
    detected by the parser if empty; ``url`` that of its page, whose title some predictors read. ``people`` are
    characters whom the user knows: their names and aliases are one person each, who has these pronouns. ``turns`` are
    those of a conversation, whose speakers are people; with ``first_person``, *I* and *you* in them are resolved too.
    """

    text: str
    pronouns: tuple[str, ...] = tuple(GENDER_BY_FORM)
    names: tuple[str, ...] = ()
    url: str | None = None
    people: tuple[KnownCharacter, ...] = ()
    turns: tuple[Turn, ...] = ()
    first_person: bool = False


class AnyTextResolver(ABC):
    """Predicts which of a text's people each pronoun refers to, in two steps.

    Pieces of texts are read in batches, independently of each other (the expensive part); their results are JSON
    values. Then the results of each whole text are linked.
    """

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
        people: People = (),
        turns: Sequence[Turn] | None = None,
        first_person: bool = False,
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
        people : dict or sequence of KnownCharacter
            People who are known: ``{"Gabriel Oak": "she"}``. A part of a name is enough in the text.
        turns : sequence of Turn, optional
            Turns of a conversation; by default those of a transcript ("Anna: Hello.").
        first_person : bool
            Resolve *I* and *you* too, in a conversation.

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
        if isinstance(names, str):
            raise DataError(f"names is the text {names!r}", expected=f"a list of names: [{names!r}]")
        names = [" ".join(name.split()) for name in names]
        joined = " ".join(text.split())  # a name may be broken by the end of a line
        for name in names:
            if not occurrences(joined, name):
                expected = "whole words of the text, in its case"
                raise DataError(f"{name!r} does not occur in the text", expected=expected)
        known = known_characters(people)
        turns = transcript_turns(text) if turns is None else tuple(turns)
        if first_person and not turns:
            raise DataError(
                "the text is not a transcript, so nobody is known to say I",
                expected="lines such as 'Anna: Hello.' of two speakers",
                remedy="Or give JSON lines with speaker and text to gap annotate",
            )
        return next(self.stream([Text(text, forms, tuple(names), url, known, turns, first_person)]))

    def ask_while(self, text: str, goes_on: Callable[[], bool]) -> Answers | None:
        """Resolve a text in small steps; None as soon as ``goes_on`` returns False."""
        whole, results = Text(text, turns=transcript_turns(text)), list[Any]()
        pieces = self.pieces(whole)
        while batch := list(islice(pieces, STEP)):
            if not goes_on():
                return None
            results += self.read([(whole, piece) for piece in batch])
        return self.link_with_speakers(whole, results) if goes_on() else None

    def predict(self, texts: Iterable[str], *, people: People = ()) -> list[Answers]:
        """Resolve the pronouns of many texts, in batches; ``people`` as in :meth:`ask`."""
        if isinstance(texts, str):
            raise DataError("texts is one text", expected="a list of texts", remedy="Use ask for one text")
        known = known_characters(people)
        return list(self.stream(Text(text, people=known, turns=transcript_turns(text)) for text in texts))

    def link_with_speakers(self, text: Text, results: Iterable[Any]) -> Answers:
        """Link the values of a text's pieces, and add the speakers of a conversation."""
        return with_speakers(self.link(text, results), text.turns, first_person=text.first_person)

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
                    yield self.link_with_speakers(text, results)
                    results = []
