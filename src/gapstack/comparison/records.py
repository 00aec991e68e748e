"""A comparison as JSON, and as CSV files for other tools: unrounded, null or empty where there is no value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from gapstack.comparison.analysis import RANKED, Comparison
from gapstack.data import Label
from gapstack.evaluation import METRICS, metrics_in
from gapstack.files import write_text

_FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also in full width
INTERVAL = ("value", "low", "high")


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything that was measured, for ``json.dumps``."""
    lines = {
        name: [dict(zip(header, row, strict=True)) for row in rows]
        for name, (header, rows) in _files(comparison).items()
    }
    rows, added, errors = comparison.rows, comparison.contribution, comparison.label_errors
    return {
        "rows": {
            "name": rows.name,
            "count": len(rows),
            "pages": len(set(rows.groups)),
            "label_set": rows.label_set,
            "fingerprint": rows.fingerprint,
        },
        "replicates": comparison.replicates,
        "seed": comparison.seed,
        "members": [
            {"name": one.name, "source": one.source, "part": one.part or None, "warnings": list(one.warnings)}
            for one in comparison.entries
        ],
        "notes": list(comparison.notes),
        **lines,
        "contribution_summary": added
        and {"prior": added.prior, "all": added.full, "draws": added.draws, "standard_error": added.error},
        "label_error_summary": errors
        and {"found": len(errors.rows), f"precision_at_{RANKED}": errors.precision},
    }


def write_csv(comparison: Comparison, folder: Path) -> list[Path]:
    """Write one CSV for each kind of result into ``folder``; returns the paths.

    Texts that a spreadsheet would run as a formula get an apostrophe before them; numbers stay numbers.
    """
    import pandas as pd  # slow to import

    paths = []
    for name, (header, rows) in _files(comparison).items():
        frame = pd.DataFrame([[unrun(cell) for cell in row] for row in rows], columns=header, dtype=object)
        paths.append(folder / f"{name}.csv")
        write_text(paths[-1], frame.to_csv(index=False))
    return paths


def unrun(cell: Any) -> Any:
    """The cell, with an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _files(comparison: Comparison) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """Header and rows of each kind of result."""
    names, rows, errors = comparison.names, comparison.rows, comparison.label_errors
    balanced, added, flips = comparison.balanced, comparison.contribution, comparison.flips
    pairs = list(combinations(range(len(names)), 2))
    tests = ("p_bootstrap", "p_permutation", "p_holm")
    parts = ("dimension", "value", "rows", "masculine", "feminine")
    return {
        "scores": (
            ["label_set", "member", "metric", *INTERVAL],
            [
                [labels, name, metric, *_known(scores.interval(name, metric))]
                for labels, scores in comparison.scores.items()
                for name in names
                for metric in METRICS
            ],
        ),
        "pairs": (
            ["metric", "first", "second", *INTERVAL, *tests, "winner"],
            [
                [
                    *(metric, names[i], names[j], *_known(found.difference[i, j])),
                    *_known(getattr(found, test)[i, j] for test in tests),
                    {1: names[i], -1: names[j]}.get(int(wins[i, j])),
                ]
                for metric, found in comparison.pairs.items()
                for wins in [found.wins()]
                for i, j in pairs
            ],
        ),
        "slices": (
            ["dimension", "slice", "rows", "masculine", "feminine", "member", "metric", *INTERVAL],
            [
                [*(getattr(part, key) for key in parts), name, metric, *_known(values[place])]
                for part in comparison.slices
                for place, name in enumerate(names)
                for metric, values in part.scores.items()
            ],
        ),
        "balanced": (
            ["member", "metric", *INTERVAL],
            [
                [name, metric, *_known(balanced.interval(name, metric))]
                for name in names
                if balanced
                for metric in metrics_in("balance")
            ],
        ),
        "contribution": (
            ["member", "measure", *INTERVAL],
            [
                [name, measure, *_known(ends)]
                for measure in ("left_out", "shapley")
                if added
                for name, ends in zip(added.members, getattr(added, measure), strict=True)
            ],
        ),
        "flips": (
            ["counterfactual", "rows", "member", *INTERVAL],
            [
                [kind, found.rows[kind], name, *_known(ends)]
                for found in ([flips] if flips else [])
                for kind, values in found.shares.items()
                for name, ends in zip(found.members, values, strict=True)
            ],
        ),
        "likeness": (
            ["first", "second", *comparison.similarity],
            [
                [names[i], names[j], *_known(values[i, j] for values in comparison.similarity.values())]
                for i, j in pairs
            ],
        ),
        "label_errors": (
            ["id", "label", "quality", "corrected"],
            [
                [
                    *(rows[row].id, Label(rows.labels[row]).name, float(found.quality[row])),
                    None if found.corrected is None else bool(found.corrected[row]),
                ]
                for found in ([errors] if errors else [])
                for row in found.ranked()
            ],
        ),
    }


def _known(values: Iterable[float]) -> list[float | None]:
    """Floats for JSON, None for NaN."""
    return [None if math.isnan(value) else float(value) for value in values]
