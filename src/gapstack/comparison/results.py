"""Scores of a run, of all runs, of a stack of files and of a resolver's clusters, and the table of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gapstack.data import Corpus
from gapstack.display.render import Cell, Column, Section, Table, metric_column
from gapstack.display.report import scores_table
from gapstack.errors import GapstackError, counted
from gapstack.evaluation import (
    Interval,
    Scores,
    bootstrap,
    contributions,
    degenerate_scores,
    few_pages_warning,
    metrics_in,
    score,
    score_decisions,
)

if TYPE_CHECKING:
    from gapstack.data.clusters import Clusters, Heads
    from gapstack.ensemble.nested import NestedStack
    from gapstack.runs.stored_results import Run
    from gapstack.types import Probabilities


_REPLICATES = 2000


@dataclass(frozen=True)
class PartScores:
    """Scores on one part of a run's rows: of its systems (the stack, then by logloss) and of constant predictions."""

    name: str
    corpus: Corpus
    systems: Mapping[str, Scores]
    intervals: Mapping[str, Mapping[str, Interval]]
    degenerate: Mapping[str, Scores]

    @property
    def heading(self) -> str:
        """Name, number of rows and label set."""
        return f"{self.name}: {self.corpus.name}, {counted(len(self.corpus), 'row')}, {self.corpus.label_set} labels"

    @property
    def warning(self) -> str:
        """Warning to print with the intervals; "" if there are enough pages."""
        warning = few_pages_warning(self.corpus.groups)
        return f"Warning, {self.name}: {warning}." if warning else ""


def score_run(run: Run) -> tuple[PartScores, ...]:
    """Score the members and the stack of a run, out of fold and, if the held-out rows have labels, on those."""
    from gapstack.runs.stored_results import (  # here, since clusters are scored without torch
        HELD_OUT,
        OUT_OF_FOLD,
    )

    results = [*([run.stack] if run.stack else []), *run.stackers, *run.members]
    parts = [(OUT_OF_FOLD, run.train, {result.label: result.out_of_fold for result in results})]
    if run.test.is_labelled:
        parts.append((HELD_OUT, run.test, {result.label: result.test for result in results}))
    first = run.stack.label if run.stack else None
    scored = []
    for name, corpus, answers in parts:
        scores = {label: score(corpus, probabilities) for label, probabilities in answers.items()}
        systems = dict(sorted(scores.items(), key=lambda item: (item[0] != first, item[1].logloss)))
        intervals: dict[str, dict[str, Interval]] = {}
        if systems:
            tables = {label: contributions(corpus, answers[label]) for label in systems}
            resampled = bootstrap(corpus.groups, tables, replicates=_REPLICATES)
            for label in systems:
                intervals[label] = {m: resampled.interval(label, m) for m in metrics_in("summary")}
        degenerate = degenerate_scores(corpus, run.train.labels)
        scored.append(PartScores(name, corpus, systems, intervals, degenerate))
    return tuple(scored)


def run_table(run: Run, parts: Sequence[PartScores], *, parameters: bool = False) -> Table:
    """Final table of a run: stack, members, stackers and constant baselines, out of fold and held out."""
    extra: dict[str, dict[str, Cell]] = {}
    for result in [*run.members, *([run.stack] if run.stack else [])]:
        cells: dict[str, Cell] = {"seconds": result.seconds}
        if parameters:
            cells["parameters"] = result.parameters or None
        if result.contaminated_by:
            cells["not for"] = ", ".join(result.contaminated_by)
        extra[result.label] = cells
    note = f"{run.stack_note[:1].upper()}{run.stack_note[1:]}"
    sentences = [
        "Brackets hold 95% intervals, whole pages resampled.",
        *(part.warning for part in parts),
        note,
    ]
    return scores_table(
        {part.heading: list(part.systems.items()) for part in parts},
        degenerate={part.heading: part.degenerate for part in parts},
        intervals={part.heading: part.intervals for part in parts},
        extra=extra,
        title=run.recipe.title,
        caption=" ".join(sentence for sentence in sentences if sentence),
    )


@dataclass(frozen=True)
class Standing:
    """A run in the leaderboard: scores of its predictor by part, and progress."""

    name: str
    system: str = ""
    parts: tuple[PartScores, ...] = ()
    folds: tuple[int, int] = (0, 0)  # number of finished folds, and of all
    seconds: float | None = None
    problem: str = ""  # reason for missing scores


def standings() -> list[Standing]:
    """Score the predictor of every stored run; the best out of fold first."""
    from gapstack.runs.folder import RunFolder, home, run_names
    from gapstack.runs.recipe import Recipe
    from gapstack.runs.stored_results import finished_jobs, stored_run

    runs = []
    for name in run_names():
        folder = RunFolder(home() / "models" / name)
        standing = Standing(name)
        try:
            recipe = Recipe.of_run(folder)
            jobs = finished_jobs(folder, recipe)
            done = [job["seconds"] for member in jobs.values() for job in member]
            standing = Standing(
                name, recipe.best, folds=(len(done), recipe.folds * len(jobs)), seconds=sum(done)
            )
            run = stored_run(folder, recipe.best)
            if run.members or run.stack:
                standing = replace(standing, parts=score_run(run))
        except GapstackError as error:
            standing = replace(standing, problem=str(error))
        runs.append(standing)

    def loss(run: Standing) -> float:
        return run.parts[0].intervals[run.system]["logloss"].value if run.parts else np.inf

    return sorted(runs, key=loss)


def standings_table(standings: Sequence[Standing]) -> Table:
    """Leaderboard: a section for runs on the same rows, a row for each run's predictor, out of fold and held out."""
    parts = list(dict.fromkeys(part.name for run in standings for part in run.parts))
    metrics = [(part, metric) for part in parts for metric in metrics_in("summary")]
    columns = [metric_column(metric, key=f"{part} {metric}", group=part) for part, metric in metrics]
    columns += [Column("system", "by"), Column("folds", "folds"), Column("seconds", "seconds", 1)]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for run in standings:
        cells: dict[str, Cell] = {
            f"{part.name} {metric}": interval
            for part in run.parts
            for metric, interval in part.intervals[run.system].items()
        }
        done, every = run.folds
        cells |= {"system": run.system or None, "folds": f"{done} of {every}", "seconds": run.seconds}
        heading = "; ".join(part.heading for part in run.parts)
        sections.setdefault(heading or "without scores", []).append((run.name, cells))
    problems = [f"{run.name}: {run.problem}." for run in standings if run.problem]
    problems += dict.fromkeys(part.warning for run in standings for part in run.parts if part.warning)
    caption = "Sorted by logloss out of fold; do not choose a run by its held-out rows."
    shown = [Section(heading, rows) for heading, rows in sections.items()]
    return Table(columns, shown, caption=" ".join([caption, *problems]), name_title="run")


def stack_table(rows: Corpus, files: Mapping[str, Probabilities], stack: NestedStack) -> Table:
    """Scores of each file and of their nested stack; the caption has the stack's intervals and how it was chosen."""
    nested = stack.out_of_fold
    scores = [(name, score(rows, p)) for name, p in {**files, "stack": nested}.items()]
    resampled = bootstrap(rows.groups, {"stack": contributions(rows, nested)})
    loss, f1 = (resampled.interval("stack", metric) for metric in ("logloss", "f1_overall"))
    caption = (
        f"{stack.describe()}. 95% intervals, pages resampled: logloss {loss.low:.4f} to "
        f"{loss.high:.4f}, F1 {f1.low:.1f} to {f1.high:.1f}. The stack's row is nested: no prediction comes from a "
        "fit, a choice or a calibration that saw its fold. Files whose authors trained on these labels make it "
        "optimistic."
    )
    if warning := few_pages_warning(rows.groups):
        caption += f" Warning: {warning}."
    heading = f"{rows.name}, {counted(len(rows), 'row')}, {rows.label_set} labels"
    return scores_table({heading: scores}, caption=caption, metrics=metrics_in("compare"), name_title="file")


def score_clusters(clusters: Clusters, rows: Corpus, heads: Heads | None = None) -> dict[str, Scores]:
    """Score a resolver's clusters on all labelled rows, and on those that they cover; {} if a row has no label."""
    if any(example.label is None for example in rows):
        return {}
    covered = clusters.covers(rows)
    parts = {"all rows, FALSE where there are no clusters": rows}
    if 0 < covered.sum() < len(rows):
        parts = {"rows covered": rows.take(np.flatnonzero(covered)), **parts}
    return {name: score_decisions(part, clusters.decide(part, heads)) for name, part in parts.items()}
