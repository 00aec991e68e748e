"""An audit as one self-contained web page: verdict and headlines first, then suites, pairs and the model card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.plots import regression_svg
from gapstack.audits.report import HeadlineFigure, HeadlineFigures, headlines, panel_table, verdict
from gapstack.audits.run import CAUTION, MARK, Audit, SuiteAudit
from gapstack.audits.winogender import pairs
from gapstack.data import Example
from gapstack.data.datasets import DATASETS
from gapstack.display.render import Cell, Column, Section, StyledCell, Table
from gapstack.display.web import page_cell, render, utf16
from gapstack.evaluation.metrics import answers
from gapstack.files import write_text
from gapstack.members.member import each_once
from gapstack.runs.folder import STACK

_VERDICTS = {True: "differs", False: "no clear difference", None: "-"}


def write_page(found: Audit, path: Path) -> None:
    """Write the page to ``path``, atomically."""
    write_text(path, page(found))


def page(found: Audit) -> str:
    """The page as HTML."""
    suites = [_suite_context(covered) for covered in found.covered]
    data = page_data(found)
    refused = [(name, {"systems": ", ".join(each)}) for name, each in found.refused.items()]
    not_covered = [(name, {"reason": reason}) for name, reason in found.not_covered.items()]
    return render(
        "gapstack.audits",
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
        headlines=_headline_tables(found),
        suites=suites,
        pairs=bool(data["pairs"]),
        refused=Table(
            [Column("systems", "systems trained on data that share rows with it")],
            [Section("", refused)],
            name_title="suite",
        ),
        not_covered=Table([Column("reason", "why")], [Section("", not_covered)], name_title="not covered"),
        links={
            _row_name(line, system): f"#suite-{line.suite}"
            for line in headlines(found)
            for system in line.good.figures
        },
        versions=", ".join(f"{name} {version}" for name, version in found.versions.items()),
        mark=MARK,
        caution=CAUTION,
    )


def page_data(found: Audit) -> dict[str, Any]:
    """Data of the page's script: systems, the stack first, and Winogender's pairs of sentences, which differ in gender.

    A pair is ``[sentence, label, masculine, feminine]``, each side ``[text, pronoun, a, b, answers]`` with spans in
    UTF-16 units and one answer (0 for A, 1 for B, 2 for neither) for each system.
    """
    winogender = [covered for covered in found.covered if covered.suite.name == "winogender"]
    if not winogender:
        return {"systems": [], "pairs": []}
    items = winogender[0].items
    systems = _stack_first(winogender[0].answers)
    choices = np.array([answers(winogender[0].answers[name]) for name in systems])

    def side(row: int) -> list[Any]:
        example: Example = items.corpus[row]
        spans = (utf16(example.text, span) for span in (example.pronoun, example.a, example.b))
        return [example.text, *spans, choices[:, row].tolist()]

    return {
        "systems": systems,
        "pairs": [
            [str(items.facts["sentence"][one]), int(items.corpus.labels[one]), side(one), side(other)]
            for one, other in pairs(items).tolist()
        ],
    }


def _headline_tables(found: Audit) -> list[Table]:
    """One system: a row for each suite. Several: a row for each, those first that differ in few suites."""
    lines = list(headlines(found))
    if not lines:
        return []
    if len(found.systems) == 1:
        columns = [
            Column("verdict", "verdict"),
            Column("apart", "gender difference"),
            Column("good", "score"),
        ]
        rows = [_headline_row(line, system) for line in lines for system in line.good.figures]
        return [Table(columns, [Section("", rows)], name_title="suite")]
    apart = [line for line in lines if line.apart is not None]
    outcomes = {
        system: [outcome for line in apart if (outcome := line.differs(system)) is not None]
        for system in _stack_first(each_once(*(line.good.figures for line in lines)))
    }
    ranked = sorted(outcomes, key=lambda system: sum(outcomes[system]))
    differences: list[tuple[str, dict[str, Cell]]] = []
    for system in ranked:
        count = sum(outcomes[system])
        clear = StyledCell(f"{count} of {len(outcomes[system])}", count)
        gaps = {line.headline.title: _gap_cell(line, system) for line in apart}
        differences.append((system, {"clear": clear, **gaps}))
    scores = [
        (system, {line.headline.title: _cell(line.good, system) for line in lines}) for system in ranked
    ]

    def columns_of(lines: Sequence[HeadlineFigures], titles: Iterable[str]) -> list[Column]:
        names = [line.headline.title for line in lines]
        return [Column(name, title, group=name) for name, title in zip(names, titles, strict=True)]

    gap_columns = columns_of(apart, [line.apart.column.title for line in apart if line.apart])
    score_columns = columns_of(lines, [line.headline.score for line in lines])
    return [
        Table(
            [Column("clear", "clear differences"), *gap_columns],
            [Section("", differences)],
            "Differences between the genders",
            name_title="system",
        ),
        Table(score_columns, [Section("", scores)], "Scores", name_title="system"),
    ]


def _stack_first(systems: Iterable[str]) -> list[str]:
    return sorted(systems, key=lambda name: name.removesuffix(MARK) != STACK)


def _headline_row(line: HeadlineFigures, system: str) -> tuple[str, dict[str, Cell]]:
    outcome = _VERDICTS[line.differs(system)]
    apart, good = _gap_cell(line, system), _cell(line.good, system)
    if line.apart:
        apart = replace(apart, note=f"{apart.note} {line.apart.column.title}".strip())
    return _row_name(line, system), {
        "verdict": StyledCell(outcome, outcome, "clear" if line.differs(system) else ""),
        "apart": apart,
        "good": replace(good, note=f"{good.note} {line.headline.score}".strip()),
    }


def _row_name(line: HeadlineFigures, system: str) -> str:
    return line.headline.title + (f" ({system})" if system.endswith(MARK) else "")


def _gap_cell(line: HeadlineFigures, system: str) -> StyledCell:
    """The gap between the genders, red where it differs."""
    if line.apart is None:
        return StyledCell("-")
    return replace(_cell(line.apart, system), kind="clear" if line.differs(system) else "")


def _cell(figure: HeadlineFigure, system: str) -> StyledCell:
    return page_cell(figure.column, figure.figures.get(system))


def _suite_context(covered: SuiteAudit) -> dict[str, Any]:
    """Context of the template for a suite: its tables, details separately, and its figures, a drawing per system."""
    suite, panels = covered.suite, covered.findings.panels
    return {
        "id": f"suite-{suite.name}",
        "title": suite.title,
        "name": suite.name,
        "paper": suite.paper,
        "licence": DATASETS[suite.dataset].licence,
        "described": covered.items.describe(),
        "remark": covered.remark,
        "marked": covered.marked,
        "tables": [panel_table(panel) for panel in panels if not panel.detail],
        "details": [panel_table(panel) for panel in panels if panel.detail],
        "figures": [regression_svg(plot, name) for plot in covered.findings.scatters for name in plot.series],
    }
