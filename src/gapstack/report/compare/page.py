"""The comparison as one self-contained web page: sortable tables, plots, and a browser of examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gapstack.comparison.entries import Entry
from gapstack.comparison.measurements import Comparison
from gapstack.comparison.strata import STRATA
from gapstack.files import write_text
from gapstack.report.compare.plots import plots, rounded
from gapstack.report.compare.tables import tables, warnings
from gapstack.report.render import Cell, Column, Table
from gapstack.report.web import WebCell, WebRow, WebTable, render, utf16
from gapstack.scoring import answers

_SCALE = 1000  # probabilities go out as whole thousandths


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page to ``path``, atomically."""
    write_text(path, page(comparison))


def page(comparison: Comparison) -> str:
    """The page as HTML."""
    shown = [table for table in tables(comparison) if not table.title.startswith("slices:")]
    return render(
        "gapstack.report.compare",
        page_data(comparison),
        ["page.js", "plots.js"],
        title=f"{comparison.rows.name}: {len(comparison.entries)} members compared",
        parts=[("tables", "Tables"), ("plots", "Plots"), ("slices-of", "Slices"), ("examples", "Examples")],
        comparison=comparison,
        pages=len(set(comparison.rows.groups)),
        warnings=warnings(comparison)[0],
        tables=[_table(table) for table in shown],
    )


def page_data(comparison: Comparison) -> dict[str, Any]:
    """Data of the page's script: members, dimensions, slices, plots and every example.

    An example is ``[id, url, text, pronoun, a, b, labels, values, answers, trust]``: spans as offsets in UTF-16
    units, as JavaScript counts; one label for each label set; one place in its dimension's values for each dimension;
    for each member thousandths of A and of B, or the two decisions of one without probabilities, and its answer (-1 for
    none); and the quality of the label in thousandths.
    """
    dimensions = {name: values for name, values in comparison.dimensions.items() if name != "rows"}
    listed = {
        name: [part.value for part in comparison.slices if part.dimension == name] for name in dimensions
    }
    places = [
        [listed[name].index(value) if value else -1 for value in values.tolist()]
        for name, values in dimensions.items()
    ]
    choices = [_answers(entry) for entry in comparison.entries]
    labels = np.array(list(comparison.labels.values())).T.tolist()
    trust = (
        None
        if comparison.label_errors is None
        else np.round(_SCALE * comparison.label_errors.quality).astype(int).tolist()
    )
    examples = [
        [
            example.id,
            example.url or "",
            example.text,
            *(utf16(example.text, span) for span in (example.pronoun, example.a, example.b)),
            labels[row],
            [each[row] for each in places],
            [each[row] for each in choices],
            None if trust is None else trust[row],
        ]
        for row, example in enumerate(comparison.rows)
    ]
    return {
        "members": [
            {"name": entry.name, "soft": entry.answers.probabilities is not None}
            for entry in comparison.entries
        ],
        "labelSets": list(comparison.scores),
        "dimensions": [
            {"name": name, "title": STRATA[name].title if name in STRATA else name, "values": listed[name]}
            for name in dimensions
        ],
        "slices": [
            {
                "dimension": part.dimension,
                "value": part.value,
                "rows": part.rows,
                "scores": {key: rounded(values) for key, values in part.scores.items()},
            }
            for part in comparison.slices
        ],
        "plots": plots(comparison),
        "examples": examples,
    }


def _answers(entry: Entry) -> list[list[int]]:
    found = entry.answers
    if found.probabilities is None:
        given = found.decided & found.answered
        # neither both names nor silence is an answer
        valid = found.answered.all(axis=1) & ~given.all(axis=1)
        choice = np.where(valid, np.select([given[:, 0], given[:, 1]], [0, 1], default=2), -1)
        return np.column_stack([given.astype(int), choice]).tolist()
    soft = np.round(_SCALE * found.probabilities[:, :2]).astype(int)
    return np.column_stack([soft, answers(found.probabilities)]).tolist()


def _table(table: Table) -> WebTable:
    """A table for the page, its best cells emphasised."""
    return WebTable(
        [table.name_title, *(column.title for column in table.columns)],
        [
            WebRow(
                name,
                [_shown(column, cells.get(column.key), section.best(column)) for column in table.columns],
            )
            for section in table.sections
            for name, cells in section.rows
        ],
        table.sections[0].title or table.title,
        table.caption,
    )


def _shown(column: Column, cell: Cell, best: Cell) -> WebCell:
    return WebCell(column.show(cell), cell, "best" if cell is not None and cell == best else "")
