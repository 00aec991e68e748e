"""Reports: tables and notes that are printed, or written as Markdown, JSON and further files; tables of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.display.render import WIDTH, Cell, Column, Section, Table, metric_column
from gapstack.errors import counted, printable
from gapstack.evaluation import GapScores, Interval, Scores, metrics_in
from gapstack.files import write_json, write_text


@dataclass(frozen=True)
class Report:
    """Paragraphs, tables and notes, in this order.

    ``data`` is for JSON, by default the ``title`` and the tables' cells; ``files`` has plots and others by name.
    """

    name: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    data: Mapping[str, Any] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    lead: Sequence[str] = ()
    title: str = ""

    @property
    def parts(self) -> list[Table | str]:
        """The parts as :func:`~gapstack.display.render.print_parts` prints them."""
        lead, notes = (["\n".join(lines)] if lines else [] for lines in (self.lead, self.notes))
        return [*lead, *self.tables, *notes]

    @property
    def record(self) -> Any:
        """The data for ``json.dumps``."""
        if self.data is not None:
            return plain(self.data)
        tables = [table.json() for table in self.tables]
        return {"paper": self.title or self.name, "tables": tables, "notes": list(self.notes)}

    def markdown(self) -> str:
        """The report as GitHub Markdown."""
        lead, notes = ("".join(f"- {line}\n" for line in lines) for lines in (self.lead, self.notes))
        return "\n".join(filter(None, [lead, *(table.markdown() for table in self.tables), notes]))

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md``, ``NAME.json`` and ``files`` to ``folder``; return their paths."""
        paths = [Path(folder) / name for name in (f"{self.name}.md", f"{self.name}.json", *self.files)]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.record)
        for path, text in zip(paths[2:], self.files.values(), strict=True):
            write_text(path, text)
        return paths


def plain(value: Any) -> Any:
    """Nested values for JSON: mappings for intervals and other named tuples, lists for arrays, null for NaN."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and isnan(value) else value


def scores_table(
    sections: Mapping[str, Sequence[tuple[str, Scores]]],
    *,
    title: str = "",
    caption: str = "",
    degenerate: Mapping[str, Mapping[str, Scores]] | None = None,
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] | None = None,
    extra: Mapping[str, Mapping[str, Cell]] | None = None,
    metrics: Sequence[str] | None = None,
    name_title: str = "member",
) -> Table:
    """Compare members, a stack and constant baselines in one table.

    ``sections`` are pairs of name and scores by section title. ``degenerate`` has the result of ``degenerate_scores``
    by section, for rows at its end that are never the best; ``intervals`` by section, name and metric replace plain
    scores; ``extra`` has further cells by name and column title, after the ``metrics`` (default: those of tables of
    scores).
    """
    metrics = metrics_in("score") if metrics is None else metrics
    columns = {name: metric_column(name) for name in metrics}
    parts: list[Section] = []
    for section_title, rows in sections.items():
        aside = (degenerate or {}).get(section_title, {})
        own = (intervals or {}).get(section_title, {})
        cells: list[tuple[str, Mapping[str, Cell]]] = []
        for name, scores in [*rows, *aside.items()]:
            further = (extra or {}).get(name, {})
            columns |= {key: Column(key, key, decimals=1) for key in further}
            plain = {metric: scores.value(metric) for metric in metrics}
            cells.append((name, {**plain, **own.get(name, {}), **further}))
        parts.append(Section(section_title, cells, aside=frozenset(aside)))
    return Table(list(columns.values()), parts, title=title, caption=caption, name_title=name_title)


def scorecard(gap: GapScores) -> str:
    """The exact output of the official scorer, for scripts that parse it.

    Neutral pronouns, which the official scorer refuses, have lines only if there are any.
    """
    lines = []
    for group, counts in gap.groups.items():
        lines += [
            f"{group.capitalize()} recall: {counts.recall:.1f} precision: {counts.precision:.1f} f1: {counts.f1:.1f}",
            f"\t\ttp {counts.tp}\tfp {counts.fp}",
            f"\t\tfn {counts.fn}\ttn {counts.tn}",
        ]
    lines.append(f"Bias (F/M): {'-' if gap.bias is None else f'{gap.bias:.2f}'}")
    return "\n".join(lines) + "\n"


def gap_report(
    name: str,
    scores: Scores,
    degenerate: Mapping[str, Scores] | None = None,
    notes: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """Report of ``gap score``: the official scorecard, notes, and all scores next to constant baselines."""
    heading = f"{printable(scores.data)}: {counted(scores.n, 'row')}, {scores.label_set} labels\n"
    table = scores_table({"": [(name, scores)]}, degenerate={"": degenerate or {}}, name_title="predictions")
    remarks = [f"Note: {note}." for note in notes]
    if scores.double_true:
        remarks.append(
            f"Warning: {scores.double_true} of {scores.n} rows are TRUE for both names, "
            "which is never right in GAP and raises F1."
        )
    lines = "".join(f"{printable(remark)}\n" for remark in remarks)
    return "\n".join([heading, scorecard(scores.gap), *([lines] if lines else []), table.text(width)])


def gap_record(
    name: str, scores: Scores, degenerate: Mapping[str, Scores] | None = None, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything in :func:`gap_report`, unrounded, for JSON."""
    return {
        "name": name,
        **scores.as_dict(),
        "notes": list(notes),
        "degenerate": {row: found.as_dict() for row, found in (degenerate or {}).items()},
    }
