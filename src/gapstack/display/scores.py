"""Tables of scores, and the report of ``gap score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gapstack.display.render import WIDTH, Cell, Column, Section, Table, metric_column
from gapstack.errors import printable
from gapstack.evaluation import GapScores, Interval, Scores, metrics_in

ScoreRow = tuple[str, Scores] | tuple[str, Scores, Mapping[str, Cell]]
"""Name, scores, and optional further cells by column title."""


def scores_table(
    sections: Mapping[str, Sequence[ScoreRow]],
    *,
    title: str = "",
    caption: str = "",
    degenerate: Mapping[str, Mapping[str, Scores]] | None = None,
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] | None = None,
    metrics: Sequence[str] = metrics_in("score"),
    name_title: str = "member",
) -> Table:
    """Compare members, a stack and constant baselines in one table.

    Parameters
    ----------
    sections : mapping of section title to rows
        A row is ``(name, scores)`` or ``(name, scores, extra)``; the columns of ``extra`` follow the metrics.
    degenerate : mapping of section title to the result of ``degenerate_scores``, optional
        Rows at the end of their section, never marked as best.
    intervals : mapping of section title to name to metric to interval, optional
        They replace the plain scores.
    metrics : sequence of str
        Keys of :data:`gapstack.evaluation.METRICS`, in order.
    """
    columns = {name: metric_column(name) for name in metrics}
    parts: list[Section] = []
    for section_title, rows in sections.items():
        aside = (degenerate or {}).get(section_title, {})
        own = (intervals or {}).get(section_title, {})
        cells: list[tuple[str, Mapping[str, Cell]]] = []
        for name, scores, *rest in [*rows, *aside.items()]:
            extra: Mapping[str, Cell] = rest[0] if rest else {}
            for key in extra:
                columns.setdefault(key, Column(key, key, decimals=1))
            plain = {metric: scores.value(metric) for metric in metrics}
            cells.append((name, {**plain, **own.get(name, {}), **extra}))
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
    heading = f"{printable(scores.data)}: {scores.n} rows, {scores.label_set} labels\n"
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
    name: str,
    scores: Scores,
    degenerate: Mapping[str, Scores] | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything in :func:`gap_report`, unrounded, for JSON."""
    return {
        "name": name,
        **scores.as_dict(),
        "notes": list(notes),
        "degenerate": {row: found.as_dict() for row, found in (degenerate or {}).items()},
    }
