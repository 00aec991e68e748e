"""The shared task's systems, theirs beside ours: everything behind ``gap reproduce shared_task``.

What the papers report comes from ``shared_task_paper.json`` and is mostly not like for like: other encoders, other
splits, other labels, often whole ensembles. Each of their figures therefore stands with what it was measured on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.files import write_json, write_text
from gapstack.report.comparison import HELD_OUT, OUT_OF_FOLD
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.runs import Result, Run
from gapstack.scoring import score

PAPER: dict[str, Any] = json.loads(
    (resources.files("gapstack.report") / "shared_task_paper.json").read_text(encoding="utf-8")
)
"""Reported figures by member."""

RECIPE = "families"
"""The recipe whose run stands beside them."""

_WIDTH = 130
_OURS = (
    Column("logloss", "logloss", better="low"),
    Column("test_logloss", "test", better="low"),
    Column("f1_masculine", "F1 M", 1),
    Column("f1_feminine", "F1 F", 1),
    Column("f1_overall", "F1 O", 1, "high"),
    Column("bias", "bias"),
    Column("seconds", "seconds", 0),
    Column("parameters", "learned"),
    Column("not_for", "not for"),
)
_THEIRS = (
    Column("encoder", "encoder"),
    Column("on", "measured on"),
    Column("logloss", "logloss"),
    Column("f1_overall", "F1 O", 1),
)


@dataclass(frozen=True)
class Report:
    """Two tables: what the papers report, and what we measure."""

    theirs: Table
    ours: Table

    def text(self) -> str:
        """Plain text."""
        return f"{self.theirs.text(_WIDTH)}\n{self.ours.text(_WIDTH)}"

    def markdown(self) -> str:
        """GitHub Markdown."""
        return f"{self.theirs.markdown()}\n{self.ours.markdown()}"

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {"paper": PAPER["paper"], "reported": self.theirs.json(), "measured": self.ours.json()}

    def write(self, folder: Path) -> list[Path]:
        """Write ``shared_task.md`` and ``shared_task.json`` to ``folder``; give their paths."""
        paths = [Path(folder) / name for name in ("shared_task.md", "shared_task.json")]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.json())
        return paths


def report(run: Run) -> Report:
    """Give what the papers report, and what a run of :data:`RECIPE` measured.

    Members of the run that no paper has come too; in the first table they stand with "-".
    """
    labels = [(part.label, part.name) for part in run.recipe.members]
    reported = [row for label, name in labels for row in _reported(label, name)]
    theirs = Table(
        _THEIRS,
        [Section("", reported)],
        title="What the papers report",
        caption=PAPER["provenance"],
        name_title="member: system",
    )
    results = [*run.members, *([run.stack] if run.stack else [])]
    trained, held = run.train, run.test
    ours = Table(
        _OURS,
        [Section("", [(result.label, _measured(run, result)) for result in results])],
        title=(
            f"What this system measures: logloss {OUT_OF_FOLD} on {trained.name} ({len(trained)} rows, "
            f"{trained.label_set} labels), "
            f"the rest {HELD_OUT} on {held.name} ({len(held)} rows, {held.label_set} labels)"
        ),
        caption=run.stack_note,
        name_title="member",
    )
    return Report(theirs, ours)


def _reported(label: str, name: str) -> list[tuple[str, Mapping[str, Cell]]]:
    found = PAPER["systems"].get(name, [{"system": "no published figure", "encoder": None, "on": None}])
    return [
        (
            f"{label}: {line['system']}",
            {
                "encoder": line["encoder"],
                "on": line["on"],
                "logloss": line.get("logloss"),
                "f1_overall": line.get("f1"),
            },
        )
        for line in found
    ]


def _measured(run: Run, result: Result) -> dict[str, Cell]:
    held = score(run.test, result.test)
    return {
        "logloss": score(run.train, result.out_of_fold).value("logloss"),
        "test_logloss": held.value("logloss"),
        **{key: held.value(key) for key in ("f1_masculine", "f1_feminine", "f1_overall", "bias")},
        "seconds": result.seconds,
        "parameters": f"{result.parameters:,}" if result.parameters else None,
        "not_for": ", ".join(result.contaminates) or None,
    }
