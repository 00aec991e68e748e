"""An audit as tables, text, JSON and files: the verdict, the headlines, every panel, the plots and the model card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.plots import regression_svg
from gapstack.audits.published import PAPERS, published
from gapstack.audits.run import CAUTION, MARK, Audit, SuiteAudit
from gapstack.audits.suite import Headline, Panel
from gapstack.data.sources import papers_note
from gapstack.display.render import Cell, Column, Section, Table, point, text_of
from gapstack.errors import printable
from gapstack.evaluation import Difference, Interval
from gapstack.files import write_json, write_text
from gapstack.members.member import each_once


@dataclass(frozen=True)
class HeadlineFigure:
    """A measure and its figure for each system that was measured."""

    column: Column
    figures: Mapping[str, Cell]

    def show(self, system: str, title: str = "") -> str | None:
        """A system's figure as text after the title; None if it has none."""
        text = self.column.show(self.figures.get(system))
        return None if text == "-" else f"{title} {text}".strip()


@dataclass(frozen=True)
class HeadlineFigures:
    """A headline of a suite with its figures; :attr:`apart` is None for suites of one gender."""

    suite: str
    headline: Headline
    good: HeadlineFigure
    apart: HeadlineFigure | None

    def differs(self, system: str) -> bool | None:
        """True if the gender difference is significant, None if that is unknown."""
        return None if self.apart is None else differs(self.apart.figures.get(system), self.headline.even)


def headlines(found: Audit) -> Iterator[HeadlineFigures]:
    """Headlines of the suites that were run, in their order."""

    def figure(covered: SuiteAudit, key: str, measure: str) -> HeadlineFigure:
        (panel,) = (panel for panel in covered.findings.panels if panel.key == key)
        (column,) = (column for column in panel.measures if column.key == measure)
        return HeadlineFigure(column, {name: row.get(measure) for name, row in panel.rows.items()})

    for covered in found.covered:
        for headline in covered.findings.headlines:
            apart = figure(covered, *headline.apart) if headline.apart else None
            yield HeadlineFigures(covered.suite.name, headline, figure(covered, *headline.good), apart)


def differs(value: Cell, even: float = 0.0) -> bool | None:
    """True if a figure is not ``even``: by its test where it has one, else by its 95% interval.

    None without either, or without a value.
    """
    if not isinstance(value, Interval | Difference) or np.isnan(value[:3]).any():
        return None
    return value.p < 0.05 if isinstance(value, Difference) else not value.low <= even <= value.high


def verdict(found: Audit, *, alike: bool = True) -> list[str]:
    """Suites that show a difference between the genders and, if ``alike``, the others, for each system.

    Systems with the same verdict share a sentence.
    """
    lines = [line for line in headlines(found) if line.apart]
    systems: dict[str, list[str]] = {}
    for system in each_once(*(line.good.figures for line in lines)):
        suites: dict[bool | None, list[str]] = {True: [], False: [], None: []}
        for line in lines:
            shown = line.apart and line.apart.show(system, line.apart.column.title)
            suites[line.differs(system)].append(f"{line.headline.title} ({shown})")
        different, others = suites[True], suites[False]
        sentence = (
            f"a clear difference between the genders in {len(different)} of {len(different + others)} suites"
        )
        sentence += (
            f": {'; '.join(different)}." if different else ", which can show bias and never its absence."
        )
        if alike and others and different:
            sentence += f" None that is clear: {'; '.join(others)}."
        systems.setdefault(sentence, []).append(system)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in systems.items()]


def headline_table(found: Audit) -> Table | None:
    """Headlines: for one system a row per suite, with intervals; for several a row per system."""
    lines = list(headlines(found))
    if not lines:
        return None
    rows: list[tuple[str, dict[str, Cell]]] = []
    if len(found.systems) == 1:
        (system,) = lines[0].good.figures
        for line in lines:
            cells: dict[str, Cell] = {"good": line.good.show(system, line.headline.score)}
            if line.apart:
                cells["apart"] = line.apart.show(system, line.apart.column.title)
            rows.append((line.headline.title, cells))
        columns = [Column("good", "score", 1), Column("apart", "gender difference", 1)]
        return Table(columns, [Section("", rows)], title="In short", name_title="suite")
    columns, figures = [], {}
    for number, line in enumerate(lines):
        parts = [("good", line.headline.score, line.good)]
        parts += [("apart", line.apart.column.title, line.apart)] if line.apart else []
        for key, title, figure in parts:
            name = f"{number}.{key}"
            columns.append(Column(name, title, figure.column.decimals, group=line.headline.title))
            figures[name] = figure.figures
    rows = [
        (system, {key: point(by_system.get(system)) for key, by_system in figures.items()})
        for system in each_once(*figures.values())
    ]
    return Table(columns, [Section("", rows)], title="In short", name_title="system")


def panel_table(panel: Panel) -> Table:
    """A panel as a table, the papers' figures below ours."""
    sections = [Section("", list(panel.rows.items()))]
    if theirs := published(panel.key):
        sections.append(Section("published", list(theirs.items()), aside=frozenset(theirs)))
    return Table(panel.measures, sections, title=panel.title, caption=panel.note, name_title="system")


def audit_tables(found: Audit, *, details: bool = False) -> list[Table]:
    """The panels of all suites as tables."""
    panels = [panel for covered in found.covered for panel in covered.findings.panels]
    return [panel_table(panel) for panel in panels if details or not panel.detail]


def audit_parts(found: Audit, *, details: bool = False) -> list[Table | str]:
    """The report in its order: the verdict, the headlines, the tables, the model card."""
    parts = ["\n".join(verdict(found)), headline_table(found), *audit_tables(found, details=details)]
    return [*(part for part in parts if part), "\n".join(card_lines(found))]


def audit_text(found: Audit, *, details: bool = False) -> str:
    """The report as plain text."""
    return text_of(audit_parts(found, details=details))


def card_lines(found: Audit) -> list[str]:
    """The model card as paragraphs: target, data, what was not covered, and the caution."""
    lines = [f"Bias audit of {found.target}" + (f": {found.note}." if found.note else ".")]
    if found.average:
        augmentations = ", ".join(found.average)
        lines.append(f"Probabilities are averaged over test-time augmentations of the rows: {augmentations}.")
    for covered in found.covered:
        name, licence = covered.suite.name, covered.suite.licence
        lines.append(f"{name} ({covered.suite.paper}; {licence}): {covered.items.describe()}.")
        if covered.remark:
            lines.append(f"{name}: {covered.remark}.")
        if covered.marked:
            lines.append(
                f"{name}: {', '.join(covered.marked)} trained on data that share rows with it "
                f"(marked {MARK}): those figures measure neither fairness nor accuracy."
            )
    lines += [
        f"{name}: {', '.join(systems)} excluded, trained on data that share rows with it "
        "(--allow-contaminated includes them)."
        for name, systems in found.refused.items()
    ]
    for reason in dict.fromkeys(found.not_covered.values()):
        names = [name for name, own in found.not_covered.items() if own == reason]
        lines.append(f"Not covered: {', '.join(names)}: {reason}.")
    quoted = [PAPERS[covered.suite.name] for covered in found.covered if covered.suite.name in PAPERS]
    lines += filter(None, [papers_note(*quoted)])
    lines.append("Brackets hold 95% intervals (groups of rows resampled); p is two-sided.")
    lines.append(f"Made with {found.made_with}.")
    return [printable(line) for line in (*lines, CAUTION)]


def audit_json(found: Audit) -> dict[str, Any]:
    """Unrounded figures and the model card, for ``json.dumps``."""
    record = {
        "target": found.target,
        "note": found.note,
        "systems": found.systems,
        "average": found.average,
        "verdict": verdict(found),
        "headlines": [
            {
                "title": line.headline.title,
                "score": line.headline.score,
                "good": line.good.figures,
                "apart": line.apart and line.apart.figures,
            }
            for line in headlines(found)
        ],
        "suites": {covered.suite.name: _suite_json(covered) for covered in found.covered},
        "refused": found.refused,
        "not_covered": found.not_covered,
        "versions": found.versions,
        "caution": CAUTION,
    }
    return {key: _plain(part) for key, part in record.items()}


def _suite_json(covered: SuiteAudit) -> dict[str, Any]:
    items = covered.items
    return {
        "title": covered.suite.title,
        "paper": covered.suite.paper,
        "version": items.version,
        "rows": len(items.corpus),
        "fingerprint": items.corpus.fingerprint,
        "skipped": items.skipped,
        "note": items.note,
        "marked": covered.marked,
        "remark": covered.remark,
        "panels": {
            panel.key: {
                "title": panel.title,
                "note": panel.note,
                "measures": [measure.key for measure in panel.measures],
                "rows": panel.rows,
                "published": published(panel.key),
            }
            for panel in covered.findings.panels
        },
        "plots": {
            plot.key: {"title": plot.title, "names": plot.names, "series": plot.series}
            for plot in covered.findings.scatters
        },
    }


def _plain(value: Any) -> Any:
    """Values as JSON: null for missing ones."""
    if isinstance(value, Interval | Difference):
        value = value._asdict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def write_audit(found: Audit, folder: Path) -> list[Path]:
    """Write ``audit.txt`` (with details), ``audit.json`` and the plots as SVG to ``folder``; return their paths."""
    paths = [Path(folder) / "audit.txt", Path(folder) / "audit.json"]
    write_text(paths[0], audit_text(found, details=True))
    write_json(paths[1], audit_json(found))
    for plot in (plot for covered in found.covered for plot in covered.findings.scatters):
        paths.append(Path(folder) / f"{plot.key}.svg")
        write_text(paths[-1], regression_svg(plot))
    return paths
