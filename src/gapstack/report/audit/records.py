"""An audit as text and JSON, its plots as SVG, and its model card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit import CAUTION, MARK, Audit, Panel
from gapstack.audit.suite import Value
from gapstack.corpus.datasets import DATASETS
from gapstack.corpus.papers import papers_note
from gapstack.errors import printable
from gapstack.files import write_json, write_text
from gapstack.report.audit.headlines import lines
from gapstack.report.audit.published import published
from gapstack.report.audit.tables import audit_tables, headline_table, verdict
from gapstack.report.regression import regression_svg
from gapstack.report.render import Table, text_of
from gapstack.scoring import Difference, Interval

_PAPERS = {"winogender": "rudinger2018", "sowinobias": "dawkins2021"}
"""Papers whose figures stand beside a suite's."""


def audit_parts(found: Audit, *, details: bool = False) -> list[Table | str]:
    """What a reader of an audit sees, in its order: the verdict, the headlines, the tables, the model card."""
    headlines = headline_table(found)
    return [
        *(["\n".join(sentences)] if (sentences := verdict(found)) else []),
        *([headlines] if headlines else []),
        *audit_tables(found, details=details),
        "\n".join(card_lines(found)),
    ]


def audit_text(found: Audit, *, details: bool = False) -> str:
    """Everything as plain text."""
    return text_of(audit_parts(found, details=details))


def card_lines(found: Audit) -> list[str]:
    """The model card as paragraphs: target, data, what was not covered, and the caution."""
    lines = [printable(f"Bias audit of {found.target}" + (f": {found.note}." if found.note else "."))]
    if found.average:
        lines.append(
            f"Probabilities are averaged over test-time augmentations of the rows: {', '.join(found.average)}."
        )
    for covered in found.covered:
        licence = DATASETS[covered.suite.dataset].licence
        lines.append(
            printable(f"{covered.suite.name} ({covered.suite.paper}; {licence}): {covered.items.describe()}.")
        )
        if covered.remark:
            lines.append(printable(f"{covered.suite.name}: {covered.remark}."))
        if covered.marked:
            lines.append(
                f"{covered.suite.name}: {', '.join(covered.marked)} trained on data that share rows with it "
                f"(marked {MARK}): those figures measure neither fairness nor accuracy."
            )
    for name, systems in found.refused.items():
        lines.append(
            f"{name}: {', '.join(systems)} excluded, trained on data that share rows with it "
            "(--allow-contaminated includes them)."
        )
    left_out: dict[str, list[str]] = {}
    for name, reason in found.not_covered.items():
        left_out.setdefault(reason, []).append(name)
    lines += [printable(f"Not covered: {', '.join(names)}: {reason}.") for reason, names in left_out.items()]
    quoted = (_PAPERS[covered.suite.name] for covered in found.covered if covered.suite.name in _PAPERS)
    if missing := papers_note(*quoted):
        lines.append(missing)
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
        "verdict": verdict(found),
        "headlines": [
            {
                "title": line.headline.title,
                "score": line.headline.score,
                "good": {name: _plain(value) for name, value in line.good.figures.items()},
                "apart": line.apart and {name: _plain(value) for name, value in line.apart.figures.items()},
            }
            for line in lines(found)
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


def _panel_json(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "note": panel.note,
        "measures": [measure.key for measure in panel.measures],
        "rows": {
            name: {key: _plain(value) for key, value in figures.items()}
            for name, figures in panel.rows.items()
        },
        "published": published(panel.key),
    }


def _plain(value: Value) -> Any:
    if isinstance(value, Interval | Difference):
        return {key: _plain(part) for key, part in value._asdict().items()}
    return None if isinstance(value, float) and np.isnan(value) else value
