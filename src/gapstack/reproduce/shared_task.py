"""The shared task's systems, published figures beside ours: ``gap reproduce shared_task``.

Published figures come from ``shared_task_paper.json`` and are mostly not comparable: other encoders, splits and labels,
often whole ensembles. Each is therefore shown with its conditions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.encoding.encoders import EMBEDDED
from gapstack.members import MEMBERS, create
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.beside_paper import OneTable
from gapstack.runs import Result, Run
from gapstack.scoring import score

PAPER: dict[str, Any] = json.loads(
    (resources.files("gapstack.reproduce") / "shared_task_paper.json").read_text(encoding="utf-8")
)
"""Published figures by member, with their conditions."""

RECIPE = "families"
"""The recipe of our figures."""

SCORED_HERE = "their probabilities, scored here"
"""Source of figures that were computed here from a team's published probabilities."""

METRICS = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias")
_COLUMNS = (
    Column("encoder", "encoder"),
    Column("cross_validated", "logloss CV"),
    Column("logloss", "logloss"),
    Column("f1_masculine", "F1 M", 1),
    Column("f1_feminine", "F1 F", 1),
    Column("f1_overall", "F1 O", 1),
    Column("bias", "bias"),
    Column("seconds", "seconds", 0),
    Column("parameters", "learned"),
)


@dataclass(frozen=True)
class System:
    """A member of the run, or its stack.

    ``reported`` are the records of :data:`PAPER`, none where no figure is published; ``out_of_fold`` and
    ``held_out`` hold our :data:`METRICS`.
    """

    label: str
    paper: str
    encoder: str | None
    reported: tuple[dict[str, Any], ...]
    out_of_fold: dict[str, float | None]
    held_out: dict[str, float | None]
    seconds: float | None
    parameters: int
    contaminated_by: tuple[str, ...]


@dataclass(frozen=True)
class Report(OneTable):
    """Every system of a run, with its published figures."""

    NAME = "shared_task"

    systems: tuple[System, ...]
    title: str
    note: str

    @property
    def table(self) -> Table:
        """One table: a line for each member as measured here, then one for each published figure."""
        rows = [row for system in self.systems for row in _rows(system)]
        caption = f"{self.note}. " if self.note else ""
        return Table(
            _COLUMNS,
            [Section("", rows)],
            title=self.title,
            caption=(
                f"{caption}Lines with a figure's author are what the papers report, and on what; their labels are "
                "the official ones, or not told, unless a name stands there; those of stage 2 are not public. Seconds: "
                "views and all folds; learned: numbers that one fold's fit learned and keeps as arrays."
            ),
            name_title="member",
        )

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {
            "title": self.title,
            "paper": PAPER["paper"],
            "provenance": PAPER["provenance"],
            "note": self.note,
            "systems": [
                {
                    **{"member": one.label, "paper": one.paper, "encoder": one.encoder},
                    "reported": list(one.reported),
                    "measured": {
                        "out_of_fold": one.out_of_fold,
                        "held_out": one.held_out,
                        "seconds": one.seconds,
                        "parameters": one.parameters,
                        "not_for": list(one.contaminated_by),
                    },
                }
                for one in self.systems
            ],
        }


def report(run: Run) -> Report:
    """Compare all members of a run of :data:`RECIPE` with their published figures."""
    systems = [
        _system(
            run,
            result,
            MEMBERS.entry(part.name).paper,
            PAPER["systems"].get(part.name, []),
            _encoder(part.name, part.settings),
        )
        for part, result in zip(run.recipe.members, run.members, strict=True)
    ]
    if run.stack:
        systems.append(_system(run, run.stack, "all of these, stacked", [], None))
    title = (
        f"Published systems, measured here: logloss CV out of fold on {run.train.name} ({len(run.train)} rows), "
        f"all else on {run.test.name} ({len(run.test)} rows), {run.test.label_set} labels"
    )
    return Report(tuple(systems), title, run.stack_note)


def _encoder(name: str, settings: dict[str, Any]) -> str | None:
    """Name of a member's encoder; None if it has none."""
    chosen = create(name, **settings).get_params()
    return (Path(chosen["encoder"]).name if chosen["encoder"] else EMBEDDED) if "encoder" in chosen else None


def _system(
    run: Run, result: Result, paper: str, reported: list[dict[str, Any]], encoder: str | None
) -> System:
    trained, held = score(run.train, result.out_of_fold), score(run.test, result.test)
    return System(
        label=result.label,
        paper=paper,
        encoder=encoder,
        reported=tuple(reported),
        out_of_fold={name: trained.value(name) for name in METRICS},
        held_out={name: held.value(name) for name in METRICS},
        seconds=result.seconds,
        parameters=result.parameters,
        contaminated_by=result.contaminated_by,
    )


def _rows(system: System) -> list[tuple[str, dict[str, Cell]]]:
    mark = f" (not for {', '.join(system.contaminated_by)})" if system.contaminated_by else ""
    measured: dict[str, Cell] = {
        **system.held_out,
        "encoder": system.encoder,
        "cross_validated": system.out_of_fold["logloss"],
        "seconds": system.seconds,
        "parameters": f"{system.parameters:,}" if system.parameters else None,
    }
    reported: list[tuple[str, dict[str, Cell]]] = [
        (f"- {_of(line)}", {column.key: line.get(column.key) for column in _COLUMNS})
        for line in system.reported
    ]
    return [(f"{system.label}{mark}", measured), *(reported or [("- no published figure", {})])]


def _of(line: dict[str, Any]) -> str:
    """Conditions of a published figure: team, number of models, rows, and labels other than the official ones."""
    labels = f", labels of {line['labels']}" if line["labels"] not in (None, "official") else ""
    models = f", {line['models']}" if line["models"] != "one model" else ""
    return f"{line['who']}{models}: {line['split']}{labels}"
