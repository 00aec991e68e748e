"""An audit as one self-contained web page: headlines, tables, figures, Winogender's pairs and the model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit import CAUTION, MARK, Audit, Measure, Panel, Scatter, SuiteAudit
from gapstack.audit.suite import Value
from gapstack.audit.winogender import pairs
from gapstack.corpus import Example
from gapstack.corpus.datasets import DATASETS
from gapstack.files import write_text
from gapstack.report.audit.headlines import Line, differs, lines
from gapstack.report.audit.published import published
from gapstack.report.regression import regression_svg
from gapstack.report.web import WebCell, WebRow, WebTable, render, utf16
from gapstack.scoring import Difference, Interval
from gapstack.scoring.metrics import answers

_LEAST_P = 0.001  # the tests permute two thousand times
_VERDICTS = {True: "differs", False: "no clear difference", None: "-"}


def write_page(found: Audit, path: Path) -> None:
    """Write the page to ``path``, atomically."""
    write_text(path, page(found))


def page(found: Audit) -> str:
    """The page as HTML."""
    suites = [_suite(covered) for covered in found.covered]
    data = page_data(found)
    return render(
        "gapstack.report.audit",
        data,
        ["page.js"],
        title=f"Bias audit of {found.target}",
        parts=[
            ("headlines", "In short"),
            *((suite["id"], suite["title"]) for suite in suites),
            *([("pairs", "Pairs")] if data["pairs"] else []),
            ("card", "Model card"),
        ],
        found=found,
        headlines=_headlines(found),
        suites=suites,
        pairs=bool(data["pairs"]),
        refused=WebTable(
            ["suite", "systems trained on data that share rows with it"],
            [WebRow(name, [WebCell(", ".join(systems))]) for name, systems in found.refused.items()],
        ),
        not_covered=WebTable(
            ["not covered", "why"],
            [WebRow(name, [WebCell(reason)]) for name, reason in found.not_covered.items()],
        ),
        versions=", ".join(f"{name} {version}" for name, version in found.versions.items()),
        mark=MARK,
        caution=CAUTION,
    )


def page_data(found: Audit) -> dict[str, Any]:
    """Data of the page's script: systems, and Winogender's pairs of a masculine and a feminine sentence.

    A pair is ``[sentence, label, masculine, feminine]``, each side ``[text, pronoun, a, b, answers]`` with spans in
    UTF-16 units and one answer (0 for A, 1 for B, 2 for neither) for each system.
    """
    for covered in found.covered:
        if covered.suite.name == "winogender":
            choices = np.array([answers(p) for p in covered.answers.values()])
            return {
                "systems": list(covered.answers),
                "pairs": [
                    [
                        str(covered.items.facts["sentence"][masculine]),
                        int(covered.items.corpus.labels[masculine]),
                        *(
                            _side(covered.items.corpus[row], choices[:, row].tolist())
                            for row in (masculine, feminine)
                        ),
                    ]
                    for masculine, feminine in pairs(covered.items).tolist()
                ],
            }
    return {"systems": [], "pairs": []}


def _side(example: Example, choices: Sequence[int]) -> list[Any]:
    spans = (utf16(example.text, span) for span in (example.pronoun, example.a, example.b))
    return [example.text, *spans, list(choices)]


def _headlines(found: Audit) -> list[WebTable]:
    """One system: a row for each suite. Several: a row for each system, first of differences, then of scores."""
    headlines = list(lines(found))
    if not headlines:
        return []
    if len(found.systems) == 1:
        rows = [_headline(line, system) for line in headlines for system in line.good.figures]
        return [WebTable(["suite", "score", "gender difference", "verdict"], rows)]
    systems = list(dict.fromkeys(system for line in headlines for system in line.good.figures))
    apart = [line for line in headlines if line.apart is not None]
    return [
        WebTable(
            [
                "system",
                *(f"{line.headline.title}: {line.apart.measure.title}" for line in apart if line.apart),
            ],
            [WebRow(system, [_apart(line, system) for line in apart]) for system in systems],
            "Gender differences",
        ),
        WebTable(
            ["system", *(f"{line.headline.title}: {line.headline.score}" for line in headlines)],
            [
                WebRow(
                    system,
                    [_cell(line.good.figures.get(system), line.good.measure.decimals) for line in headlines],
                )
                for system in systems
            ],
            "Scores",
        ),
    ]


def _headline(line: Line, system: str) -> WebRow:
    good = _cell(line.good.figures[system], line.good.measure.decimals, line.headline.score)
    verdict = line.differs(system)
    return WebRow(
        line.headline.title + (f" ({system})" if system.endswith(MARK) else ""),
        [
            good,
            _apart(line, system, named=True),
            WebCell(_VERDICTS[verdict], kind="clear" if verdict else ""),
        ],
    )


def _apart(line: Line, system: str, *, named: bool = False) -> WebCell:
    if line.apart is None:
        return WebCell("-")
    measure = line.apart.measure
    cell = _cell(line.apart.figures.get(system), measure.decimals, measure.title if named else "")
    return WebCell(cell.text, cell.value, "clear" if line.differs(system) else "", cell.note)


def _suite(covered: SuiteAudit) -> dict[str, Any]:
    """Context of the template for a suite: its tables, details separately, and its figures."""
    suite = covered.suite
    shown = [(panel.detail, _table(panel)) for panel in covered.findings.panels]
    return {
        "id": f"suite-{suite.name}",
        "title": suite.title,
        "name": suite.name,
        "paper": suite.paper,
        "licence": DATASETS[suite.dataset].licence,
        "described": covered.items.describe(),
        "remark": covered.remark,
        "marked": covered.marked,
        "tables": [table for detail, table in shown if not detail],
        "details": [table for detail, table in shown if detail],
        "figures": [figure for plot in covered.findings.scatters for figure in _figures(plot)],
    }


def _figures(plot: Scatter) -> list[str]:
    """A drawing for each system on common axes, as escaped markup."""
    return [regression_svg(plot, name) for name in plot.series]


def _table(panel: Panel) -> WebTable:
    quoted = published(panel.key)
    return WebTable(
        ["system", *(measure.title for measure in panel.measures)],
        [
            *(_row(name, panel.measures, figures) for name, figures in panel.rows.items()),
            *(_row(name, panel.measures, figures, "aside") for name, figures in quoted.items()),
        ],
        panel.title,
        panel.note,
    )


def _row(
    name: str,
    measures: Sequence[Measure],
    figures: Mapping[str, Value] | Mapping[str, float],
    kind: str = "",
) -> WebRow:
    cells = []
    for measure in measures:
        value = figures.get(measure.key)
        cell = _cell(value, measure.decimals)
        clear = isinstance(value, Difference) and differs(value)
        cells.append(WebCell(cell.text, cell.value, "clear" if clear else "", cell.note))
    return WebRow(name, cells, kind)


def _cell(value: Value, decimals: int, named: str = "") -> WebCell:
    """A figure with its interval, p and name in small print, sorted by the figure."""
    if value is None or (isinstance(value, Interval | Difference | float) and np.isnan(_point(value))):
        return WebCell("-", note=named)
    notes = [named] if named else []
    if isinstance(value, Interval | Difference):
        notes.insert(0, f"[{value.low:.{decimals}f}, {value.high:.{decimals}f}]")
        if isinstance(value, Difference):
            notes.insert(1, f"p={value.p:.3f}" if value.p >= _LEAST_P else f"p<{_LEAST_P}")
    if isinstance(value, str):
        return WebCell(value, value)
    point = _point(value)
    text = str(value) if isinstance(value, int) else f"{point:.{decimals}f}"
    return WebCell(text, point, note=" ".join(notes))


def _point(value: Interval | Difference | float) -> float:
    return float(value.value if isinstance(value, Interval | Difference) else value)
