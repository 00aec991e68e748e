"""All measurements of a comparison."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gapstack.comparison.entries import ComparedEntry, entries_of, label_sets, read_entries
from gapstack.comparison.flips import Flips, counterfactual_flips
from gapstack.comparison.strata import STRATA, difficulty_weights, strata
from gapstack.data import Corpus, Label
from gapstack.data.folds import make_folds
from gapstack.data.sources import searches_data
from gapstack.display.render import Section, Table, metric_column
from gapstack.errors import DataError, GapstackError, counted
from gapstack.evaluation import (
    METRICS,
    Bootstrap,
    Difference,
    all_pairs,
    bootstrap,
    contributions,
    example_losses,
    few_pages_warning,
    gold_decisions,
    metrics_in,
)
from gapstack.evaluation.contribution import blend_losses, contribution
from gapstack.evaluation.diagnostics import (
    DIFFICULTIES,
    correlations,
    difficulty,
    disagreement,
    double_fault,
    label_quality,
)
from gapstack.evaluation.resampling import REPLICATES, PairwiseTests, mean_intervals
from gapstack.evaluation.scores import Slice, score_predictions, slice_scores
from gapstack.types import Bools, Floats, Labels, Strings

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)

_MOST = (15, 6)  # maxima of the number of names and of the rank of the right one; larger values are capped
_FOLDS = 5
_REPR_NAMES = 8


@dataclass(frozen=True, eq=False)
class BlendContribution:
    """Contribution of each member to the blend of all.

    ``left_out`` (m, 3) is the rise of the logloss without the member: value, low and high. ``prior`` and ``full`` are
    the loglosses of the class prior and of the blend.
    """

    members: tuple[str, ...]
    left_out: Floats
    prior: float
    full: float


class Verdict(NamedTuple):
    """A member compared with the best, by logloss, or by F1 if one of the two has no probabilities."""

    metric: str
    difference: Difference  # its p-value is corrected for all pairs (Holm)
    outcome: str  # "better" or "worse" at 5%, or "not significant"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """All measurements of m members on n rows; member axes are in the order of ``entries``, the best first.

    ``scores`` and ``labels`` are by label set; everything else is under the label set of ``rows``. Slices are the
    values of ``dimensions``, (n,) each, the first of which is all rows. ``balanced`` are the scores of rows reweighted
    by ``weights`` (n,), so that both genders have the same numbers of names and ranks of the right one. ``similarity``
    has (m, m) arrays: ``correlation`` of losses (NaN for decisions), ``disagreement`` and ``double_fault``. ``right``
    (m, n) is True for right predictions; ``quality`` (n,) is the mean probability of each label. Measurements that
    could not be made are None, with the reason in ``notes``.
    """

    rows: Corpus
    entries: tuple[ComparedEntry, ...]
    scores: dict[str, Bootstrap]
    labels: dict[str, Labels]
    pairs: dict[str, PairwiseTests]
    dimensions: dict[str, Strings]
    slices: list[Slice]
    balanced: Bootstrap | None
    weights: Floats | None
    similarity: dict[str, Floats]
    right: Bools
    contribution: BlendContribution | None
    quality: Floats | None
    flips: Flips | None
    notes: tuple[str, ...]
    replicates: int
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries, the best first."""
        return tuple(entry.name for entry in self.entries)

    @property
    def main(self) -> Bootstrap:
        """Scores under the label set of ``rows``."""
        return self.scores[self.rows.label_set]

    @property
    def ranking(self) -> str:
        """Metric by which the first entry is the best: logloss, or F1 if it has no probabilities."""
        return next(name for name in metrics_in("ranking") if not np.isnan(self.main.points(name)[0]))

    def against_best(self) -> list[Verdict]:
        """Return the verdict on each system except the best, which is the first."""
        verdicts = []
        for place in range(1, len(self.names)):
            metric = next(
                name
                for name in metrics_in("ranking")
                if not np.isnan(self.pairs[name].difference[place, 0, 0])
            )
            pairs = self.pairs[metric]
            outcome = {1: "better", -1: "worse", 0: "not significant"}[int(pairs.wins()[place, 0])]
            verdicts.append(Verdict(metric, pairs.compared(place, 0), outcome))
        return verdicts

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each system: metrics and 95% intervals (``logloss``, ``logloss_low``)."""
        frame = self._scores_table().to_pandas().drop(columns="section").set_index("name")
        return frame.rename_axis(None)

    def __repr__(self) -> str:
        """At most ten lines: the rows, the best systems with their logloss and F1, and how many there are."""
        title, shown = self._scores_table().title, self.names[:_REPR_NAMES]
        columns = [metric_column(metric) for metric in metrics_in("ranking")]
        lines = [
            ", ".join([name, *(f"{c.title} {c.show(self.main.interval(name, c.key))}" for c in columns)])
            for name in shown
        ]
        more = [f"and {len(self.names) - len(shown)} more"] if len(self.names) > len(shown) else []
        return "\n".join([f"Comparison on {title}", *lines, *more])

    def _repr_html_(self) -> str:
        return self._scores_table()._repr_html_()

    def _scores_table(self) -> Table:
        """Scores of all entries with their 95% intervals, the best first."""
        rows = [
            (name, {metric: self.main.interval(name, metric) for metric in METRICS}) for name in self.names
        ]
        title = (
            f"{self.rows.name}, {counted(len(self.rows), 'row')}, {self.rows.label_set} labels; 95% intervals"
        )
        return Table([metric_column(metric) for metric in METRICS], [Section("", rows)], title)


@searches_data
def compare(
    systems: Mapping[str, ArrayLike] | Sequence[str | Path],
    corpus: Corpus | None = None,
    *,
    labels: str = "official",
    data: str | None = None,
    replicates: int = REPLICATES,
    seed: int = 2019,
    flips: int = 0,
) -> Comparison:
    """Compare systems on the same labelled rows: scores with intervals, paired tests, slices, contributions.

    Parameters
    ----------
    systems : mapping of name to (n, 3) array, or sequence of str or Path
        Probabilities in the order of ``corpus``; or submission CSVs, scorer TSVs, runs by name or folder, and
        ``RUN:MEMBER``.
    corpus : Corpus, optional
        The rows, with official labels; by default those that the first run held out, or those of GAP that the ids of
        the first file name.
    labels : str
        Label set of everything except ``scores``, which are computed for each available label set.
    data : str, optional
        Folder to search for data first.
    replicates, seed : int
        Number of resamples of pages, and their seed.
    flips : int
        Number of rows for counterfactual flips of the runs' members.

    Returns
    -------
    Comparison
        Systems in order of logloss, the best first.

    Raises
    ------
    DataError
        If a source is unknown, an array has no probabilities, or neither a corpus nor a run is given.
    MismatchError
        If a run has no predictions for these rows.
    """
    if isinstance(systems, str | Path):
        systems = [systems]
    if isinstance(systems, Mapping):
        if corpus is None:
            raise DataError(
                "arrays of probabilities have no rows", expected="the labelled rows as corpus=CORPUS"
            )
        rows, entries = corpus, entries_of(systems, corpus)
    else:
        rows, entries = read_entries([str(source) for source in systems], corpus)
    corpora = label_sets(rows, labels)
    return measure(corpora, entries, replicates=replicates, seed=seed, flips=flips)


def measure(
    corpora: Sequence[Corpus],
    entries: Sequence[ComparedEntry],
    *,
    replicates: int = REPLICATES,
    seed: int = 2019,
    flips: int = 0,
) -> Comparison:
    """Make all measurements of entries; ``corpora`` are the same rows under several label sets, the main one first.

    Raises DataError if there is no entry, or if the corpora have different rows.
    """
    rows = corpora[0]
    if not entries:
        raise DataError("there is nothing to compare", expected="at least one entry")
    if any(other.fingerprint != rows.fingerprint for other in corpora):
        raise DataError("the label sets are of different rows", expected="one corpus under several labels")
    entries = sorted(entries, key=lambda entry: _rank(rows, entry))
    resampling: dict[str, Any] = {"replicates": replicates, "seed": seed}
    _log.info("scores of %s on %s", counted(len(entries), "system"), counted(len(corpora), "label set"))
    tables = {
        corpus.label_set: {e.name: contributions(corpus, e.answers) for e in entries} for corpus in corpora
    }
    scores = {name: bootstrap(rows.groups, each, **resampling) for name, each in tables.items()}
    members = tables[rows.label_set]
    _log.info("pairs")
    pairs = all_pairs(rows.groups, members, scores[rows.label_set], metrics_in("pairs"), **resampling)
    _log.info("slices")
    given = np.stack([entry.answers.decided for entry in entries])
    answered = np.stack([entry.answers.answered for entry in entries])
    right = ((given == gold_decisions(rows)) & answered).all(axis=-1)
    dimensions = {
        "rows": np.full(len(rows), "all"),
        **strata(rows),
        "label": np.array([Label(label).name for label in rows.labels]),
        "difficulty": difficulty(right),
    }
    order = {name: stratum.values for name, stratum in STRATA.items()} | {"difficulty": DIFFICULTIES}
    slices = slice_scores(rows.groups, rows.genders, members, dimensions, order=order, **resampling)
    _log.info("weights that balance the difficulty of both genders")
    notes = [warning] if (warning := few_pages_warning(rows.groups)) else []
    weights = balanced = shares = changed = None
    try:
        weights = difficulty_weights(rows, _MOST)
        weighted = {name: each * weights[:, None] for name, each in members.items()}
        balanced = bootstrap(rows.groups, weighted, **resampling)
    except DataError as problem:
        notes.append(f"no weights balance the difficulty of both genders: {problem}")
    _log.info("contributions")
    soft = {e.name: e.answers.probabilities for e in entries if e.answers.probabilities is not None}
    try:
        shares = _contribution(rows, soft, replicates, seed) if len(soft) > 1 else None
    except DataError as problem:
        notes.append(f"contributions were not measured: {problem}")
    if flips:
        try:
            changed = counterfactual_flips(rows, entries, flips, **resampling)
        except GapstackError as problem:
            notes.append(f"no counterfactuals: {problem}")
    missing = np.full(len(rows), np.nan)
    losses = [example_losses(rows.labels, soft[e.name]) if e.name in soft else missing for e in entries]
    return Comparison(
        rows=rows,
        entries=tuple(entries),
        scores=scores,
        labels={corpus.label_set: corpus.labels for corpus in corpora},
        pairs=pairs,
        dimensions=dimensions,
        slices=slices,
        balanced=balanced,
        weights=weights,
        similarity={
            "correlation": correlations(np.stack(losses)),
            "disagreement": disagreement(given & answered),
            "double_fault": double_fault(right),
        },
        right=right,
        contribution=shares,
        quality=label_quality(rows.labels, np.mean(list(soft.values()), axis=0)) if soft else None,
        flips=changed,
        notes=tuple(notes),
        replicates=replicates,
        seed=seed,
    )


def _rank(rows: Corpus, entry: ComparedEntry) -> tuple[float, ...]:
    """Sort key: logloss, lowest first; entries without probabilities follow by F1, highest first."""
    scores = score_predictions(rows, entry.answers)
    values = ((METRICS[name].better, scores.value(name)) for name in metrics_in("ranking"))
    return tuple(
        np.inf if value is None else value if better == "low" else -value for better, value in values
    )


def _contribution(rows: Corpus, soft: Mapping[str, Floats], replicates: int, seed: int) -> BlendContribution:
    folds = make_folds(rows, _FOLDS, seed=seed).assignment
    losses = contribution(blend_losses(np.stack(list(soft.values())), rows.labels, folds), len(soft))
    left_out = mean_intervals(rows.groups, losses.left_out.T, replicates=replicates, seed=seed)
    return BlendContribution(tuple(soft), left_out, float(losses.prior.mean()), float(losses.full.mean()))
