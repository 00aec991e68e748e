"""What a run would cost, and what its results were computed from, as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gapstack.display.render import WIDTH, Cell, Column, Section, Table
from gapstack.errors import printable
from gapstack.runs.estimate import UTILISATION, RunPlan
from gapstack.runs.folder import STACK, RunFolder
from gapstack.runs.recipe import Recipe


def plan_table(plan: RunPlan) -> Table:
    """Table of a run's members: encoder, parameters, models of all folds, memory, disk space and hours."""
    recipe = plan.recipe
    columns = [
        *(Column("encoder", "encoder"), Column("parameters", "parameters"), Column("models", "models")),
        *(Column("memory", "memory GB", 1), Column("disk", "disk GB", 1), Column("hours", "hours", 2)),
    ]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for member in plan.members:
        cells: dict[str, Cell] = {"encoder": member.encoder, "models": member.models}
        cells["parameters"] = None if member.parameters is None else f"{member.parameters / 1e6:.1f} M"
        cells |= {"memory": member.memory / 1e9 or None, "disk": member.disk / 1e9 or None}
        rows.append((member.label, cells | {"hours": member.seconds / 3600 or None}))
    total: dict[str, Cell] = {"models": sum(member.models for member in plan.members)}
    total |= {"memory": plan.memory / 1e9, "disk": plan.disk / 1e9, "hours": plan.seconds / 3600}
    (trained, count), (held, held_count) = plan.train, plan.test
    stackers = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
    return Table(
        columns,
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


def run_identity(folder: RunFolder) -> dict[str, Any]:
    """Identity that all results of a run share, and that of each result, grouped by identity and versions.

    DataError if the folder is not a run.
    """
    manifest, recipe = folder.manifest(), Recipe.of_run(folder)
    shared = dict(manifest["identity"])
    for key, part in (("training rows", "train"), ("held-out rows", "test")):
        if key in shared:
            name, count = manifest["rows"][part]
            shared[key] = f"{name}, {count:,} rows, {shared[key]}"
    results = []
    for label in [part.label for part in recipe.members]:
        records = [folder.job(label, fold) for fold in range(recipe.folds)]
        groups: dict[str, list[dict[str, Any]]] = {}
        for record in filter(None, records):
            key = json.dumps([record.get("identity"), record.get("versions")], sort_keys=True)
            groups.setdefault(key, []).append(record)
        for group in groups.values() or [[]]:
            results.append(_result(label, f"{len(group)} of {len(records)}", group[0] if group else {}))
    if recipe.stacked:
        path = folder.member(STACK) / "stack.json"
        exists = path.is_file()
        record = json.loads(path.read_text(encoding="utf-8")) if exists else {}
        results.append(_result(STACK, "yes" if exists else "no", record))
    return {"name": recipe.name, "folder": str(folder.root), "shared": shared, "results": results}


def _result(label: str, done: str, record: Mapping[str, Any]) -> dict[str, Any]:
    identity, versions = record.get("identity", {}), record.get("versions", {})
    return {"label": label, "done": done, "identity": identity, "versions": versions}


def identity_text(record: Mapping[str, Any], width: int = WIDTH) -> str:
    """:func:`run_identity` as text, and as a table in which digests are cut to their first digits."""
    shared, results = record["shared"], record["results"]
    lines = [f"run {record['name']} in {record['folder']}", *(f"{key}: {shared[key]}" for key in shared)]
    by_version: dict[str, list[str]] = {}
    for result in results:
        text = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
        by_version.setdefault(text, []).append(result["label"])
    for text, labels in by_version.items():
        whose = "" if len(by_version) == 1 else f" of {', '.join(labels)}"
        lines.append(f"versions{whose}: {text or 'unknown'}")

    def cut(value: str) -> str:
        name, _, digest = value.rpartition(" ")
        return f"{name} {digest[:8]}".lstrip()

    keys = dict.fromkeys(key for result in results for key in result["identity"] if key not in shared)
    rows: list[tuple[str, dict[str, Cell]]] = [
        (result["label"], {"done": result["done"]} | {k: cut(v) for k, v in result["identity"].items()})
        for result in results
    ]
    columns = [Column("done", "done"), *(Column(key, key) for key in keys)]
    table = Table(columns, [Section("", rows)], name_title="result")
    return "\n".join(map(printable, lines)) + "\n\n" + table.text(width)
