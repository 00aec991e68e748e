"""Base class of the audit's benchmark suites, their rows and their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus, Label
from gapstack.data.sources import DATASETS
from gapstack.display.render import Cell, Column
from gapstack.errors import MismatchError, counted
from gapstack.evaluation.metrics import answers, normalise
from gapstack.types import Bools, Floats


@dataclass(frozen=True)
class Panel:
    """A table of figures by system (or slice of the rows) and measure key; None if undefined."""

    key: str  # name in JSON
    title: str
    measures: tuple[Column, ...]
    rows: Mapping[str, Mapping[str, Cell]]
    note: str = ""
    detail: bool = False  # shown in detailed reports only, but always in JSON
    # figures of the suite's paper by system
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def column(self, key: str) -> Column:
        """The column of a measure."""
        return next(measure for measure in self.measures if measure.key == key)


@dataclass(frozen=True)
class Scatter:
    """A scatter plot with a regression line for each system."""

    key: str
    title: str
    x_title: str
    y_title: str
    names: tuple[str, ...]  # (n,) labels of the points
    series: Mapping[str, Floats]  # (n, 2) points by system
    diagonal: bool = False  # draws x = y
    horizon: float | None = None  # height of a horizontal line

    def _repr_svg_(self) -> str:
        return str(resolve_name("gapstack.audits.plots:regression_svg")(self))


@dataclass(frozen=True)
class Headline:
    """A suite's headline figures: quality, and gap between the genders."""

    title: str
    good: tuple[str, str]  # panel key and measure key of the quality, and of the gap
    apart: tuple[str, str] | None = None
    even: float = 0.0  # gap of an unbiased system
    score: str = "accuracy"  # names the quality


@dataclass(frozen=True)
class Findings:
    """Results of a suite: tables, plots and headline figures."""

    panels: tuple[Panel, ...]
    scatters: tuple[Scatter, ...] = ()
    headlines: tuple[Headline, ...] = ()


@dataclass(frozen=True)
class Items:
    """A suite's labelled rows, with pronouns of all genders."""

    corpus: Corpus
    version: str  # upstream source and release
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # (n,) metadata of the rows
    skipped: Mapping[str, int] = field(default_factory=dict)  # number of excluded items by reason
    note: str = ""  # a caveat, such as a cap

    def describe(self) -> str:
        """Summarise data, number of rows and excluded items."""
        parts = [f"{self.version}: {counted(len(self.corpus), 'row')} (hash {self.corpus.fingerprint})"]
        if self.skipped:
            reasons = "; ".join(f"{reason}: {count:,}" for reason, count in self.skipped.items() if count)
            parts.append(f"Left out: {reasons}")
        if self.note:
            parts.append(self.note[0].upper() + self.note[1:])
        return ". ".join(parts)


class Suite(ABC):
    """A benchmark suite: rows, and measures of a system's probabilities for them.

    ``dataset`` is the key of the data in :data:`~gapstack.data.sources.DATASETS`, empty for suites that override
    :attr:`licence` and :meth:`version` because their sentences are gapstack's own; ``contamination_ids`` are the names
    under which members declare that they were trained on it (``Predictor.contaminated_by``); ``cap`` is the default
    size of a sample of the rows, None for all.
    """

    name: str
    title: str
    paper: str
    dataset: str
    contamination_ids: frozenset[str]
    cap: int | None = None

    @abstractmethod
    def load(self, *, cap: int | None = None) -> Items:
        """Read or build the rows; suites with a default ``cap`` sample at most ``cap`` of them.

        Raises DataNotFoundError if the data are missing, DataError if a file breaks its format.
        """

    @abstractmethod
    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Compute the results of each system's probabilities, (n, 3) in the order of the rows."""

    @property
    def licence(self) -> str:
        """Licence of the data set."""
        return DATASETS[self.dataset].licence

    def version(self) -> str:
        """Source of the data set, with its release where known."""
        return f"{self.title}, {DATASETS[self.dataset].upstream}"


def percents(**titles: str) -> tuple[Column, ...]:
    """Columns of percentages, by key."""
    return tuple(Column(key, title, 1) for key, title in titles.items())


def predictions(items: Items, probabilities: Floats) -> NDArray[np.int64]:
    """Most probable column of each row, (n,); MismatchError unless there is one row of probabilities per example."""
    if len(probabilities) != len(items.corpus):
        raise MismatchError(f"{len(probabilities)} rows of probabilities for {len(items.corpus)} examples")
    return answers(normalise(probabilities))


def forced_choice(probabilities: Floats) -> NDArray[np.int64]:
    """The more probable of the two names, 0 for A and 1 for B, (n,); A in a tie."""
    return answers(np.asarray(probabilities, dtype=np.float64)[:, : Label.NEITHER])


def pro_and_anti(items: Items, where: Bools) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pro-stereotypical and anti-stereotypical rows of the pairs among ``where``, in the same order of pairs."""
    pair = items.facts["pair"]
    pro, anti = (
        np.flatnonzero(where & (items.facts["side"] == side) & (pair >= 0)) for side in ("pro", "anti")
    )
    return pro[np.argsort(pair[pro])], anti[np.argsort(pair[anti])]
