"""Base class of benchmark suites, their rows and their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus, Label
from gapstack.data.sources import DATASETS
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.errors import MismatchError, counted
from gapstack.evaluation.metrics import answers, normalise
from gapstack.types import Bools, Floats


def suite_table(
    key: str,
    title: str,
    measures: Sequence[Column],
    rows: Mapping[str, Mapping[str, Cell]],
    note: str = "",
    *,
    detail: bool = False,
    published: Mapping[str, Mapping[str, float]] | None = None,
) -> Table:
    """A table of figures by system (or slice of the rows), with those of the suite's paper in a second section."""
    sections = [Section("", list(rows.items()))]
    if published:
        theirs = {f"{system} (paper)": row for system, row in published.items()}
        sections.append(Section("published", list(theirs.items()), aside=frozenset(theirs)))
    return Table(measures, sections, title, note, "system", key, detail)


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


@dataclass(frozen=True)
class Headline:
    """A suite's headline figures: a score, and the gap between the genders."""

    title: str
    score: tuple[str, str]  # keys of the table and of the column
    gap: tuple[str, str] | None = None  # keys of the table and of the column; None without a gap
    neutral: float = 0.0  # gap of an unbiased system
    score_name: str = "accuracy"


@dataclass(frozen=True)
class Findings:
    """Results of a suite: tables, plots and headline figures."""

    tables: tuple[Table, ...]
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

    def limited(self, most: int, together: str = "") -> Self:
        """About ``most`` rows, spread over all; rows with the same value of the fact ``together`` stay together.

        At least one such group is kept. Rows without a group (-1) are left out.
        """
        values = self.facts[together] if together else np.arange(len(self.corpus))
        _, first, number = np.unique(values, return_index=True, return_inverse=True)
        groups = [group for group in np.argsort(first) if values[first[group]] != -1]
        largest = int(np.bincount(number)[groups].max())
        spread = (
            np.linspace(0, len(groups) - 1, min(len(groups), max(1, most // largest))).round().astype(int)
        )
        rows = np.flatnonzero(np.isin(number, np.array(groups)[spread]))
        facts = {name: fact[rows] for name, fact in self.facts.items()}
        limit = f"a trial on {len(rows)} of {len(self.corpus):,} rows"
        note = "; ".join(filter(None, (limit, self.note)))
        return replace(self, corpus=self.corpus.take(rows), facts=facts, note=note)

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
    size of a sample of the rows, None for all; rows with one value of the fact ``together`` are compared.
    """

    name: str
    title: str
    paper: str
    dataset: str
    contamination_ids: frozenset[str]
    cap: int | None = None
    together: str = ""

    @abstractmethod
    def load(self, *, cap: int | None = None) -> Items:
        """Read or build the rows; suites with a default ``cap`` sample at most ``cap`` of them.

        Raises DataNotFoundError if the data are missing, DataError if a file breaks its format.
        """

    @abstractmethod
    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Compute the results of each system from its (n, 3) probabilities in the order of the rows."""

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
        raise MismatchError(
            f"{len(probabilities)} rows of probabilities for {len(items.corpus)} examples; predict the suite's rows"
        )
    return answers(normalise(probabilities))


def forced_choice(probabilities: Floats) -> NDArray[np.int64]:
    """The more probable of the two names, 0 for A and 1 for B, (n,); A in a tie."""
    return answers(np.asarray(probabilities, dtype=np.float64)[:, : Label.NEITHER])


def pro_and_anti(items: Items, where: Bools) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pro- and anti-stereotypical rows, (pairs,) each in the same order, of the pairs among the rows ``where``."""
    pair = items.facts["pair"]
    pro, anti = (
        np.flatnonzero(where & (items.facts["side"] == side) & (pair >= 0)) for side in ("pro", "anti")
    )
    return pro[np.argsort(pair[pro])], anti[np.argsort(pair[anti])]
