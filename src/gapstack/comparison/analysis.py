"""Measures everything about a comparison."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.comparison.entries import ComparedEntry, entries_of, label_sets, read_entries
from gapstack.comparison.flips import counterfactual_flips
from gapstack.comparison.measurements import (
    RANKED,
    BlendContribution,
    Comparison,
    LabelErrors,
    Similarity,
)
from gapstack.comparison.strata import STRATA, names_and_ranks, rank_of_answer, strata
from gapstack.data import Corpus, Label
from gapstack.data.folds import make_folds
from gapstack.data.sources import data_folder
from gapstack.errors import DataError, GapstackError
from gapstack.evaluation import (
    Bootstrap,
    all_pairs,
    bootstrap,
    contributions,
    example_losses,
    few_pages_warning,
    gold_decisions,
    metrics_in,
)
from gapstack.evaluation.contribution import blend_game, contribution
from gapstack.evaluation.diagnostics import (
    DIFFICULTIES,
    correlations,
    difficulty,
    disagreement,
    double_fault,
    label_quality,
    likely_errors,
    reliability,
    risk_coverage,
)
from gapstack.evaluation.resampling import REPLICATES, mean_intervals
from gapstack.evaluation.reweighting import balancing_weights
from gapstack.evaluation.slices import slice_scores
from gapstack.types import Bools, Floats

_log = logging.getLogger(__name__)

_MOST_NAMES, _FARTHEST = 15, 6  # rarer values are joined, or single rows would carry large weights
_FOLDS = 5


def compare(
    systems: Mapping[str, ArrayLike] | Sequence[str | Path],
    corpus: Corpus | None = None,
    *,
    labels: str = "official",
    data: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems on the same labelled rows: scores with intervals, paired tests, slices, contributions.

    Raises DataError if a source is unknown, arrays are not probabilities, or there is neither a corpus nor a run;
    MismatchError if a run has no predictions for these rows.

    Parameters
    ----------
    systems : mapping of name to (n, 3) array, or sequence of str or Path
        Probabilities in the order of ``corpus``; or submission CSVs and scorer TSVs, runs by name or folder, and
        ``RUN:MEMBER``.
    corpus : Corpus, optional
        The rows, with official labels; by default those that the first run held out.
    labels : str
        Label set of everything except ``scores``, which come under each available label set.
    data : str, optional
        Folder to search for data first.
    **options
        ``replicates``, ``seed`` and ``flips`` of :func:`measure`.
    """
    if isinstance(systems, str | Path):
        systems = [systems]
    if isinstance(systems, Mapping):
        if corpus is None:
            raise DataError("arrays of probabilities have no rows", expected="the labelled corpus too")
        rows, entries = corpus, entries_of(systems, corpus)
    else:
        rows, entries = read_entries([str(source) for source in systems], corpus, data=data)
    folder = data_folder(data)
    return measure(label_sets(rows, labels, folder), entries, data=folder, **options)


def measure(
    corpora: Sequence[Corpus],
    entries: Sequence[ComparedEntry],
    *,
    replicates: int = REPLICATES,
    seed: int = 2019,
    flips: int = 0,
    data: Path | None = None,
) -> Comparison:
    """Measure everything about entries.

    Raises DataError if there are no entries, or the label sets are of different rows.

    Parameters
    ----------
    corpora : sequence of Corpus
        The same rows under one or several label sets; the first is the main one.
    entries : sequence of ComparedEntry
    replicates, seed : int
        Of all resampling.
    flips : int
        Number of rows of which the runs' members predict counterfactuals.
    data : Path, optional
        Folder to search first for the first names that counterfactuals exchange.
    """
    rows = corpora[0]
    if not entries:
        raise DataError("there is nothing to compare", expected="at least one entry")
    if any(other.fingerprint != rows.fingerprint for other in corpora):
        raise DataError("the label sets are of different rows", expected="one corpus under several labels")
    _log.info("scores of %d members on %d label sets", len(entries), len(corpora))
    tables = {
        corpus.label_set: {e.name: contributions(corpus, e.answers) for e in entries} for corpus in corpora
    }
    scores = {
        name: bootstrap(rows.groups, members, replicates=replicates, seed=seed)
        for name, members in tables.items()
    }
    order = _order(scores[rows.label_set])
    ordered = tuple(entries[place] for place in order)
    scores = {name: each.reordered(order) for name, each in scores.items()}
    members = {entry.name: tables[rows.label_set][entry.name] for entry in ordered}
    _log.info("pairs")
    pairs = all_pairs(
        rows.groups, members, scores[rows.label_set], metrics_in("pairs"), replicates=replicates, seed=seed
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
    notes = [warning] if (warning := few_pages_warning(rows.groups)) else []
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


def _order(scores: Bootstrap) -> list[int]:
    """The best first: by logloss, then those without one by F1."""
    loss, f1 = scores.points["logloss"], scores.points["f1_overall"]
    return sorted(
        range(len(loss)), key=lambda place: (np.isnan(loss[place]), np.nan_to_num(loss[place]), -f1[place])
    )


def _right(rows: Corpus, entry: ComparedEntry) -> Bools:
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


def _similarity(rows: Corpus, entries: Sequence[ComparedEntry], right: Bools) -> Similarity:
    soft = _with_probabilities(entries)
    missing = np.full(len(rows), np.nan)
    losses = [example_losses(rows.labels, soft[e.name]) if e.name in soft else missing for e in entries]
    decided = np.stack([entry.answers.decided & entry.answers.answered for entry in entries])
    return Similarity(correlations(np.stack(losses)), disagreement(decided), double_fault(right))


def _with_probabilities(entries: Sequence[ComparedEntry]) -> dict[str, Floats]:
    return {e.name: e.answers.probabilities for e in entries if e.answers.probabilities is not None}


def _contribution(
    rows: Corpus, entries: Sequence[ComparedEntry], replicates: int, seed: int
) -> BlendContribution | None:
    members = _with_probabilities(entries)
    if len(members) < 2:
        return None
    folds = make_folds(rows, _FOLDS, seed=seed).assignment
    by_row = contribution(
        blend_game(np.stack(list(members.values())), rows.labels, folds), len(members), seed=seed
    )
    left_out, shapley = (
        mean_intervals(rows.groups, each.T, replicates=replicates, seed=seed)
        for each in (by_row.left_out, by_row.shapley)
    )
    return BlendContribution(
        tuple(members),
        left_out,
        shapley,
        by_row.error,
        by_row.draws,
        float(by_row.prior.mean()),
        float(by_row.full.mean()),
    )


def _label_errors(corpora: Sequence[Corpus], entries: Sequence[ComparedEntry]) -> LabelErrors | None:
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
        precision = float(corrected[np.argsort(quality, kind="stable")[:RANKED]].mean())
        from scipy.stats import hypergeom  # slow to import

        drawn = min(RANKED, len(rows))
        p = float(hypergeom.sf(round(precision * drawn) - 1, len(rows), corrected.sum(), drawn))
    return LabelErrors(quality, likely_errors(rows.labels, mean), corrected, precision, p)
