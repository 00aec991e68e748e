"""An audit as one self-contained web page: verdict and headlines first, then suites, pairs and the model card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audit import CAUTION, MARK, Audit, Scatter, SuiteAudit
from gapstack.audit.winogender import pairs
from gapstack.corpus import Example
from gapstack.corpus.datasets import DATASETS
from gapstack.files import write_text
from gapstack.members.member import each_once
from gapstack.report.audit.headlines import Line, Quoted, lines
from gapstack.report.audit.tables import figure_cell, panel_table, verdict
from gapstack.report.regression import regression_svg
from gapstack.report.render import Column
from gapstack.report.web import WebCell, WebRow, WebTable, render, utf16, web_cell, web_table
from gapstack.runs.folder import STACK
from gapstack.scoring.metrics import answers

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
            ("headlines", "Overview"),
            *((suite["id"], suite["name"]) for suite in suites),
            *([("pairs", "Pairs")] if data["pairs"] else []),
            ("card", "Model card"),
        ],
        found=found,
        verdict=verdict(found, alike=len(found.systems) == 1),
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
    """Data of the page's script: systems, the stack first, and Winogender's pairs of sentences, which differ in gender.

    A pair is ``[sentence, label, masculine, feminine]``, each side ``[text, pronoun, a, b, answers]`` with spans in
    UTF-16 units and one answer (0 for A, 1 for B, 2 for neither) for each system.
    """
    for covered in found.covered:
        if covered.suite.name == "winogender":
            systems = _stack_first(covered.answers)
            choices = np.array([answers(covered.answers[name]) for name in systems])
            return {
                "systems": systems,
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
    """One system: a row for each suite. Several: a row for each, those first that differ in few suites."""
    headlines = list(lines(found))
    if not headlines:
        return []
    if len(found.systems) == 1:
        rows = [_headline(line, system) for line in headlines for system in line.good.figures]
        return [WebTable(["suite", "verdict", "gender difference", "score"], rows)]
    systems = _stack_first(each_once(*(line.good.figures for line in headlines)))
    apart = [line for line in headlines if line.apart is not None]
    outcomes = {
        system: [outcome for line in apart if (outcome := line.differs(system)) is not None]
        for system in systems
    }
    differing = {system: sum(each) for system, each in outcomes.items()}
    ranked = sorted(systems, key=differing.__getitem__)
    return [
        WebTable(
            [
                "system",
                "clear differences",
                *(f"{line.headline.title}: {line.apart.measure.title}" for line in apart if line.apart),
            ],
            [
                WebRow(
                    system,
                    [
                        WebCell(f"{differing[system]} of {len(outcomes[system])}", differing[system]),
                        *(_apart(line, system) for line in apart),
                    ],
                )
                for system in ranked
            ],
            "Differences between the genders",
        ),
        WebTable(
            ["system", *(f"{line.headline.title}: {line.headline.score}" for line in headlines)],
            [WebRow(system, [_cell(line.good, system) for line in headlines]) for system in ranked],
            "Scores",
        ),
    ]


def _stack_first(systems: Iterable[str]) -> list[str]:
    return sorted(systems, key=lambda name: name.removesuffix(MARK) != STACK)


def _headline(line: Line, system: str) -> WebRow:
    outcome = line.differs(system)
    apart = _apart(line, system)
    named = replace(apart, note=f"{apart.note} {line.apart.measure.title}".strip()) if line.apart else apart
    good = _cell(line.good, system)
    return WebRow(
        line.headline.title + (f" ({system})" if system.endswith(MARK) else ""),
        link=f"#suite-{line.suite}",
        cells=[
            WebCell(_VERDICTS[outcome], _VERDICTS[outcome], "clear" if outcome else ""),
            named,
            replace(good, note=f"{good.note} {line.headline.score}".strip()),
        ],
    )


def _apart(line: Line, system: str) -> WebCell:
    """The gap between the genders, red where it differs."""
    if line.apart is None:
        return WebCell("-")
    return replace(_cell(line.apart, system), kind="clear" if line.differs(system) else "")


def _cell(quoted: Quoted, system: str) -> WebCell:
    return web_cell(Column("", "", quoted.measure.decimals), figure_cell(quoted.figures.get(system)))


def _suite(covered: SuiteAudit) -> dict[str, Any]:
    """Context of the template for a suite: its tables, details separately, and its figures."""
    suite = covered.suite
    shown = [(panel.detail, web_table(panel_table(panel))) for panel in covered.findings.panels]
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
