"""Tables of scores, and the report of ``gap score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gapstack.errors import printable
from gapstack.report.render import WIDTH, Cell, Column, Section, Table
from gapstack.scoring import METRICS, Counts, GapScores, Interval, Scores

SCORE_COLUMNS = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy")

ScoreRow = tuple[str, Scores] | tuple[str, Scores, Mapping[str, Cell]]
"""Name, scores, and extra cells by column title (seconds, say)."""


def scores_table(
    sections: Mapping[str, Sequence[ScoreRow]],
    *,
    title: str = "",
    caption: str = "",
    degenerate: Mapping[str, Mapping[str, Scores]] | None = None,
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] | None = None,
    metrics: Sequence[str] = SCORE_COLUMNS,
    name_title: str = "member",
) -> Table:
    """Compare members, stack and degenerate rows in one table.

    Parameters
    ----------
    sections : mapping of section title to rows
        A row is ``(name, scores)`` or ``(name, scores, extra)``; ``extra`` is cells by column title, and
        its columns follow the metrics in order of first appearance. The order of rows is kept.
    title, caption : str
        Above and below the table.
    degenerate : mapping of section title to the result of ``degenerate_scores``, optional
        Rows added at the end of their section, outside the contest for the best cell.
    intervals : mapping of section title to mapping of name to intervals by metric, optional
        They take the place of the plain scores.
    metrics : sequence of str
        Keys of :data:`gapstack.scoring.METRICS`, in order.
    name_title : str
        Heads the first column.
    """
    columns = {name: _metric_column(name) for name in metrics}
    parts: list[Section] = []
    for section_title, rows in sections.items():
        cells: list[tuple[str, Mapping[str, Cell]]] = []
        for name, scores, *rest in rows:
            extra: Mapping[str, Cell] = rest[0] if rest else {}
            for key in extra:
                columns.setdefault(key, Column(key, key, decimals=1))
            within = (intervals or {}).get(section_title, {}).get(name, {})
            cells.append((name, {**_cells(scores, metrics), **within, **extra}))
        aside = (degenerate or {}).get(section_title, {})
        cells.extend((name, _cells(scores, metrics)) for name, scores in aside.items())
        parts.append(Section(section_title, cells, aside=frozenset(aside)))
    return Table(list(columns.values()), parts, title=title, caption=caption, name_title=name_title)


def scorecard(gap: GapScores) -> str:
    """The output of the official scorer, to the letter, for scripts that parse it.

    Recall, precision and F1 with one decimal, counts, and the bias with two decimals or "-". Neutral pronouns,
    which the official scorer refuses, add lines only where there are some.
    """
    by_gender = {"Overall": gap.overall, "Masculine": gap.masculine, "Feminine": gap.feminine}
    if gap.neutral != Counts(0, 0, 0, 0):
        by_gender["Neutral"] = gap.neutral
    lines = []
    for gender, counts in by_gender.items():
        lines.append(
            f"{gender} recall: {counts.recall:.1f} precision: {counts.precision:.1f} f1: {counts.f1:.1f}"
        )
        lines.append(f"\t\ttp {counts.tp}\tfp {counts.fp}")
        lines.append(f"\t\tfn {counts.fn}\ttn {counts.tn}")
    lines.append(f"Bias (F/M): {'-' if gap.bias is None else f'{gap.bias:.2f}'}")
    return "\n".join(lines) + "\n"


def gap_report(
    name: str,
    scores: Scores,
    degenerate: Mapping[str, Scores] | None = None,
    notes: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """Report of ``gap score``: the official scorecard, notes, and all scores beside degenerate predictions."""
    remarks = [f"Note: {note}." for note in notes]
    if scores.double_true:
        remarks.append(
            f"Warning: {scores.double_true} of {scores.n} rows are TRUE for both names, "
            "which is never right in GAP and raises F1."
        )
    heading = f"{printable(scores.data)}: {scores.n} rows, {scores.label_set} labels"
    table = scores_table({"": [(name, scores)]}, degenerate={"": degenerate or {}}, name_title="predictions")
    blocks = [heading + "\n", scorecard(scores.gap), table.text(width)]
    if remarks:
        blocks.insert(2, "".join(f"{printable(remark)}\n" for remark in remarks))
    return "\n".join(blocks)


def gap_record(
    name: str,
    scores: Scores,
    degenerate: Mapping[str, Scores] | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything that :func:`gap_report` shows, unrounded, for JSON."""
    return {
        "name": name,
        **scores.as_dict(),
        "notes": list(notes),
        "degenerate": {row: found.as_dict() for row, found in (degenerate or {}).items()},
    }


def _metric_column(name: str) -> Column:
    metric = METRICS[name]
    # every degenerate row has a bias near 1, so none is the best
    better = metric.better if metric.better in ("low", "high") else None
    return Column(name, metric.title, metric.decimals, better)


def _cells(scores: Scores, metrics: Sequence[str]) -> dict[str, Cell]:
    return {name: scores.value(name) for name in metrics}
