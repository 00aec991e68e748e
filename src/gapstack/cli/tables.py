"""Tables that only commands print: clusters, mining, plans, stacks, standings, identities."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gapstack.comparison.results import StackScores, Standing
from gapstack.data import Corpus, Gender
from gapstack.display.render import WIDTH, Cell, Column, Section, Table, metric_column
from gapstack.display.scores import ScoreRow, scores_table
from gapstack.errors import printable
from gapstack.evaluation import Scores, few_pages_warning, metrics_in
from gapstack.resolvers.align import Reading
from gapstack.runs import Recipe, RunFolder
from gapstack.runs.estimate import UTILISATION, MemberPlan, RunPlan
from gapstack.runs.folder import STACK
from gapstack.text.mining import Mined


def clusters_record(reading: Reading, rows: Corpus, scores: Mapping[str, Scores]) -> dict[str, Any]:
    """What :func:`clusters_text` says, for JSON."""
    return {
        "resolver": reading.clusters.name,
        "format": reading.format,
        "rows": len(rows),
        "covered": int(reading.clusters.covers(rows).sum()),
        "not_aligned": list(reading.failed),
        "mentions": reading.mentions,
        "mentions_lost": reading.lost,
        "scores": {name: found.as_dict() for name, found in scores.items()},
    }


def clusters_text(reading: Reading, rows: Corpus, scores: Mapping[str, Scores]) -> str:
    """Format, coverage and losses, and the scores of :func:`~gapstack.comparison.results.score_clusters`."""
    clusters = reading.clusters
    lines = [
        f"{clusters.name}, read as {reading.format}: {clusters.covers(rows).sum():,} of {len(rows):,} rows covered",
        f"rows whose text could not be aligned: {len(reading.failed)} of {reading.rows:,} "
        f"({reading.failure_rate:.2%})" + (f": {', '.join(reading.failed[:5])}" if reading.failed else ""),
        f"mentions without a place in the original: {reading.lost:,} of {reading.mentions:,}",
        *(
            f"F1 on {name}: {found.f1_overall:.1f} (M {found.f1_masculine:.1f}, F {found.f1_feminine:.1f})"
            for name, found in scores.items()
        ),
    ]
    return "\n".join(map(printable, lines))


def mining_table(extracted: Mined, result: Mined) -> Table:
    """Rows before and after balancing, by pattern and gender, and the latter by label where they have labels."""
    labels = Counter(row.example.label for row in result.rows if row.example.label is not None)
    columns = [
        Column(f"{what}_{gender}", f"{gender} {what}")
        for what in ("extracted", "kept")
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    ]
    rows: list[tuple[str, dict[str, Cell]]] = [
        (
            pattern.value,
            {
                f"{what}_{gender}": mined.counts()[pattern][gender]
                for what, mined in (("extracted", extracted), ("kept", result))
                for gender in (Gender.FEMININE, Gender.MASCULINE)
            },
        )
        for pattern in extracted.counts()
    ]
    said = "".join(f"{reason}: {count:,}. " for reason, count in sorted(result.left_out.items()) if count)
    answers = ", ".join(f"{label.name} {count:,}" for label, count in sorted(labels.items()))
    return Table(
        columns,
        [Section("", rows)],
        title=f"{len(result.rows):,} rows of {result.pages:,} {'page' if result.pages == 1 else 'pages'}"
        + (f": {answers}" if answers else ""),
        caption=f"Left out: {said}" if said else "",
        name_title="pattern",
    )


_PLAN_COLUMNS = (
    Column("encoder", "encoder"),
    Column("parameters", "parameters"),
    Column("models", "models"),
    Column("memory", "memory GB", 1),
    Column("disk", "disk GB", 1),
    Column("hours", "hours", 2),
)


def plan_table(plan: RunPlan) -> Table:
    """Table of a run's members: encoder, parameters, models of all folds, memory, disk space and hours."""
    recipe = plan.recipe
    rows = [(member.label, _plan_cells(member)) for member in plan.members]
    total: dict[str, Cell] = {
        "models": sum(member.models for member in plan.members),
        "memory": plan.memory / 1e9,
        "disk": plan.disk / 1e9,
        "hours": plan.seconds / 3600,
    }
    (trained, count), (held, held_count) = plan.train, plan.test
    stackers = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
    return Table(
        _PLAN_COLUMNS,
        [Section("", [*rows, ("all members", total)])],
        title=f"{recipe.name}: {recipe.title}",
        caption=(
            f"Trained on {trained}: {count:,} rows, {recipe.labels} labels, {recipe.folds} folds by page, seed "
            f"{recipe.seed}; held out {held}: {held_count:,} rows; stack: {stackers}. Hours are those of an earlier "
            "run of this name if there is one, otherwise a rough estimate: 6 operations for each parameter and word "
            f"piece of training (2 for prediction) at {UTILISATION:.0%} of this machine's speed in matrix products "
            f"({plan.device}). Early stopping may take less; parses, a first stage on other corpora and the stack are "
            "not included. A frozen encoder runs once over all rows, however many members read it; the first counts it."
        ),
        name_title="member",
    )


def _plan_cells(member: MemberPlan) -> dict[str, Cell]:
    return {
        "encoder": member.encoder,
        "parameters": None if member.parameters is None else f"{member.parameters / 1e6:.1f} M",
        "models": member.models,
        "memory": member.memory / 1e9 if member.memory else None,
        "disk": member.disk / 1e9 if member.disk else None,
        "hours": member.seconds / 3600 if member.seconds else None,
    }


def stack_table(scores: StackScores) -> Table:
    """Show each file and the nested stack, with the stack's intervals and how it was chosen."""
    rows = scores.stack.rows
    lines: list[ScoreRow] = list(scores.systems.items())
    loss, f1 = scores.intervals["logloss"], scores.intervals["f1_overall"]
    caption = (
        f"{scores.stack.nested.describe()}. 95% intervals, pages resampled: logloss {loss.low:.4f} to "
        f"{loss.high:.4f}, F1 {f1.low:.1f} to {f1.high:.1f}. The stack's row is nested: no prediction comes from a "
        "fit, a choice or a calibration that saw its fold. Files whose makers trained on these labels make it "
        "optimistic."
    )
    if warning := few_pages_warning(rows.groups):
        caption += f" Warning: {warning}."
    heading = f"{rows.name}, {len(rows)} rows, {rows.label_set} labels"
    return scores_table({heading: lines}, caption=caption, metrics=metrics_in("compare"), name_title="file")


def standings_table(standings: Sequence[Standing]) -> Table:
    """A section for runs on the same rows, a row for each run: its predictor's scores out of fold and held out."""
    parts = list(dict.fromkeys(part.name for one in standings for part in one.parts))
    columns = [
        *(
            metric_column(metric, key=f"{part} {metric}", group=part)
            for part in parts
            for metric in metrics_in("summary")
        ),
        Column("system", "by"),
        Column("folds", "folds"),
        Column("seconds", "seconds", 1),
    ]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for one in standings:
        cells: dict[str, Cell] = {
            f"{part.name} {metric}": interval
            for part in one.parts
            for metric, interval in part.intervals[one.system].items()
        }
        done, every = one.folds
        cells |= {"system": one.system or None, "folds": f"{done} of {every}", "seconds": one.seconds}
        heading = "; ".join(
            f"{part.name}: {part.corpus.name}, {len(part.corpus):,} rows, {part.corpus.label_set} labels"
            for part in one.parts
        )
        sections.setdefault(heading or "without scores", []).append((one.name, cells))
    problems = [f"{one.name}: {one.problem}." for one in standings if one.problem]
    problems += dict.fromkeys(part.warning for one in standings for part in one.parts if part.warning)
    return Table(
        columns,
        [Section(heading, rows) for heading, rows in sections.items()],
        caption=" ".join(
            ["Sorted by logloss out of fold: nothing is to be chosen by rows held out.", *problems]
        ),
        name_title="run",
    )


_DIGITS_SHOWN = 8  # digits of a digest in the table


@dataclass(frozen=True)
class ResultIdentity:
    """Folds of one member of the same identity and versions, or the stack; ``done`` counts them."""

    label: str
    done: str
    identity: Mapping[str, str]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class RunIdentity:
    """A run, finished or not: the identity that all results share, and that of each result."""

    name: str
    folder: str
    shared: Mapping[str, str]
    results: tuple[ResultIdentity, ...]

    def json(self) -> dict[str, Any]:
        """Everything, digests in full."""
        return asdict(self)

    def text(self, width: int = WIDTH) -> str:
        """The shared identity, and a table of the rest."""
        lines = [f"run {self.name} in {self.folder}"]
        lines += [f"{key}: {value}" for key, value in self.shared.items()]
        by_version: dict[str, list[str]] = {}
        for result in self.results:
            text = ", ".join(f"{package} {version}" for package, version in result.versions.items())
            by_version.setdefault(text, []).append(result.label)
        for text, labels in by_version.items():
            whose = "" if len(by_version) == 1 else f" of {', '.join(labels)}"
            lines.append(f"versions{whose}: {text or 'unknown'}")
        return "\n".join(map(printable, lines)) + "\n\n" + self.table().text(width)

    def table(self) -> Table:
        """Identities by member; digests are cut to their first digits."""
        keys = dict.fromkeys(
            key for result in self.results for key in result.identity if key not in self.shared
        )
        rows: list[tuple[str, Mapping[str, Cell]]] = [
            (result.label, {"done": result.done} | {key: _cut(result.identity.get(key)) for key in keys})
            for result in self.results
        ]
        columns = [Column("done", "done"), *(Column(key, key) for key in keys)]
        return Table(columns, [Section("", rows)], name_title="result")


def run_identity(folder: RunFolder) -> RunIdentity:
    """Read the identities of the results of a run that exist; DataError if it is not a run."""
    manifest, recipe = folder.manifest(), Recipe.of_run(folder)
    rows = manifest["rows"]
    of_what = {"training rows": rows["train"], "held-out rows": rows["test"]}
    shared = {
        key: f"{of_what[key][0]}, {of_what[key][1]:,} rows, {value}" if key in of_what else value
        for key, value in manifest["identity"].items()
    }
    results: list[ResultIdentity] = []
    for part in recipe.members:
        results += _folds(part.label, [folder.job(part.label, fold) for fold in range(recipe.folds)])
    if recipe.stacked:
        path = folder.member(STACK) / "stack.json"
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        results.append(_identity(STACK, "no" if record is None else "yes", record))
    return RunIdentity(recipe.name, str(folder.root), shared, tuple(results))


def _folds(label: str, records: list[dict[str, Any] | None]) -> list[ResultIdentity]:
    """The folds of a member, grouped by identity and versions."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record is not None:
            key = json.dumps([record.get("identity"), record.get("versions")], sort_keys=True)
            groups.setdefault(key, []).append(record)
    if not groups:
        return [_identity(label, f"0 of {len(records)}", None)]
    return [_identity(label, f"{len(group)} of {len(records)}", group[0]) for group in groups.values()]


def _identity(label: str, done: str, record: Mapping[str, Any] | None) -> ResultIdentity:
    record = record or {}
    return ResultIdentity(label, done, record.get("identity", {}), record.get("versions", {}))


def _cut(value: str | None) -> str | None:
    if value is None:
        return None
    name, _, digest = value.rpartition(" ")
    return f"{name} {digest[:_DIGITS_SHOWN]}".lstrip()
