"""The measurements of a comparison, and the verdict on each member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gapstack.comparison.entries import ComparedEntry
from gapstack.comparison.flips import Flips
from gapstack.data import Corpus
from gapstack.display.render import Section, Table, metric_column
from gapstack.evaluation import METRICS, Bootstrap, Difference, PairwiseTests
from gapstack.evaluation.diagnostics import Reliability, RiskCoverage
from gapstack.evaluation.slices import Slice
from gapstack.types import Bools, Floats, Labels

if TYPE_CHECKING:
    import pandas as pd

RANKED = 100
"""Number of likely label errors whose precision is measured."""


@dataclass(frozen=True, eq=False)
class BlendContribution:
    """Contribution of each member with probabilities to their blend, in nats: (m, 3) value, low and high.

    ``left_out`` is the loss without the member, ``shapley`` its Shapley value; ``error`` is the standard error of the
    latter over ``draws`` (0 draws: exact). ``prior`` and ``full`` are the losses of no member and of all.
    """

    members: tuple[str, ...]
    left_out: Floats
    shapley: Floats
    error: float
    draws: int
    prior: float
    full: float


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity of members, (m, m) each; the correlation of losses is NaN for decisions."""

    correlation: Floats
    disagreement: Floats
    double_fault: Floats


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Likely label errors: ``quality`` (n,) of each label, and ``rows`` that confident learning flags, worst first.

    ``corrected`` (n,) marks the rows that another label set changes; ``precision`` is their share among the
    :data:`RANKED` labels of lowest quality, ``p`` its hypergeometric p-value. None without official labels and others.
    """

    quality: Floats
    rows: NDArray[np.int64]
    corrected: Bools | None
    precision: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A member against the best: its score minus the best's, with a p-value corrected for all pairs (Holm).

    The metric is logloss, or F1 where one of the two has no probabilities; ``outcome`` is ``better`` or ``worse`` at
    5%, else ``cannot be told``.
    """

    metric: str
    difference: Difference
    outcome: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """All measurements; member axes are in the order of ``entries``, the best first.

    Everything except ``scores`` and ``labels``, which are by label set, is under the label set of ``rows``. The slices
    are made by ``dimensions``, (n,) each; the first is all rows. ``balanced`` are scores of rows reweighted by
    ``weights`` (n,), so that the genders are equally difficult: in number of names and rank of the right one. ``right``
    is (m, n). What was not measured is None, with the reason in ``notes``.
    """

    rows: Corpus
    entries: tuple[ComparedEntry, ...]
    scores: dict[str, Bootstrap]
    labels: dict[str, Labels]
    pairs: dict[str, PairwiseTests]
    dimensions: dict[str, NDArray[np.str_]]
    slices: list[Slice]
    balanced: Bootstrap | None
    weights: Floats | None
    similarity: Similarity
    right: Bools
    reliability: dict[str, Reliability]
    risk_coverage: dict[str, RiskCoverage]
    contribution: BlendContribution | None
    label_errors: LabelErrors | None
    flips: Flips | None
    notes: tuple[str, ...]
    replicates: int
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries, in order."""
        return tuple(entry.name for entry in self.entries)

    @property
    def main(self) -> Bootstrap:
        """Scores under the label set of ``rows``."""
        return self.scores[self.rows.label_set]

    def against_best(self) -> tuple[Verdict | None, ...]:
        """The verdict on each member; None for the best itself, which is the first."""
        return (None, *(self._verdict(place) for place in range(1, len(self.names))))

    def _verdict(self, place: int) -> Verdict:
        metric = next(m for m in ("logloss", "f1_overall") if not np.isnan(self.pairs[m].value[place, 0]))
        pairs = self.pairs[metric]
        difference = Difference(
            *(float(each[place, 0]) for each in (pairs.value, pairs.low, pairs.high, pairs.p_holm))
        )
        better = (difference.value < 0) == (METRICS[metric].better == "low")
        outcome = "cannot be told" if not difference.p <= 0.05 else "better" if better else "worse"
        return Verdict(metric, difference, outcome)

    def to_pandas(self) -> pd.DataFrame:
        """A data frame, a row for each entry: every metric and its 95% interval (``logloss``, ``logloss_low``, ...)."""
        frame = self._scores_table().to_pandas().drop(columns="section").set_index("name")
        return frame.rename_axis(None)

    def _repr_html_(self) -> str:
        """Scores of all entries with their 95% intervals, the best first."""
        return self._scores_table()._repr_html_()

    def _scores_table(self) -> Table:
        rows = [
            (name, {metric: self.main.interval(name, metric) for metric in METRICS}) for name in self.names
        ]
        title = f"{self.rows.name}, {len(self.rows):,} rows, {self.rows.label_set} labels; 95% intervals"
        return Table([metric_column(metric) for metric in METRICS], [Section("", rows)], title)
