"""Predictor: what comparison, audit and prediction know of whatever answers "A, B or neither?"."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, overload

import numpy as np

from gapstack.corpus import Corpus
from gapstack.types import Labels, Probabilities

Answers = Any
""":class:`gapstack.antecedents.answer.Answers`, of a room above."""


class Predictor(ABC):
    """Anything that gives probabilities of A, B and NEITHER for the rows of a corpus.

    Members, stacks of members, finished runs and their systems, and files of probabilities or of a resolver's
    clusters are predictors; :func:`gapstack.runs.predictors.load` reads any of them.
    """

    stored: ClassVar[bool] = False
    """Whether it has probabilities for stored rows alone, known by their ids: none for augmented rows."""

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets and audit suites that share rows or sentences with what it was trained on.

        Such as ``gap-test``, ``gap-stage2``, ``winogender``; it must not be scored on them.
        """
        return ()

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, str]:
        """Digests of what decides its probabilities, by name."""

    @abstractmethod
    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Give (n, 3) probabilities of A, B and NEITHER; labels of ``corpus`` are never read."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write it into ``folder``, from which :func:`gapstack.runs.predictors.load` reads it, without pickle."""

    def ask(self, text: str, **options: Any) -> Answers:
        """Say which of a text's people each of its pronouns refers to, with what probability.

        Options and errors are those of :meth:`gapstack.antecedents.pronoun_resolver.PronounResolver.ask`: ``pronoun``
        and ``names`` narrow the question, ``url`` is the page's address.
        """
        answers: Answers = self._resolver().ask(text, **options)
        return answers

    @overload
    def predict(self, rows: Corpus) -> Labels: ...
    @overload
    def predict(self, rows: Iterable[str]) -> list[Answers]: ...
    def predict(self, rows: Corpus | Iterable[str]) -> Labels | list[Answers]:
        """Decide rows, or answer texts.

        Of a corpus: the most probable column of each row, (n,): 0 A, 1 B, 2 NEITHER; the leftmost of equals. Of
        texts: for each what :meth:`ask` gives.
        """
        if isinstance(rows, Corpus):
            return self.predict_proba(rows).argmax(axis=1).astype(np.int64)
        answers: list[Answers] = self._resolver().predict(rows)
        return answers

    def _resolver(self) -> Any:
        # by name: the room stands above, and decides nothing about rows
        return resolve_name("gapstack.antecedents.pronoun_resolver:PronounResolver")(self)

    def prepare(self, corpus: Corpus) -> None:  # noqa: B027 - most have nothing to prepare
        """Compute in one pass what ``predict_proba`` will look up for these rows; optional."""

    def covers(self, name: str) -> bool:
        """Whether it has probabilities for the corpus called ``name``."""
        return True

    def remark(self, corpus: Corpus) -> str:
        """A caveat about its probabilities for ``corpus``, for readers of a report; mostly empty."""
        return ""
