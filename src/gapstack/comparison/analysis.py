"""All measures of a comparison, in one record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gapstack.comparison.entries import Entry
from gapstack.comparison.flips import counterfactual_flips
from gapstack.comparison.measurements import Comparison, Contribution, LabelErrors, Similarity
from gapstack.comparison.strata import STRATA, names_and_ranks, rank_of_answer, strata
from gapstack.corpus import Corpus, Label
from gapstack.corpus.folds import make_folds
from gapstack.errors import DataError, GapstackError
from gapstack.scoring import (
    Bootstrap,
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
from gapstack.scoring.reliability import reliability
from gapstack.scoring.resampling import REPLICATES, mean_intervals
from gapstack.scoring.reweighting import balancing_weights
from gapstack.scoring.risk_coverage import risk_coverage
from gapstack.scoring.slices import slice_scores
from gapstack.types import Bools, Floats

if TYPE_CHECKING:
    pass

_log = logging.getLogger(__name__)

PAIR_METRICS = ("logloss", "f1_overall", "accuracy")
"""Metrics under which all pairs are tested."""

_MOST_NAMES, _FARTHEST = 15, 6  # rarer values are joined, or single rows would carry large weights
_FOLDS = 5
RANKED = 100
"""Number of likely label errors whose precision is measured."""


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
        Number of rows of which the runs' members predict counterfactuals.
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
    scores = {name: _reordered(each, order) for name, each in scores.items()}
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
    weights = balanced = shares = None
    try:
        weights = _weights(rows)
        weighted = {name: each * weights[:, None] for name, each in members.items()}
        balanced = bootstrap(rows.groups, weighted, replicates=replicates, seed=seed)
    except DataError as problem:
        notes.append(f"no weights balance the difficulty of both genders: {problem}")
    _log.info("contributions")
    try:
        shares = _contribution(rows, ordered, replicates, seed)
    except DataError as problem:
        notes.append(f"contributions were not measured: {problem}")
    changed = None
    if flips:
        try:
            changed = counterfactual_flips(rows, ordered, flips, data=data, replicates=replicates, seed=seed)
        except GapstackError as problem:
            notes.append(f"no counterfactuals: {problem}")
    soft = _with_probabilities(ordered)
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
        similarity=_similarity(rows, ordered, right),
        right=right,
        reliability={name: reliability(rows.labels, p) for name, p in soft.items()},
        risk_coverage={name: risk_coverage(rows.labels, p) for name, p in soft.items()},
        contribution=shares,
        label_errors=_label_errors(corpora, ordered),
        flips=changed,
        notes=tuple(notes),
        replicates=replicates,
        seed=seed,
    )


def _contributions(corpus: Corpus, entry: Entry) -> Floats:
    answers = entry.answers
    if answers.probabilities is None:
        return contributions_of_decisions(corpus, answers.decided, answers.answered)
    return contributions(corpus, answers.probabilities)


def _order(scores: Bootstrap) -> list[int]:
    """The best first: by logloss, then those without one by F1."""
    loss, f1 = scores.points["logloss"], scores.points["f1_overall"]
    return sorted(
        range(len(loss)), key=lambda place: (np.isnan(loss[place]), np.nan_to_num(loss[place]), -f1[place])
    )


def _reordered(scores: Bootstrap, order: list[int]) -> Bootstrap:
    return Bootstrap(
        tuple(scores.members[place] for place in order),
        {metric: points[order] for metric, points in scores.points.items()},
        {metric: samples[:, order] for metric, samples in scores.samples.items()},
    )


def _right(rows: Corpus, entry: Entry) -> Bools:
    """Whether both decisions are right, (n,)."""
    answers = entry.answers
    right: Bools = ((answers.decided == gold_decisions(rows)) & answers.answered).all(axis=1)
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


def _similarity(rows: Corpus, entries: Sequence[Entry], right: Bools) -> Similarity:
    losses = np.stack(
        [
            np.full(len(rows), np.nan)
            if entry.answers.probabilities is None
            else example_losses(rows.labels, entry.answers.probabilities)
            for entry in entries
        ]
    )
    decided = np.stack([entry.answers.decided & entry.answers.answered for entry in entries])
    return Similarity(correlations(losses), disagreement(decided), double_fault(right))


def _with_probabilities(entries: Sequence[Entry]) -> dict[str, Floats]:
    return {e.name: e.answers.probabilities for e in entries if e.answers.probabilities is not None}


def _contribution(rows: Corpus, entries: Sequence[Entry], replicates: int, seed: int) -> Contribution | None:
    members = _with_probabilities(entries)
    if len(members) < 2:
        return None
    folds = make_folds(rows, _FOLDS, seed=seed).assignment
    by_row: Contributions = contribution(
        blend_game(np.stack(list(members.values())), rows.labels, folds), len(members), seed=seed
    )
    left_out, shapley = (
        mean_intervals(rows.groups, each.T, replicates=replicates, seed=seed)
        for each in (by_row.left_out, by_row.shapley)
    )
    return Contribution(
        tuple(members),
        left_out,
        shapley,
        by_row.error,
        by_row.draws,
        float(by_row.prior.mean()),
        float(by_row.full.mean()),
    )


def _label_errors(corpora: Sequence[Corpus], entries: Sequence[Entry]) -> LabelErrors | None:
    """From the mean of all members' probabilities, in which the chance hits of one weigh less."""
    rows, *others = corpora
    members = _with_probabilities(entries)
    if not members or len(np.unique(rows.labels)) < len(Label):
        return None
    mean = np.mean(list(members.values()), axis=0)
    quality = label_quality(rows.labels, mean)
    corrected = precision = p = None
    if rows.label_set == "official" and others:
        corrected = np.any([other.labels != rows.labels for other in others], axis=0)
        ranked = [rows.ids[row] for row in np.argsort(quality, kind="stable")]
        wrong = {rows.ids[row] for row in np.flatnonzero(corrected)}
        precision = precision_at(RANKED, ranked, wrong)
        from scipy.stats import hypergeom  # slow to import

        drawn = min(RANKED, len(rows))
        p = float(hypergeom.sf(round(precision * drawn) - 1, len(rows), len(wrong), drawn))
    return LabelErrors(quality, likely_errors(rows.labels, mean), corrected, precision, p)
