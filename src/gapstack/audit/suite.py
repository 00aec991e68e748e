"""Base class of the audit's benchmark suites, their rows and their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Label
from gapstack.corpus.datasets import DATASETS
from gapstack.errors import MismatchError
from gapstack.scoring import Difference, Interval
from gapstack.scoring.metrics import answers, normalise
from gapstack.types import Floats

Value = Interval | Difference | float | int | str | None
"""A figure, with an interval (and the p-value of no difference) where there is one; None if undefined."""

OCCUPATION, PARTICIPANT, NEITHER = 0, 1, 2
"""Antecedent of a Winogender pronoun."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a panel: its key in JSON, its heading, and its number of decimals."""

    key: str
    title: str
    decimals: int = 1


@dataclass(frozen=True)
class Panel:
    """A table of figures.

    Attributes
    ----------
    key : str
        Name in JSON, also the key of published figures.
    title, note : str
        Above and below the table.
    measures : tuple of Measure
    rows : mapping of str to mapping
        Figures by measure key, for each system (or each slice of the rows).
    detail : bool
        Shown only in detailed reports; always in JSON.
    """

    key: str
    title: str
    measures: tuple[Measure, ...]
    rows: Mapping[str, Mapping[str, Value]]
    note: str = ""
    detail: bool = False


@dataclass(frozen=True)
class Scatter:
    """A scatter plot with a regression line for each system.

    ``names`` (n,) label the points; ``series`` maps a system to its (n, 2) points. ``diagonal`` adds the line x = y,
    ``horizon`` a horizontal line at that height.
    """

    key: str
    title: str
    x_title: str
    y_title: str
    names: tuple[str, ...]
    series: Mapping[str, Floats]
    diagonal: bool = False
    horizon: float | None = None


@dataclass(frozen=True)
class Headline:
    """A suite's headline figures: quality, and gap between the genders.

    ``good`` (quality, named by ``score``) and ``apart`` (gap) are pairs of panel key and measure key; ``even`` is the
    gap of an unbiased system. Suites whose rows are of one gender have no gap.
    """

    title: str
    good: tuple[str, str]
    apart: tuple[str, str] | None = None
    even: float = 0.0
    score: str = "accuracy"


@dataclass(frozen=True)
class Findings:
    """Results of a suite: tables, plots and headline figures."""

    panels: tuple[Panel, ...]
    scatters: tuple[Scatter, ...] = ()
    headlines: tuple[Headline, ...] = ()


@dataclass(frozen=True)
class Items:
    """A suite's rows.

    Attributes
    ----------
    corpus : Corpus
        Labelled; pronouns of all genders.
    version : str
        Upstream source and release of the data.
    facts : mapping of str to (n,) array
        Metadata of the rows.
    skipped : mapping of str to int
        Number of excluded items of the data, by reason.
    note : str
        Caveat for readers of the figures, such as a cap.
    """

    corpus: Corpus
    version: str
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def describe(self) -> str:
        """Summarise data, number of rows and excluded items."""
        parts = [f"{self.version}: {len(self.corpus):,} rows (hash {self.corpus.fingerprint})"]
        if self.skipped:
            reasons = "; ".join(f"{reason}: {count:,}" for reason, count in self.skipped.items() if count)
            parts.append(f"left out: {reasons}")
        if self.note:
            parts.append(self.note)
        return ". ".join(parts)


class Suite(ABC):
    """A benchmark suite: rows, and measures of a system's probabilities for them.

    Attributes
    ----------
    name, title, paper : str
    dataset : str
        Key of the data in :data:`~gapstack.corpus.datasets.DATASETS`.
    contamination_ids : frozenset of str
        Names under which members declare that they were trained on it (``Predictor.contaminated_by``).
    cap : int, optional
        Default size of a sample of the rows; None takes all.
    """

    name: str
    title: str
    paper: str
    dataset: str
    contamination_ids: frozenset[str]
    cap: int | None = None

    @abstractmethod
    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read or build the rows; suites with a default ``cap`` sample at most ``cap`` of them.

        Raises
        ------
        DataNotFoundError
            If the data are missing.
        DataError
            If a file breaks its format.
        """

    @abstractmethod
    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Compute the results of each system's probabilities, (n, 3) in the order of the rows."""

    def version(self) -> str:
        """Source of the data set, with its release where known."""
        return f"{self.title}, {DATASETS[self.dataset].upstream}"


def predictions(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """Most probable column of each row, (n,).

    Raises
    ------
    MismatchError
        If the number of rows of probabilities differs from that of the examples.
    """
    if len(probabilities) != len(items.corpus):
        raise MismatchError(f"{len(probabilities)} rows of probabilities for {len(items.corpus)} examples")
    return answers(normalise(probabilities))


def forced_choice(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """The more probable of the two names, 0 for A and 1 for B, (n,); A in a tie."""
    predictions(items, probabilities)
    return answers(np.asarray(probabilities, dtype=np.float64)[:, : Label.NEITHER])
