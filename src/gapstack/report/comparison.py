"""The table that ends a run: members, stack and degenerate rows, out of fold and held out."""

from __future__ import annotations

from collections.abc import Sequence

from gapstack.comparison.results import PartScores
from gapstack.report.render import Cell, Table
from gapstack.report.scores import ScoreRow, scores_table
from gapstack.runs import Result, Run

_INTERVALS = "Brackets hold 95% intervals, whole pages resampled."


def comparison(run: Run, parts: Sequence[PartScores], *, parameters: bool = False) -> Table:
    """Show the scores of a run (:func:`~gapstack.comparison.results.score_run`).

    Seconds are the cost of a member on all rows of both parts when it was computed: its views, its fits on every
    fold and its predictions. With ``parameters`` the table, which then outgrows a terminal, has the number of
    parameters of one fold's fit.
    """
    extra = {
        result.label: _extra(result, parameters)
        for result in [*run.members, *([run.stack] if run.stack else [])]
    }
    sections: dict[str, list[ScoreRow]] = {
        _heading(part): [(label, scores, extra[label]) for label, scores in part.systems.items()]
        for part in parts
    }
    return scores_table(
        sections,
        degenerate={_heading(part): part.degenerate for part in parts},
        intervals={_heading(part): part.intervals for part in parts},
        title=run.recipe.title,
        caption=f"{_INTERVALS} {run.stack_note[:1].upper()}{run.stack_note[1:]}".strip(),
    )


def _heading(part: PartScores) -> str:
    return f"{part.name}: {part.corpus.name}, {len(part.corpus)} rows, {part.corpus.label_set} labels"


def _extra(result: Result, parameters: bool) -> dict[str, Cell]:
    """Cells beside the scores; the column of contaminated test sets is there if any member has one."""
    cells: dict[str, Cell] = {"seconds": result.seconds}
    if parameters:
        cells["parameters"] = result.parameters or None
    if result.contaminated_by:
        cells["not for"] = ", ".join(result.contaminated_by)
    return cells
