"""An audit as one self-contained web page: verdict and headlines first, then suites, pairs and the model card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.plots import regression_svg
from gapstack.audits.report import HeadlineFigures, headlines, panel_table, verdict
from gapstack.audits.run import CAUTION, MARK, Audit
from gapstack.audits.winogender import pairs
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
    data = page_data(found)
    suites = [
        {
            "covered": covered,
            "id": f"suite-{covered.suite.name}",
            "licence": covered.suite.licence,
            "tables": [panel_table(panel) for panel in covered.findings.panels if not panel.detail],
            "details": [panel_table(panel) for panel in covered.findings.panels if panel.detail],
            "figures": [
                regression_svg(plot, name) for plot in covered.findings.scatters for name in plot.series
            ],
        }
        for covered in found.covered
    ]
    parts = [("headlines", "Overview"), *((f"suite-{c.suite.name}", c.suite.name) for c in found.covered)]
    refused = [(name, {"systems": ", ".join(each)}) for name, each in found.refused.items()]
    not_covered = [(name, {"reason": reason}) for name, reason in found.not_covered.items()]
    trained = Column("systems", "systems trained on data that share rows with it")
    return render(
        "gapstack.audits",
        data,
        ["page.js"],
        title=f"Bias audit of {found.target}",
        parts=[*parts, *([("pairs", "Pairs")] if data["pairs"] else []), ("card", "Model card")],
        found=found,
        verdict=verdict(found, alike=len(found.systems) == 1),
        headlines=_headline_tables(found),
        suites=suites,
        pairs=bool(data["pairs"]),
        refused=Table([trained], [Section("", refused)], name_title="suite"),
        not_covered=Table([Column("reason", "why")], [Section("", not_covered)], name_title="not covered"),
        links={
            _row_name(line, system): f"#suite-{line.suite}"
            for line in headlines(found)
            for system in line.good.figures
        },
        mark=MARK,
        caution=CAUTION,
    )


def page_data(found: Audit) -> dict[str, Any]:
    """Data of the page's script: systems, the stack first, and Winogender's pairs of sentences, which differ in gender.

    A pair is ``[sentence, label, masculine, feminine]``, each side ``[text, pronoun, a, b, answers]`` with spans in
    UTF-16 units and one answer (0 for A, 1 for B, 2 for neither) for each system.
    """
    covered = next((each for each in found.covered if each.suite.name == "winogender"), None)
    if covered is None:
        return {"systems": [], "pairs": []}
    items, systems = covered.items, _stack_first(covered.answers)
    choices = np.array([answers(covered.answers[name]) for name in systems])

    def side(row: int) -> list[Any]:
        example = items.corpus[row]
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
    """One system: a row for each suite. Several: a row for each, first those that differ in the fewest suites."""
    lines = list(headlines(found))
    if not lines:
        return []
    rows: list[tuple[str, dict[str, Cell]]] = []
    if len(found.systems) == 1:
        for line in lines:
            for system, figure in line.good.figures.items():
                shown = _VERDICTS[line.differs(system)]
                good, apart = page_cell(line.good.column, figure), _gap_cell(line, system)
                if line.apart:
                    apart = replace(apart, note=f"{apart.note} {line.apart.column.title}".strip())
                cells: dict[str, Cell] = {
                    "verdict": StyledCell(shown, shown, "clear" if line.differs(system) else ""),
                    "apart": apart,
                    "good": replace(good, note=f"{good.note} {line.headline.score}".strip()),
                }
                rows.append((_row_name(line, system), cells))
        titles = {"verdict": "verdict", "apart": "gender difference", "good": "score"}
        return [Table([Column(*each) for each in titles.items()], [Section("", rows)], name_title="suite")]
    apart_lines = [line for line in lines if line.apart is not None]
    outcomes = {
        system: [outcome for line in apart_lines if (outcome := line.differs(system)) is not None]
        for system in _stack_first(each_once(*(line.good.figures for line in lines)))
    }
    ranked = sorted(outcomes, key=lambda system: sum(outcomes[system]))
    columns, score_columns = [Column("clear", "clear differences")], []
    for line in lines:
        title = line.headline.title
        score_columns.append(Column(title, line.headline.score, group=title))
        columns += [Column(title, line.apart.column.title, group=title)] if line.apart else []
    for system in ranked:
        count = sum(outcomes[system])
        gaps = {line.headline.title: _gap_cell(line, system) for line in apart_lines}
        rows.append((system, {"clear": StyledCell(f"{count} of {len(outcomes[system])}", count), **gaps}))
    scores: dict[str, dict[str, Cell]] = {system: {} for system in ranked}
    for (system, cells), line in product(scores.items(), lines):
        cells[line.headline.title] = page_cell(line.good.column, line.good.figures.get(system))
    title = "Differences between the genders"
    return [
        Table(columns, [Section("", rows)], title, name_title="system"),
        Table(score_columns, [Section("", list(scores.items()))], "Scores", name_title="system"),
    ]


def _stack_first(systems: Iterable[str]) -> list[str]:
    return sorted(systems, key=lambda name: name.removesuffix(MARK) != STACK)


def _row_name(line: HeadlineFigures, system: str) -> str:
    return line.headline.title + (f" ({system})" if system.endswith(MARK) else "")


def _gap_cell(line: HeadlineFigures, system: str) -> StyledCell:
    """The gap between the genders, red where it differs."""
    if line.apart is None:
        return StyledCell("-")
    cell = page_cell(line.apart.column, line.apart.figures.get(system))
    return replace(cell, kind="clear" if line.differs(system) else "")
