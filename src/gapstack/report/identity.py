"""What the results of a run are known by: rows, labels, folds, encoder, parser, code, versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gapstack.report.render import Cell, Column, Section, Table, printable
from gapstack.runs import Recipe, RunFolder
from gapstack.runs.folder import STACK

_SHORT = 8  # digits of a digest in the table


@dataclass(frozen=True)
class Known:
    """Folds of one member, or the stack, that were made of the same: what of, and with which versions."""

    label: str
    done: str
    identity: Mapping[str, str]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class RunIdentity:
    """A run, finished or not: what all of its results share, and what each one was made of."""

    name: str
    folder: str
    shared: Mapping[str, str]
    results: tuple[Known, ...]

    def json(self) -> dict[str, Any]:
        """Everything, digests in full."""
        results = [
            {"label": known.label, "done": known.done, "identity": known.identity, "versions": known.versions}
            for known in self.results
        ]
        return {"name": self.name, "folder": self.folder, "shared": self.shared, "results": results}

    def text(self) -> str:
        """What the results share, and a table of the rest, members by what they were made of."""
        lines = [f"run {self.name} in {self.folder}"]
        lines += [f"{key}: {value}" for key, value in self.shared.items()]
        made_with: dict[str, list[str]] = {}
        for known in self.results:
            said = ", ".join(f"{package} {version}" for package, version in known.versions.items())
            made_with.setdefault(said, []).append(known.label)
        for said, labels in made_with.items():
            whose = "" if len(made_with) == 1 else f" of {', '.join(labels)}"
            lines.append(f"versions{whose}: {said or 'unknown'}")
        return "\n".join(map(printable, lines)) + "\n\n" + self.table().text()

    def table(self) -> Table:
        """Members by what they were made of; digests are cut to their first digits."""
        keys = dict.fromkeys(
            key for known in self.results for key in known.identity if key not in self.shared
        )
        rows: list[tuple[str, Mapping[str, Cell]]] = [
            (known.label, {"done": known.done} | {key: _cut(known.identity.get(key)) for key in keys})
            for known in self.results
        ]
        columns = [Column("done", "done"), *(Column(key, key) for key in keys)]
        return Table(columns, [Section("", rows)], name_title="result")


def run_identity(folder: RunFolder) -> RunIdentity:
    """Read what the results of a run were made of, as far as they are there; DataError if it is no run."""
    manifest, recipe = folder.manifest(), Recipe.of_run(folder)
    rows = manifest["rows"]
    of_what = {"training rows": rows["train"], "held-out rows": rows["test"]}
    shared = {
        key: f"{of_what[key][0]}, {of_what[key][1]:,} rows, {value}" if key in of_what else value
        for key, value in manifest["identity"].items()
    }
    results: list[Known] = []
    for part in recipe.members:
        results += _folds(part.label, [folder.job(part.label, fold) for fold in range(recipe.folds)])
    if recipe.stacked:
        path = folder.member(STACK) / "stack.json"
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        results.append(_known(STACK, "no" if record is None else "yes", record))
    return RunIdentity(recipe.name, str(folder.root), shared, tuple(results))


def _folds(label: str, records: list[dict[str, Any] | None]) -> list[Known]:
    """The folds of a member, those together that were made of the same."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record is not None:
            made_of = [record.get("identity"), record.get("versions")]
            alike.setdefault(json.dumps(made_of, sort_keys=True), []).append(record)
    if not alike:
        return [_known(label, f"0 of {len(records)}", None)]
    return [_known(label, f"{len(group)} of {len(records)}", group[0]) for group in alike.values()]


def _known(label: str, done: str, record: Mapping[str, Any] | None) -> Known:
    found = record or {}
    return Known(label, done, found.get("identity", {}), found.get("versions", {}))


def _cut(value: str | None) -> str | None:
    if value is None:
        return None
    name, _, digest = value.rpartition(" ")
    return f"{name} {digest[:_SHORT]}".lstrip()
