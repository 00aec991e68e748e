"""The verdict of an audit, and its panels as tables, published figures beneath ours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gapstack.audit import Audit, Panel
from gapstack.audit.suite import Value
from gapstack.members.member import each_once
from gapstack.report.audit.headlines import Quoted, lines
from gapstack.report.audit.published import published
from gapstack.report.render import Cell, Column, Section, Table, point


def audit_tables(found: Audit, *, details: bool = False) -> list[Table]:
    """The panels of all suites as tables, published figures beneath ours."""
    return [
        panel_table(panel)
        for covered in found.covered
        for panel in covered.findings.panels
        if details or not panel.detail
    ]


def verdict(found: Audit, *, alike: bool = True) -> list[str]:
    """Suites that show a difference between the genders and, if ``alike``, the others, for each system.

    Systems of which the same is to be said share a sentence.
    """
    headlines = [line for line in lines(found) if line.apart]
    systems: dict[str, list[str]] = {}
    for system in each_once(*(line.good.figures for line in headlines)):
        by_answer: dict[bool | None, list[str]] = {True: [], False: []}
        for line in headlines:
            assert line.apart is not None
            figure = show(line.apart.figures.get(system), line.apart.measure.decimals)
            what = f"{line.headline.title} ({line.apart.measure.title} {figure})"
            by_answer.setdefault(line.differs(system), []).append(what)
        different, others = by_answer[True], by_answer[False]
        sentence = (
            f"a clear difference between the genders in {len(different)} of {len(different) + len(others)} suites"
            + (f": {'; '.join(different)}." if different else ", which can show bias and never its absence.")
            + (f" None that is clear: {'; '.join(others)}." if alike and others and different else "")
        )
        systems.setdefault(sentence, []).append(system)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in systems.items()]


def headline_table(found: Audit) -> Table | None:
    """Headlines: for one system a row per suite, with intervals; for several a row per system."""
    headlines = list(lines(found))
    if not headlines:
        return None
    if len(found.systems) == 1:
        (system,) = headlines[0].good.figures
        by_suite: list[tuple[str, dict[str, Cell]]] = [
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
        return Table(columns, [Section("", by_suite)], title="In short", name_title="suite")
    by_figure: list[Column] = []
    figures: dict[str, Mapping[str, Value]] = {}
    for number, line in enumerate(headlines):
        for key, title, quoted in (
            (f"{number}.good", line.headline.score, line.good),
            *([(f"{number}.apart", line.apart.measure.title, line.apart)] if line.apart else []),
        ):
            by_figure.append(Column(key, title, quoted.measure.decimals, group=line.headline.title))
            figures[key] = quoted.figures
    rows = [
        (system, {key: point(figure_cell(by_system.get(system))) for key, by_system in figures.items()})
        for system in each_once(*figures.values())
    ]
    return Table(by_figure, [Section("", rows)], title="In short", name_title="system")


def _named(what: str, quoted: Quoted, system: str) -> str | None:
    shown = show(quoted.figures.get(system), quoted.measure.decimals)
    return None if shown is None else f"{what} {shown}"


def panel_table(panel: Panel) -> Table:
    """The panel, and beneath it the papers' figures."""

    def rows(figures: Mapping[str, Mapping[str, Value]]) -> list[tuple[str, dict[str, Cell]]]:
        return [
            (name, {measure.key: figure_cell(row.get(measure.key)) for measure in panel.measures})
            for name, row in figures.items()
        ]

    sections = [Section("", rows(panel.rows))]
    if quoted := published(panel.key):
        sections.append(Section("published", rows(quoted), aside=frozenset(quoted)))
    return Table(
        [Column(measure.key, measure.title, measure.decimals) for measure in panel.measures],
        sections,
        title=panel.title,
        caption=panel.note,
        name_title="system",
    )


def figure_cell(value: Value) -> Cell:
    """A figure as a cell: None where it has no value."""
    return None if isinstance(value, float) and np.isnan(value) else value


def show(value: Value, decimals: int) -> str | int | None:
    """A figure as text, as :meth:`~gapstack.report.render.Column.show` does; None for no value, a count as it is."""
    if isinstance(value, int) or point(figure_cell(value)) is None:
        return value if isinstance(value, int) else None
    return Column("", "", decimals).show(value)
