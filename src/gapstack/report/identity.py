"""Identities of a run's results: rows, labels, folds, encoder, parser, code, versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gapstack.report.render import WIDTH, Cell, Column, Section, Table, printable
from gapstack.runs import Recipe, RunFolder
from gapstack.runs.folder import STACK

_SHORT = 8  # digits of a digest in the table


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
    """Read the identities of the results of a run that exist; DataError if it is no run."""
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
    return f"{name} {digest[:_SHORT]}".lstrip()
