"""Scores of finished work: of a run, of a stack of files, of a resolver's clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapstack.corpus import Corpus
from gapstack.scoring import (
    Interval,
    Scores,
    bootstrap,
    contributions,
    degenerate_scores,
    score,
    score_decisions,
)

if TYPE_CHECKING:
    from gapstack.resolvers.clusters import Clusters, Heads
    from gapstack.runs import Run
    from gapstack.runs.file_stack import FileStack


@dataclass(frozen=True)
class PartScores:
    """Scores on one part of a run's rows, by system; ``degenerate`` are those of constant predictions."""

    name: str
    corpus: Corpus
    systems: Mapping[str, Scores]
    degenerate: Mapping[str, Scores]


def score_run(run: Run) -> tuple[PartScores, ...]:
    """Score the members and the stack of a run, out of fold and, if those rows have labels, held out."""
    from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD  # here, since clusters are scored without torch

    results = [*run.members, *([run.stack] if run.stack else [])]
    trained = {result.label: score(run.train, result.out_of_fold) for result in results}
    out_of_fold = PartScores(OUT_OF_FOLD, run.train, trained, degenerate_scores(run.train, run.train.labels))
    if not run.test.is_labelled:
        return (out_of_fold,)
    held = {result.label: score(run.test, result.test) for result in results}
    return out_of_fold, PartScores(HELD_OUT, run.test, held, degenerate_scores(run.test, run.train.labels))


@dataclass(frozen=True)
class StackScores:
    """Scores of a stack of files: of each file, of the nested stack, and the stack's intervals by metric."""

    stack: FileStack
    systems: Mapping[str, Scores]
    intervals: Mapping[str, Interval]


def score_stack(stack: FileStack) -> StackScores:
    """Score a stack of files and the files."""
    rows, nested = stack.rows, stack.nested.out_of_fold
    systems = {name: score(rows, p) for name, p in {**stack.members, "stack": nested}.items()}
    resampled = bootstrap(rows.groups, {"stack": contributions(rows, nested)})
    return StackScores(
        stack, systems, {metric: resampled.interval("stack", metric) for metric in ("logloss", "f1_overall")}
    )


def score_clusters(clusters: Clusters, rows: Corpus, heads: Heads | None = None) -> dict[str, Scores]:
    """Score a resolver's clusters on the labelled rows that they cover and on all; nothing for unlabelled rows.

    ``heads`` as in :meth:`~gapstack.resolvers.clusters.Clusters.decide`.
    """
    if any(example.label is None for example in rows):
        return {}
    covered = clusters.covers(rows)
    parts = {"all rows, FALSE where there are no clusters": rows}
    if 0 < covered.sum() < len(rows):
        parts = {"rows covered": rows.take(np.flatnonzero(covered)), **parts}
    return {name: score_decisions(part, clusters.decide(part, heads)) for name, part in parts.items()}
