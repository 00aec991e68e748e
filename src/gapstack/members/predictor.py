"""Predictor: the interface of everything that answers "A, B or neither?"."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, overload

import numpy as np

from gapstack.data import Corpus
from gapstack.types import Labels, Probabilities

Answers = Any
""":class:`gapstack.anytext.answer.Answers`, which is defined further up."""


class Predictor(ABC):
    """Anything that predicts probabilities of A, B and NEITHER for the rows of a corpus.

    Members, stacks, finished runs, and files of probabilities or clusters; :func:`gapstack.load` reads any of them.
    """

    stored: ClassVar[bool] = False
    """True if it only returns stored predictions, looked up by row id."""

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets and audit suites that share rows with its training data, such as ``gap-test``."""
        return ()

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, str]:
        """Digests of what decides its probabilities, by name."""

    @abstractmethod
    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Return (n, 3) probabilities of A, B and NEITHER; labels of ``corpus`` are never read."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write it into ``folder``, without pickle; :func:`gapstack.load` reads it."""

    def ask(self, text: str, **options: Any) -> Answers:
        """Resolve the pronouns of a text, with probabilities.

        Options and errors are those of :meth:`gapstack.anytext.pronoun_resolver.PronounResolver.ask`.
        """
        return self._resolver().ask(text, **options)

    @overload
    def predict(self, rows: Corpus) -> Labels: ...
    @overload
    def predict(self, rows: Iterable[str]) -> list[Answers]: ...
    def predict(self, rows: Corpus | Iterable[str]) -> Labels | list[Answers]:
        """Return the most probable column of each row, (n,), or of texts what :meth:`ask` returns."""
        if isinstance(rows, Corpus):
            return self.predict_proba(rows).argmax(axis=1).astype(np.int64)
        return self._resolver().predict(rows)

    def _resolver(self) -> Any:
        # the one import upwards, so that every predictor answers texts
        return resolve_name("gapstack.anytext.pronoun_resolver:PronounResolver")(self)

    def prepare(self, corpus: Corpus) -> None:  # noqa: B027 - optional
        """Compute in one pass what ``predict_proba`` will look up for these rows; optional."""

    def covers(self, name: str) -> bool:
        """Return True if it has probabilities for the corpus called ``name``."""
        return True

    def remark(self, corpus: Corpus) -> str:
        """Return a caveat about its probabilities for ``corpus``, usually empty."""
        return ""
