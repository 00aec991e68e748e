"""An audit as tables, text, JSON and files: the verdict, the headlines, every panel, the plots and the model card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.plots import regression_svg
from gapstack.audits.published import PAPERS, published
from gapstack.audits.run import CAUTION, MARK, Audit
from gapstack.audits.suite import Headline, Panel
from gapstack.data.datasets import DATASETS
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

    def show(self, system: str) -> str | None:
        """A system's figure as text; None if it has none."""
        text = self.column.show(self.figures.get(system))
        return None if text == "-" else text


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
    for covered in found.covered:
        panels = {panel.key: panel for panel in covered.findings.panels}

        def figure(panel: str, key: str, panels: Mapping[str, Panel] = panels) -> HeadlineFigure:
            (column,) = (each for each in panels[panel].measures if each.key == key)
            return HeadlineFigure(column, {name: row.get(key) for name, row in panels[panel].rows.items()})

        for headline in covered.findings.headlines:
            apart = figure(*headline.apart) if headline.apart else None
            yield HeadlineFigures(covered.suite.name, headline, figure(*headline.good), apart)


def differs(value: Cell, even: float = 0.0) -> bool | None:
    """True if a figure is not ``even``: by its test where it has one, else by its 95% interval.

    None without either, or without a value.
    """
    if not isinstance(value, Interval | Difference) or np.isnan(value[:3]).any():
        return None
    if isinstance(value, Difference):
        return value.p < 0.05
    return not value.low <= even <= value.high


def verdict(found: Audit, *, alike: bool = True) -> list[str]:
    """Suites that show a difference between the genders and, if ``alike``, the others, for each system.

    Systems with the same verdict share a sentence.
    """
    lines = [line for line in headlines(found) if line.apart]
    systems: dict[str, list[str]] = {}
    for system in each_once(*(line.good.figures for line in lines)):
        different: list[str] = []
        others: list[str] = []
        for line in lines:
            assert line.apart is not None
            what = f"{line.headline.title} ({line.apart.column.title} {line.apart.show(system)})"
            outcome = line.differs(system)
            if outcome is not None:
                (different if outcome else others).append(what)
        sentence = (
            f"a clear difference between the genders in {len(different)} of {len(different) + len(others)} suites"
            + (f": {'; '.join(different)}." if different else ", which can show bias and never its absence.")
            + (f" None that is clear: {'; '.join(others)}." if alike and others and different else "")
        )
        systems.setdefault(sentence, []).append(system)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in systems.items()]


def headline_table(found: Audit) -> Table | None:
    """Headlines: for one system a row per suite, with intervals; for several a row per system."""
    lines = list(headlines(found))
    if not lines:
        return None
    if len(found.systems) == 1:
        (system,) = lines[0].good.figures

        def labelled(title: str, figure: HeadlineFigure | None) -> str | None:
            shown = figure and figure.show(system)
            return f"{title} {shown}" if shown else None

        rows: list[tuple[str, dict[str, Cell]]] = [
            (
                line.headline.title,
                {
                    "good": labelled(line.headline.score, line.good),
                    "apart": labelled(line.apart.column.title if line.apart else "", line.apart),
                },
            )
            for line in lines
        ]
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
        lines.append(
            f"Probabilities are averaged over test-time augmentations of the rows: {', '.join(found.average)}."
        )
    for covered in found.covered:
        suite = covered.suite
        lines.append(
            f"{suite.name} ({suite.paper}; {DATASETS[suite.dataset].licence}): {covered.items.describe()}."
        )
        if covered.remark:
            lines.append(f"{suite.name}: {covered.remark}.")
        if covered.marked:
            lines.append(
                f"{suite.name}: {', '.join(covered.marked)} trained on data that share rows with it "
                f"(marked {MARK}): those figures measure neither fairness nor accuracy."
            )
    for name, systems in found.refused.items():
        lines.append(
            f"{name}: {', '.join(systems)} excluded, trained on data that share rows with it "
            "(--allow-contaminated includes them)."
        )
    for reason in dict.fromkeys(found.not_covered.values()):
        names = [name for name, own in found.not_covered.items() if own == reason]
        lines.append(f"Not covered: {', '.join(names)}: {reason}.")
    quoted = [PAPERS[covered.suite.name] for covered in found.covered if covered.suite.name in PAPERS]
    lines += filter(None, [papers_note(*quoted)])
    lines.append("Brackets hold 95% intervals (groups of rows resampled); p is two-sided.")
    lines.append(
        "Made with " + ", ".join(f"{name} {version}" for name, version in found.versions.items()) + "."
    )
    return [printable(line) for line in (*lines, CAUTION)]


def audit_json(found: Audit) -> dict[str, Any]:
    """Unrounded figures and the model card, for ``json.dumps``."""
    return {
        "target": found.target,
        "note": found.note,
        "systems": list(found.systems),
        "average": list(found.average),
        "verdict": verdict(found),
        "headlines": [
            {
                "title": line.headline.title,
                "score": line.headline.score,
                "good": _plain(line.good.figures),
                "apart": line.apart and _plain(line.apart.figures),
            }
            for line in headlines(found)
        ],
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
                "remark": covered.remark,
                "panels": {
                    panel.key: {
                        "title": panel.title,
                        "note": panel.note,
                        "measures": [measure.key for measure in panel.measures],
                        "rows": _plain(panel.rows),
                        "published": published(panel.key),
                    }
                    for panel in covered.findings.panels
                },
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


def _plain(value: Any) -> Any:
    """Figures as JSON: null for missing values."""
    if isinstance(value, Interval | Difference):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
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
