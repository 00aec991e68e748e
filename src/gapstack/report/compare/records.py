"""A comparison as JSON, and as CSV files for other tools: unrounded, null or empty where there is no value."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.comparison.analysis import RANKED
from gapstack.comparison.measurements import Comparison
from gapstack.files import write_text
from gapstack.scoring import METRICS

_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)  # also in full width
INTERVAL = ("value", "low", "high")


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything that was measured, for ``json.dumps``."""
    lines = {
        name: [dict(zip(header, row, strict=True)) for row in rows]
        for name, (header, rows) in _files(comparison).items()
    }
    return {
        "rows": {
            "name": comparison.rows.name,
            "count": len(comparison.rows),
            "pages": len(set(comparison.rows.groups)),
            "label_set": comparison.rows.label_set,
            "fingerprint": comparison.rows.fingerprint,
        },
        "replicates": comparison.replicates,
        "seed": comparison.seed,
        "members": [
            {
                "name": entry.name,
                "source": entry.source,
                "part": entry.part or None,
                "warnings": list(entry.warnings),
            }
            for entry in comparison.entries
        ],
        "notes": list(comparison.notes),
        **lines,
        "contribution_summary": None
        if comparison.contribution is None
        else {
            "prior": comparison.contribution.prior,
            "all": comparison.contribution.full,
            "draws": comparison.contribution.draws,
            "standard_error": comparison.contribution.error,
        },
        "label_error_summary": None
        if comparison.label_errors is None
        else {
            "found": len(comparison.label_errors.rows),
            f"precision_at_{RANKED}": comparison.label_errors.precision,
        },
    }


def write_csv(comparison: Comparison, folder: Path) -> list[Path]:
    """Write one CSV for each kind of result into ``folder``; gives the paths.

    Texts that a spreadsheet would run as a formula get an apostrophe before them; numbers stay numbers.
    """
    paths = []
    for name, (header, rows) in _files(comparison).items():
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([unrun(cell) for cell in row] for row in rows)
        paths.append(folder / f"{name}.csv")
        write_text(paths[-1], buffer.getvalue())
    return paths


def unrun(cell: Any) -> Any:
    """Give a cell that a spreadsheet shows and does not run: text that begins like a formula behind an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _files(comparison: Comparison) -> dict[str, tuple[Sequence[str], list[list[Any]]]]:
    """Header and rows of each kind of result."""
    return {
        "scores": (("label_set", "member", "metric", *INTERVAL), list(_scores(comparison))),
        "pairs": (
            ("metric", "first", "second", *INTERVAL, "p_bootstrap", "p_permutation", "p_holm", "winner"),
            list(_all_pairs(comparison)),
        ),
        "slices": (
            ("dimension", "slice", "rows", "masculine", "feminine", "member", "metric", *INTERVAL),
            list(_slices(comparison)),
        ),
        "balanced": (("member", "metric", *INTERVAL), list(_balanced(comparison))),
        "contribution": (("member", "measure", *INTERVAL), list(_contribution(comparison))),
        "flips": (("counterfactual", "rows", "member", *INTERVAL), list(_flips(comparison))),
        "likeness": (
            ("first", "second", "correlation", "disagreement", "double_fault"),
            list(_similarity(comparison)),
        ),
        "label_errors": (("id", "label", "quality", "corrected"), list(_label_errors(comparison))),
    }


def _scores(comparison: Comparison) -> Iterable[list[Any]]:
    for labels, scores in comparison.scores.items():
        for name in comparison.names:
            for metric in METRICS:
                yield [labels, name, metric, *map(_known, scores.interval(name, metric))]


def _all_pairs(comparison: Comparison) -> Iterable[list[Any]]:
    for metric, found in comparison.pairs.items():
        wins = found.wins()
        for (i, one), (j, two) in combinations(enumerate(comparison.names), 2):
            values = (
                found.value,
                found.low,
                found.high,
                found.p_bootstrap,
                found.p_permutation,
                found.p_holm,
            )
            winner = {1: one, -1: two}.get(int(wins[i, j]))
            yield [metric, one, two, *(_known(each[i, j]) for each in values), winner]


def _slices(comparison: Comparison) -> Iterable[list[Any]]:
    for part in comparison.slices:
        for place, name in enumerate(comparison.names):
            for metric, values in part.scores.items():
                counts = (part.rows, part.masculine, part.feminine)
                yield [part.dimension, part.value, *counts, name, metric, *map(_known, values[place])]


def _balanced(comparison: Comparison) -> Iterable[list[Any]]:
    if comparison.balanced is not None:
        for name in comparison.names:
            for metric in ("f1_masculine", "f1_feminine", "f1_overall", "bias"):
                yield [name, metric, *map(_known, comparison.balanced.interval(name, metric))]


def _contribution(comparison: Comparison) -> Iterable[list[Any]]:
    if comparison.contribution is not None:
        for measure, values in (
            ("left_out", comparison.contribution.left_out),
            ("shapley", comparison.contribution.shapley),
        ):
            for name, each in zip(comparison.contribution.members, values, strict=True):
                yield [name, measure, *map(_known, each)]


def _flips(comparison: Comparison) -> Iterable[list[Any]]:
    if comparison.flips is not None:
        for kind, values in comparison.flips.shares.items():
            for name, each in zip(comparison.flips.members, values, strict=True):
                yield [kind, comparison.flips.rows[kind], name, *map(_known, each)]


def _similarity(comparison: Comparison) -> Iterable[list[Any]]:
    found = comparison.similarity
    for (i, one), (j, two) in combinations(enumerate(comparison.names), 2):
        yield [
            one,
            two,
            *(_known(each[i, j]) for each in (found.correlation, found.disagreement, found.double_fault)),
        ]


def _label_errors(comparison: Comparison) -> Iterable[list[Any]]:
    found = comparison.label_errors
    if found is not None:
        for row in np.argsort(found.quality, kind="stable")[:RANKED]:
            example = comparison.rows[int(row)]
            label = None if example.label is None else example.label.name
            changed = None if found.corrected is None else bool(found.corrected[row])
            yield [example.id, label, _known(found.quality[row]), changed]


def _known(value: float | np.floating) -> float | None:
    return None if math.isnan(value) else float(value)
