"""Effect of debiased vectors and gender-swapped copies downstream: ``gap reproduce sowinobias``.

Dawkins 2021, tables 1 and 4: one coreference system over static vectors with and without debiasing, trained with and
without copies of the other gender, on WinoBias and SoWinoBias. The run of :data:`RECIPE` is audited and compared with
the paper's figures, with the scores of each variant on GAP.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gapstack.audit import Audit, audit, run_target
from gapstack.errors import DataError
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.beside_paper import OneTable
from gapstack.runs import Run
from gapstack.scoring import Difference, score

PAPER: dict[str, Any] = json.loads(
    (resources.files("gapstack.reproduce") / "sowinobias_paper.json").read_text(encoding="utf-8")
)
"""Reported figures by system, in percent."""

RECIPE = "sowinobias"
"""The recipe of our figures."""

SUITES = ("winobias", "sowinobias")
_COLUMNS = (
    *(Column("winobias_pro", "WB pro", 1), Column("winobias_anti", "anti", 1)),
    *(Column("winobias_difference", "pro-anti", 1), Column("type2_difference", "type 2", 1)),
    *(Column("sowinobias_pro", "SWB pro", 1), Column("sowinobias_anti", "anti", 1)),
    Column("sowinobias_difference", "pro-anti", 1),
    *(Column("positive_difference", "liked", 1), Column("negative_difference", "disliked", 1)),
    *(Column("logloss", "GAP logloss", 3), Column("f1_overall", "F1", 1)),
)
_PLACES = {
    "winobias_pro": ("winobias.current.type1", "{}", "accuracy_pro"),
    "winobias_anti": ("winobias.current.type1", "{}", "accuracy_anti"),
    "winobias_difference": ("winobias.current.type1", "{}", "accuracy_difference"),
    "type2_difference": ("winobias.current.type2", "{}", "accuracy_difference"),
    "sowinobias_pro": ("sowinobias.all", "{}", "pro"),
    "sowinobias_anti": ("sowinobias.all", "{}", "anti"),
    "sowinobias_difference": ("sowinobias.all", "{}", "difference"),
    "positive_difference": ("sowinobias.polarity", "{}, positive", "difference"),
    "negative_difference": ("sowinobias.polarity", "{}, negative", "difference"),
}
"""Where each figure stands in the audit: panel, row (of a system's name) and measure."""


@dataclass(frozen=True)
class Report(OneTable):
    """The run's variants: figures by variant and column, and the paper's."""

    NAME = "sowinobias"

    variants: Mapping[str, Mapping[str, float | Difference | None]]
    title: str
    note: str

    @property
    def table(self) -> Table:
        """One line for each variant, and the paper's beneath."""
        ours = [
            (name, {key: _cell(value) for key, value in row.items()}) for name, row in self.variants.items()
        ]
        theirs = [(name, _with_differences(row)) for name, row in PAPER["systems"].items()]
        return Table(
            _COLUMNS,
            [Section("", ours), Section("published", theirs)],
            title=self.title,
            caption=(
                "WB: WinoBias, accuracy on type 1 of the current release, and the difference on type 2; SWB: "
                "SoWinoBias, forced choice between the two, and the difference by verb. * p < .05, two-sided, by "
                f"exchanging the sides of pairs. {self.note}. {PAPER['provenance']}"
            ),
            name_title="member",
        )

    def json(self) -> dict[str, Any]:
        """Unrounded figures, with intervals and p-values, for ``json.dumps``."""
        return {
            "title": self.title,
            "note": self.note,
            "paper": PAPER,
            "variants": {
                name: {
                    key: value._asdict() if isinstance(value, Difference) else value
                    for key, value in row.items()
                }
                for name, row in self.variants.items()
            },
        }


def report(run: Run, data: Path | None = None) -> Report:
    """Audit the members of a finished run, the mean of all its folds, and score them on its test split.

    Raises
    ------
    DataError
        If the data of a suite are missing, or every member was trained on them.
    """
    audited = audit(run_target(run.folder, folds=run.recipe.folds), data, SUITES)
    missing = [f"{name}: {audited.not_covered[name]}" for name in SUITES if name in audited.not_covered]
    if missing:
        raise DataError(f"the audit lacks {'; '.join(missing)}", expected=" and ".join(SUITES))
    variants: dict[str, Mapping[str, float | Difference | None]] = {}
    for result in run.members:
        scores = score(run.test, result.test)
        held = {key: scores.value(key) for key in ("logloss", "f1_overall")}
        variants[result.label] = {**_audited(audited, result.label), **held}
    title = f"Static vectors downstream: audited, and scored on {run.test.name}, {run.test.label_set} labels"
    return Report(variants, title, f"Ours: {audited.note}")


def _audited(found: Audit, label: str) -> dict[str, float | Difference | None]:
    panels = {panel.key: panel.rows for covered in found.covered for panel in covered.findings.panels}
    figures: dict[str, float | Difference | None] = {}
    for key, (panel, row, measure) in _PLACES.items():
        value = panels[panel][row.format(label)][measure]
        figures[key] = value if isinstance(value, float | Difference) else None
    return figures


def _cell(value: float | Difference | None) -> Cell:
    if isinstance(value, Difference):
        return f"{value.value:+.1f}" + ("*" if value.p < 0.05 else "")
    return value


def _with_differences(row: Mapping[str, float]) -> dict[str, Cell]:
    cells: dict[str, Cell] = dict(row)
    for suite in SUITES:
        if f"{suite}_pro" in row:
            cells[f"{suite}_difference"] = f"{row[f'{suite}_pro'] - row[f'{suite}_anti']:+.1f}"
    return cells
