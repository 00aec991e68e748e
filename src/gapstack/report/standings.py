"""The leaderboard of all runs: ``gap runs``."""

from __future__ import annotations

from collections.abc import Sequence

from gapstack.comparison.results import Standing
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.scoring import METRICS

_METRICS = ("logloss", "f1_overall", "bias")


def standings_table(standings: Sequence[Standing]) -> Table:
    """A section for runs on the same rows, a row for each run: its predictor's scores out of fold and held out."""
    parts = list(dict.fromkeys(part.name for one in standings for part in one.parts))
    columns = [
        *(
            Column(
                f"{part} {metric}",
                METRICS[metric].title,
                METRICS[metric].decimals,
                METRICS[metric].better if METRICS[metric].better != "one" else None,
                group=part,
            )
            for part in parts
            for metric in _METRICS
        ),
        Column("system", "by"),
        Column("folds", "folds"),
        Column("seconds", "seconds", 1),
    ]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for one in standings:
        cells: dict[str, Cell] = {
            f"{part.name} {metric}": interval
            for part in one.parts
            for metric, interval in part.intervals[one.system].items()
        }
        done, every = one.folds
        cells |= {"system": one.system or None, "folds": f"{done} of {every}", "seconds": one.seconds}
        heading = "; ".join(
            f"{part.name}: {part.corpus.name}, {len(part.corpus):,} rows, {part.corpus.label_set} labels"
            for part in one.parts
        )
        sections.setdefault(heading or "without scores", []).append((one.name, cells))
    problems = [f"{one.name}: {one.problem}." for one in standings if one.problem]
    return Table(
        columns,
        [Section(heading, rows) for heading, rows in sections.items()],
        caption=" ".join(
            ["Sorted by logloss out of fold: nothing is to be chosen by rows held out.", *problems]
        ),
        name_title="run",
    )
