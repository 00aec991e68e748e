"""The panels of an audit as tables that fit a terminal, published figures beneath ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gapstack.audit import Audit, Measure, Panel
from gapstack.audit.suite import Value
from gapstack.members.member import each_once
from gapstack.report.audit.headlines import Quoted, lines
from gapstack.report.audit.published import published
from gapstack.report.render import WIDTH, Cell, Column, Section, Table
from gapstack.scoring import Difference, Interval

_NAME_ROOM = 28
"""Maximum width of names where figures need the rest."""


def audit_tables(found: Audit, *, details: bool = False) -> list[Table]:
    """The panels of all suites as tables, published figures beneath ours; wide panels are split."""
    return [
        table
        for covered in found.covered
        for panel in covered.findings.panels
        if details or not panel.detail
        for table in _tables(panel)
    ]


def headline_tables(found: Audit) -> list[Table]:
    """Headlines: for one system a row per suite, with intervals; for several a row per system."""
    headlines = list(lines(found))
    if not headlines:
        return []
    if len(found.systems) == 1:
        (system,) = headlines[0].good.figures
        rows: list[tuple[str, dict[str, Cell]]] = [
            (
                line.headline.title,
                {
                    "good": _named(line.headline.score, line.good, system),
                    "apart": _named(line.apart.measure.title, line.apart, system) if line.apart else None,
                },
            )
            for line in headlines
        ]
        columns = [Column("good", "score", 1), Column("apart", "gender difference", 1)]
        return [Table(columns, [Section("", rows)], title="In short", name_title="suite")]
    apart = [(line.headline.title, line.apart.measure.title, line.apart) for line in headlines if line.apart]
    good = [(line.headline.title, line.headline.score, line.good) for line in headlines]
    return [
        *_numbered("In short: gender differences", apart),
        *_numbered("In short: scores", good),
    ]


def _named(what: str, quoted: Quoted, system: str) -> str | None:
    shown = show(quoted.figures.get(system), quoted.measure.decimals)
    return None if shown is None else f"{what} {shown}"


def _numbered(title: str, quoted: Sequence[tuple[str, str, Quoted]]) -> list[Table]:
    """Systems by figures without their intervals, in columns whose headings stand below."""
    if not quoted:
        return []
    measures = tuple(Measure(str(k), f"({k})", one.measure.decimals) for k, (*_, one) in enumerate(quoted, 1))
    rows = {
        system: {str(k): _point(one.figures.get(system)) for k, (*_, one) in enumerate(quoted, 1)}
        for system in each_once(*(one.figures for *_, one in quoted))
    }
    legend = "; ".join(f"({k}) {suite}, {what}" for k, (suite, what, _) in enumerate(quoted, 1))
    return _tables(Panel("headlines", title, measures, rows, legend + "."))


def _tables(panel: Panel) -> list[Table]:
    """The panel as tables that each fit a terminal's width, so that no figure is cut."""
    quoted = published(panel.key)
    sizes = {
        measure.key: max(
            len(measure.title),
            *(len(str(_cells((measure,), figures)[measure.key])) for figures in panel.rows.values()),
        )
        for measure in panel.measures
    }
    room = WIDTH - min(_NAME_ROOM, max(map(len, [*panel.rows, *quoted]), default=0))
    parts: list[list[Measure]] = [[]]
    for measure in panel.measures:
        if parts[-1] and sum(2 + sizes[m.key] for m in (*parts[-1], measure)) > room:
            parts.append([])
        parts[-1].append(measure)
    tables = []
    for number, measures in enumerate(parts):
        sections = [Section("", [(name, _cells(measures, figures)) for name, figures in panel.rows.items()])]
        theirs = {n: f for n, f in quoted.items() if any(m.key in f for m in measures)}
        if theirs:
            sections.append(Section("published", [(n, _cells(measures, f)) for n, f in theirs.items()]))
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


def _point(value: Value) -> Value:
    return value.value if isinstance(value, Interval | Difference) else value


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
