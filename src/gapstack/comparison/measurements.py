"""What a comparison measured: one record, and the records of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gapstack.comparison.entries import Entry
from gapstack.comparison.flips import Flips
from gapstack.corpus import Corpus, html
from gapstack.scoring import (
    METRICS,
    Bootstrap,
    Pairs,
)
from gapstack.scoring.reliability import Reliability
from gapstack.scoring.risk_coverage import RiskCoverage
from gapstack.scoring.slices import Slice
from gapstack.types import Bools, Floats, Labels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Contribution:
    """Contribution of each member with probabilities to their blend, in nats: (m, 3) value, low and high.

    ``left_out`` is the loss without the member, ``shapley`` its Shapley value; ``error`` is the standard error of the
    latter over ``draws`` (0 draws: exact). ``prior`` and ``together`` are the losses of no member and of all.
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
    """Likely label errors: ``quality`` (n,) of each label, and ``rows`` off the joint's diagonal, worst first.

    ``corrected`` (n,) says which rows some other label set changes; ``precision`` is their share among the
    :data:`RANKED` labels of lowest quality, ``p`` the chance of as many or more among random ones (hypergeometric).
    None where official labels were not compared with others.
    """

    quality: Floats
    rows: NDArray[np.int64]
    corrected: Bools | None
    precision: float | None
    p: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that was measured; member axes are in the order of ``entries``, the best first.

    Attributes
    ----------
    rows : Corpus
        Under the first label set, which is the one that everything but ``scores`` uses.
    entries : tuple of Entry
    scores : dict of label set to Bootstrap
    labels : dict of label set to (n,) int64
    pairs : dict of metric to Pairs
    dimensions : dict of name to (n,) array
        What the slices are by.
    slices : list of Slice
        The first is all rows.
    balanced : Bootstrap, optional
        F1 and bias, rows reweighted by ``weights`` (n,) so that the genders are equally difficult: in number of names
        and rank of the right one. None where no weights balance them, with the reason in ``notes``.
    right : (m, n) bool
    reliability, risk_coverage : dict of str to Reliability and RiskCoverage
        Of the members with probabilities.
    contribution : Contribution, optional
        None with fewer than two members that give probabilities, or too few rows for folds.
    flips : Flips, optional
        None without counterfactuals, or without members that predict them.
    notes : tuple of str
        What was not measured, and why.
    """

    rows: Corpus
    entries: tuple[Entry, ...]
    scores: dict[str, Bootstrap]
    labels: dict[str, Labels]
    pairs: dict[str, Pairs]
    dimensions: dict[str, NDArray[np.str_]]
    slices: list[Slice]
    balanced: Bootstrap | None
    weights: Floats | None
    similarity: Similarity
    right: Bools
    reliability: dict[str, Reliability]
    risk_coverage: dict[str, RiskCoverage]
    contribution: Contribution | None
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

    def to_pandas(self) -> pd.DataFrame:
        """A data frame, a row for each entry: every metric and its 95% interval (``logloss``, ``logloss_low``, ...)."""
        import pandas as pd  # slow to import

        rows = [
            {
                f"{metric}{end}": value
                for metric in METRICS
                for end, value in zip(("", "_low", "_high"), self.main.interval(name, metric), strict=True)
            }
            for name in self.names
        ]
        return pd.DataFrame(rows, index=list(self.names))

    def _repr_html_(self) -> str:
        """Scores of all entries with their 95% intervals, the best first."""
        rows = []
        for name in self.names:
            intervals = ((metric, self.main.interval(name, metric.name)) for metric in METRICS.values())
            cells = ["-" if np.isnan(i.value) else _with_interval(*i, m.decimals) for m, i in intervals]
            rows.append([html.escape(name), *cells])
        caption = f"{self.rows.name}, {len(self.rows):,} rows, {self.rows.label_set} labels; 95% intervals"
        return html.table(["", *(metric.title for metric in METRICS.values())], rows, caption)


def _with_interval(value: float, low: float, high: float, decimals: int) -> str:
    return f"{value:.{decimals}f} <small>({low:.{decimals}f} to {high:.{decimals}f})</small>"
