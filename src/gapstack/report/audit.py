"""The report of an audit: tables, JSON, plots as SVG, and the model card that says what they are worth."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit import CAUTION, MARK, Audit, Measure, Panel
from gapstack.audit.base import Value
from gapstack.corpus.datasets import DATASETS
from gapstack.files import write_json, write_text
from gapstack.report.regression import regression_svg
from gapstack.report.render import WIDTH, Cell, Column, Section, Table, printable
from gapstack.scoring import Difference, Interval

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = json.loads(
    (resources.files("gapstack.report") / "audit_published.json").read_text(encoding="utf-8")
)
"""Figures of papers by panel, system and measure, in the panel's units. Those called unchecked were not read in the
paper when they were written down: compare them with it before you quote them."""

_NAME_ROOM = 28
"""Columns of a terminal that names get at most, where figures need the rest."""


def audit_tables(found: Audit, *, details: bool = False) -> list[Table]:
    """The panels of all suites as tables, published figures beneath ours; wide panels are told in parts."""
    return [
        table
        for covered in found.covered
        for panel in covered.findings.panels
        if details or not panel.detail
        for table in _tables(panel)
    ]


def audit_text(found: Audit, *, details: bool = False) -> str:
    """Everything as plain text, the model card first."""
    return "\n".join(
        [
            "\n".join(line for text in card_lines(found) for line in textwrap.wrap(text, WIDTH)) + "\n",
            *(table.text() for table in audit_tables(found, details=details)),
        ]
    )


def card_lines(found: Audit) -> list[str]:
    """The model card as paragraphs: what was audited, on which data, what was not covered, and the caution."""
    lines = [printable(f"Bias audit of {found.target}" + (f": {found.note}." if found.note else "."))]
    if found.average:
        lines.append(
            f"Answers are averaged over the rows as they are and told otherwise: {', '.join(found.average)}."
        )
    for covered in found.covered:
        licence = DATASETS[covered.suite.dataset].licence
        lines.append(
            printable(f"{covered.suite.name} ({covered.suite.paper}; {licence}): {covered.items.describe()}.")
        )
        if covered.marked:
            lines.append(
                f"{covered.suite.name}: {', '.join(covered.marked)} learned from data that share rows with it "
                f"(marked {MARK}): those figures say nothing of how fair or good it is."
            )
    for name, systems in found.refused.items():
        lines.append(
            f"{name}: refused to {', '.join(systems)}, which learned from data that share rows with it "
            "(--allow-contaminated asks them all the same)."
        )
    for name, reason in found.not_covered.items():
        lines.append(printable(f"Not covered: {name}: {reason}."))
    lines.append("Brackets hold 95% intervals (groups of rows resampled); p is two-sided.")
    lines.append(
        "Made with " + ", ".join(f"{name} {version}" for name, version in found.versions.items()) + "."
    )
    lines.append(CAUTION)
    return lines


def audit_json(found: Audit) -> dict[str, Any]:
    """Unrounded figures and the model card, for ``json.dumps``."""
    return {
        "target": found.target,
        "note": found.note,
        "systems": list(found.systems),
        "average": list(found.average),
        "suites": {
            covered.suite.name: {
                "title": covered.suite.title,
                "paper": covered.suite.paper,
                "version": covered.items.version,
                "rows": len(covered.items.corpus),
                "fingerprint": covered.items.corpus.fingerprint,
                "skipped": dict(covered.items.skipped),
                "note": covered.items.note,
                "marked": list(covered.marked),
                "panels": {panel.key: _panel_json(panel) for panel in covered.findings.panels},
                "plots": {
                    plot.key: {
                        "title": plot.title,
                        "names": list(plot.names),
                        "series": {name: points.tolist() for name, points in plot.series.items()},
                    }
                    for plot in covered.findings.scatters
                },
            }
            for covered in found.covered
        },
        "refused": {name: list(systems) for name, systems in found.refused.items()},
        "not_covered": dict(found.not_covered),
        "versions": dict(found.versions),
        "caution": CAUTION,
    }


def write_audit(found: Audit, folder: Path) -> list[Path]:
    """Write ``audit.txt`` (with details), ``audit.json`` and the plots as SVG to ``folder``; give their paths."""
    folder = Path(folder)
    paths = [folder / "audit.txt", folder / "audit.json"]
    write_text(paths[0], audit_text(found, details=True))
    write_json(paths[1], audit_json(found))
    for covered in found.covered:
        for plot in covered.findings.scatters:
            path = folder / f"{plot.key}.svg"
            write_text(path, regression_svg(plot))
            paths.append(path)
    return paths


def _tables(panel: Panel) -> list[Table]:
    """The panel as tables that each fit a terminal's width, so that no figure is cut."""
    published = PUBLISHED.get(panel.key, {})
    sizes = {
        measure.key: max(
            len(measure.title),
            *(len(str(_cells((measure,), figures)[measure.key])) for figures in panel.rows.values()),
        )
        for measure in panel.measures
    }
    room = WIDTH - min(_NAME_ROOM, max(map(len, [*panel.rows, *published]), default=0))
    parts: list[list[Measure]] = [[]]
    for measure in panel.measures:
        if parts[-1] and sum(2 + sizes[m.key] for m in (*parts[-1], measure)) > room:
            parts.append([])
        parts[-1].append(measure)
    tables = []
    for number, measures in enumerate(parts):
        sections = [Section("", [(name, _cells(measures, figures)) for name, figures in panel.rows.items()])]
        told = {n: f for n, f in published.items() if any(m.key in f for m in measures)}
        if told:
            sections.append(Section("published", [(n, _cells(measures, f)) for n, f in told.items()]))
        tables.append(
            Table(
                [Column(measure.key, measure.title, measure.decimals) for measure in measures],
                sections,
                title=panel.title + (" (continued)" if number else ""),
                caption=panel.note if number == len(parts) - 1 else "",
                name_title="system",
            )
        )
    return tables


def _cells(
    measures: Sequence[Measure], figures: Mapping[str, Value] | Mapping[str, float]
) -> dict[str, Cell]:
    return {measure.key: show(figures.get(measure.key), measure.decimals) for measure in measures}


def show(value: Value, decimals: int) -> Cell:
    """A figure as a cell: ``68.0 [61.2, 74.1]``, with ``p`` where it is a tested difference; None for no value."""
    if isinstance(value, Interval | Difference):
        if np.isnan(value.value):
            return None
        low, high = (f"{end:.{decimals}f}" for end in (value.low, value.high))
        p = f" p={value.p:.3f}" if isinstance(value, Difference) else ""
        return f"{value.value:.{decimals}f} [{low}, {high}]{p}"
    if isinstance(value, float):
        return None if np.isnan(value) else f"{value:.{decimals}f}"
    return value


def _panel_json(panel: Panel) -> dict[str, Any]:
    def plain(value: Value) -> Any:
        if isinstance(value, Interval | Difference):
            return {key: plain(part) for key, part in value._asdict().items()}
        return None if isinstance(value, float) and np.isnan(value) else value

    return {
        "title": panel.title,
        "note": panel.note,
        "measures": [measure.key for measure in panel.measures],
        "rows": {
            name: {key: plain(value) for key, value in figures.items()}
            for name, figures in panel.rows.items()
        },
        "published": {name: dict(figures) for name, figures in PUBLISHED.get(panel.key, {}).items()},
    }
