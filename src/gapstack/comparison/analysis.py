"""Everything that a comparison asks of the scoring room, in one record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.comparison.entries import Entry
from gapstack.comparison.flips import Flips, counterfactual_flips
from gapstack.comparison.strata import STRATA, names_and_ranks, rank_of_answer, strata
from gapstack.corpus import Corpus, Label
from gapstack.corpus.folds import make_folds
from gapstack.errors import DataError, GapstackError
from gapstack.scoring import (
    Bootstrap,
    Pairs,
    all_pairs,
    bootstrap,
    bootstrap_label_sets,
    contributions,
    contributions_of_decisions,
    example_losses,
    gold_decisions,
)
from gapstack.scoring.agreement import DIFFICULTIES, correlations, difficulty, disagreement, double_fault
from gapstack.scoring.contribution import Contributions, blend_game, contribution
from gapstack.scoring.label_errors import label_quality, likely_errors, precision_at
from gapstack.scoring.metrics import Bools, Floats, Labels
from gapstack.scoring.resampling import REPLICATES, mean_intervals
from gapstack.scoring.reweighting import balancing_weights
from gapstack.scoring.slices import Slice, slice_scores

_log = logging.getLogger(__name__)

PAIR_METRICS = ("logloss", "f1_overall", "accuracy")
"""Metrics under which all pairs are tested."""

_MOST_NAMES, _FARTHEST = 15, 6  # rarer values are joined, or single rows would carry large weights
_FOLDS = 5
RANKED = 100
"""How many likely label errors are looked at."""


@dataclass(frozen=True, eq=False)
class Added:
    """What each member with probabilities adds: (m, 3) value, low and high in nats, by leaving out and by Shapley."""

    members: tuple[str, ...]
    left_out: Floats
    shapley: Floats
    error: float
    draws: int
    nobody: float
    everybody: float


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike members are, (m, m) each; the correlation of losses is NaN for decisions."""

    correlation: Floats
    disagreement: Floats
    double_fault: Floats


@dataclass(frozen=True, eq=False)
class Suspects:
    """Rows whose label is likely wrong: (n,) trust in each label, and the rows of the confident joint, worst first.

    ``corrected`` (n,) says which rows some other label set changes; ``precision`` is their share among the 100 that
    are trusted least. None where official labels were not compared with others.
    """

    quality: Floats
    found: NDArray[np.int64]
    corrected: Bools | None
    precision: float | None


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
        F1 and bias when the genders are alike in number of names and rank of the right one; ``weights`` (n,).
        None where no weights make them so, which ``notes`` then say.
    right : (m, n) bool
    added : Added, optional
        None with fewer than two members that give probabilities, or too few rows for folds.
    flips : Flips, optional
        None where counterfactuals were not asked for, or nobody could be asked.
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
    likeness: Likeness
    right: Bools
    added: Added | None
    suspects: Suspects | None
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


def compare(
    corpora: Sequence[Corpus],
    entries: Sequence[Entry],
    *,
    replicates: int = REPLICATES,
    seed: int = 2019,
    flips: int = 0,
    data: Path | None = None,
) -> Comparison:
    """Measure everything.

    Parameters
    ----------
    corpora : sequence of Corpus
        The same rows under one label set or several; the first is the main one.
    entries : sequence of Entry
    replicates, seed : int
        Of all resampling.
    flips : int
        Of how many rows the runs' members are asked counterfactuals.
    data : Path, optional
        Where to look for first names first, which counterfactuals exchange.

    Raises
    ------
    DataError
        If there are no entries, or label sets of other rows.
    """
    rows = corpora[0]
    if not entries:
        raise DataError("there is nothing to compare", expected="at least one entry")
    if any(other.fingerprint != rows.fingerprint for other in corpora):
        raise DataError("the label sets are of different rows", expected="one corpus under several labels")
    _log.info("scores of %d members on %d label sets", len(entries), len(corpora))
    tables = {corpus.label_set: {e.name: _contributions(corpus, e) for e in entries} for corpus in corpora}
    scores = bootstrap_label_sets(rows.groups, tables, replicates=replicates, seed=seed)
    order = _order(scores[rows.label_set])
    ordered = tuple(entries[place] for place in order)
    scores = {name: _reordered(made, order) for name, made in scores.items()}
    members = {entry.name: tables[rows.label_set][entry.name] for entry in ordered}
    _log.info("pairs")
    pairs = all_pairs(
        rows.groups, members, scores[rows.label_set], PAIR_METRICS, replicates=replicates, seed=seed
    )
    _log.info("slices")
    right = np.stack([_right(rows, entry) for entry in ordered])
    dimensions = _dimensions(rows, right)
    slices = slice_scores(
        rows.groups,
        rows.genders,
        members,
        dimensions,
        order={name: stratum.values for name, stratum in STRATA.items()} | {"difficulty": DIFFICULTIES},
        replicates=replicates,
        seed=seed,
    )
    _log.info("weights that balance the difficulty of both genders")
    notes: list[str] = []
    weights = balanced = added = None
    try:
        weights = _weights(rows)
        weighted = {name: each * weights[:, None] for name, each in members.items()}
        balanced = bootstrap(rows.groups, weighted, replicates=replicates, seed=seed)
    except DataError as problem:
        notes.append(f"the genders could not be made alike: {problem}")
    _log.info("contributions")
    try:
        added = _added(rows, ordered, replicates, seed)
    except DataError as problem:
        notes.append(f"what each member adds was not measured: {problem}")
    turned = None
    if flips:
        try:
            turned = counterfactual_flips(rows, ordered, flips, data=data, replicates=replicates, seed=seed)
        except GapstackError as problem:
            notes.append(f"no counterfactuals: {problem}")
    return Comparison(
        rows=rows,
        entries=ordered,
        scores=scores,
        labels={corpus.label_set: corpus.labels for corpus in corpora},
        pairs=pairs,
        dimensions=dimensions,
        slices=slices,
        balanced=balanced,
        weights=weights,
        likeness=_likeness(rows, ordered, right),
        right=right,
        added=added,
        suspects=_suspects(corpora, ordered),
        flips=turned,
        notes=tuple(notes),
        replicates=replicates,
        seed=seed,
    )


def _contributions(corpus: Corpus, entry: Entry) -> Floats:
    found = entry.answers
    if found.probabilities is None:
        return contributions_of_decisions(corpus, found.decided, found.answered)
    return contributions(corpus, found.probabilities)


def _order(made: Bootstrap) -> list[int]:
    """The best first: by logloss, then those without one by F1."""
    loss, f1 = made.points["logloss"], made.points["f1_overall"]
    return sorted(
        range(len(loss)), key=lambda place: (np.isnan(loss[place]), np.nan_to_num(loss[place]), -f1[place])
    )


def _reordered(made: Bootstrap, order: list[int]) -> Bootstrap:
    return Bootstrap(
        tuple(made.members[place] for place in order),
        {metric: points[order] for metric, points in made.points.items()},
        {metric: samples[:, order] for metric, samples in made.samples.items()},
    )


def _right(rows: Corpus, entry: Entry) -> Bools:
    """Whether both decisions are right, (n,)."""
    found = entry.answers
    right: Bools = ((found.decided == gold_decisions(rows)) & found.answered).all(axis=1)
    return right


def _dimensions(rows: Corpus, right: Bools) -> dict[str, NDArray[np.str_]]:
    return {
        "rows": np.full(len(rows), "all"),
        **strata(rows),
        "label": np.array([Label(label).name for label in rows.labels]),
        "difficulty": difficulty(right),
    }


def _weights(rows: Corpus) -> Floats:
    counts, ranks = names_and_ranks(rows)
    attributes = {
        "names": np.minimum(counts, _MOST_NAMES),
        "rank": np.minimum(rank_of_answer(ranks, rows.labels), _FARTHEST),
    }
    return balancing_weights(rows.genders, attributes, rows.labels != Label.NEITHER)


def _likeness(rows: Corpus, entries: Sequence[Entry], right: Bools) -> Likeness:
    losses = np.stack(
        [
            np.full(len(rows), np.nan)
            if entry.answers.probabilities is None
            else example_losses(rows.labels, entry.answers.probabilities)
            for entry in entries
        ]
    )
    decided = np.stack([entry.answers.decided & entry.answers.answered for entry in entries])
    return Likeness(correlations(losses), disagreement(decided), double_fault(right))


def _with_probabilities(entries: Sequence[Entry]) -> dict[str, Floats]:
    return {e.name: e.answers.probabilities for e in entries if e.answers.probabilities is not None}


def _added(rows: Corpus, entries: Sequence[Entry], replicates: int, seed: int) -> Added | None:
    members = _with_probabilities(entries)
    if len(members) < 2:
        return None
    folds = make_folds(rows, _FOLDS, seed=seed).assignment
    found: Contributions = contribution(
        blend_game(np.stack(list(members.values())), rows.labels, folds), len(members), seed=seed
    )
    left_out, shapley = (
        mean_intervals(rows.groups, each.T, replicates=replicates, seed=seed)
        for each in (found.left_out, found.shapley)
    )
    return Added(
        tuple(members),
        left_out,
        shapley,
        found.error,
        found.draws,
        float(found.nobody.mean()),
        float(found.everybody.mean()),
    )


def _suspects(corpora: Sequence[Corpus], entries: Sequence[Entry]) -> Suspects | None:
    """By the mean of all members' probabilities: what one of them got by chance, the others did not."""
    rows, *others = corpora
    members = _with_probabilities(entries)
    if not members or len(np.unique(rows.labels)) < len(Label):
        return None
    mean = np.mean(list(members.values()), axis=0)
    quality = label_quality(rows.labels, mean)
    corrected = precision = None
    if rows.label_set == "official" and others:
        corrected = np.any([other.labels != rows.labels for other in others], axis=0)
        ranked = [rows.ids[row] for row in np.argsort(quality, kind="stable")]
        wrong = {rows.ids[row] for row in np.flatnonzero(corrected)}
        precision = precision_at(RANKED, ranked, wrong)
    return Suspects(quality, likely_errors(rows.labels, mean), corrected, precision)
