"""What every suite of the audit is, what it is asked with, and what it finds."""

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
from gapstack.scoring.metrics import Floats, answers, normalise

Value = Interval | Difference | float | int | str | None
"""A figure: alone, with its interval, or with an interval and the p-value of 0; None where it has no value."""

OCCUPATION, PARTICIPANT, NEITHER = 0, 1, 2
"""Whom a pronoun of Winogender was resolved to."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a panel: its key in JSON, its heading, and how many decimals it is printed with."""

    key: str
    title: str
    decimals: int = 1


@dataclass(frozen=True)
class Panel:
    """Figures under one heading.

    Attributes
    ----------
    key : str
        Name in JSON, by which published figures are found too.
    title, note : str
        Above and below the table.
    measures : tuple of Measure
    rows : mapping of str to mapping
        Figures by measure's key, for each system (or each slice of the rows).
    detail : bool
        Shown only where details are asked for; always in JSON.
    """

    key: str
    title: str
    measures: tuple[Measure, ...]
    rows: Mapping[str, Mapping[str, Value]]
    note: str = ""
    detail: bool = False


@dataclass(frozen=True)
class Scatter:
    """Points in a plane for each system, through which a regression line is drawn.

    ``names`` (n,) belong to the points; ``series`` maps a system to its (n, 2) points. ``diagonal`` asks for the
    line x = y; ``horizon`` for a level line at that height.
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
    """What a suite is quoted by: how good a system is, and how far it treats the genders apart.

    ``good`` and ``apart`` name a panel and a measure by their keys; ``score`` says what ``good`` is;
    ``even`` is what is measured of a system that treats them alike. Suites whose rows are of one gender have nothing to
    set apart.
    """

    title: str
    good: tuple[str, str]
    apart: tuple[str, str] | None = None
    even: float = 0.0
    score: str = "accuracy"


@dataclass(frozen=True)
class Findings:
    """What a suite found: tables, plots, and what it is quoted by."""

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
        Which data these are: upstream home and release.
    facts : mapping of str to (n,) array
        What the suite knows of each row beyond the example.
    skipped : mapping of str to int
        Items of the data that are no rows here, by reason.
    note : str
        What a reader of the figures must know: a cap, a construction.
    """

    corpus: Corpus
    version: str
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def describe(self) -> str:
        """Data, rows and what was left out, in a sentence or two."""
        parts = [f"{self.version}: {len(self.corpus):,} rows (hash {self.corpus.fingerprint})"]
        if self.skipped:
            reasons = "; ".join(f"{reason}: {count:,}" for reason, count in self.skipped.items() if count)
            parts.append(f"left out: {reasons}")
        if self.note:
            parts.append(self.note)
        return ". ".join(parts)


class Suite(ABC):
    """A yardstick: rows that a system answers, and what its answers say of it.

    Attributes are its ``name``, its ``title``, its ``paper``, the ``dataset`` that it is read from, and
    ``heard_of_as``: the names by which members say that they have learned from it (``Member.contaminates``).
    ``cap`` is how many rows are drawn unless all are asked for; None takes all.
    """

    name: str
    title: str
    paper: str
    dataset: str
    heard_of_as: frozenset[str]
    cap: int | None = None

    @abstractmethod
    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read or build the rows; ``cap`` bounds their number where the suite can be drawn from.

        Raises
        ------
        DataNotFoundError
            If the data are at none of the places searched.
        DataError
            If a file breaks its format.
        """

    @abstractmethod
    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Say what the (n, 3) probabilities of each system on the items' corpus amount to."""

    def version(self) -> str:
        """Where the data set comes from, with its release where that is known."""
        return f"{self.title}, {DATASETS[self.dataset].upstream}"


def answered(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """Most probable column of each row, (n,).

    Raises
    ------
    MismatchError
        If there is not one row of probabilities for each example.
    """
    if len(probabilities) != len(items.corpus):
        raise MismatchError(f"{len(probabilities)} rows of probabilities for {len(items.corpus)} examples")
    return answers(normalise(probabilities))


def forced(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """The more probable of the two names, 0 for A and 1 for B, (n,); A in a tie."""
    answered(items, probabilities)
    return answers(np.asarray(probabilities, dtype=np.float64)[:, : Label.NEITHER])
