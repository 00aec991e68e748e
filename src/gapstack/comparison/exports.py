"""A comparison as JSON, and as CSV files for other tools: unrounded, with null or empty cells for missing values."""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

from gapstack.comparison.analysis import Comparison
from gapstack.display.report import plain
from gapstack.evaluation import METRICS, metrics_in
from gapstack.files import write_text

_FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also in full width
_INTERVAL = ("value", "low", "high")
_TESTS = ("p_bootstrap", "p_permutation", "p_holm")
COLUMNS = {
    "scores": ("label_set", "member", "metric", *_INTERVAL),
    "pairs": ("metric", "first", "second", *_INTERVAL, *_TESTS, "winner"),
    "slices": ("dimension", "slice", "rows", "masculine", "feminine", "member", "metric", *_INTERVAL),
    "balanced": ("member", "metric", *_INTERVAL),
    "contribution": ("member", "measure", *_INTERVAL),
    "flips": ("counterfactual", "rows", "member", *_INTERVAL),
    "likeness": ("first", "second", "correlation", "disagreement", "double_fault"),
}
"""Columns of each CSV file, and of the lists of the same names in JSON."""


def record(comparison: Comparison) -> Any:
    """All measurements, as plain values for ``json.dumps``."""
    lines = {
        name: [dict(zip(COLUMNS[name], row, strict=True)) for row in rows]
        for name, rows in _rows_by_file(comparison).items()
    }
    rows, added = comparison.rows, comparison.contribution
    measured = {
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
            {"name": e.name, "source": e.source, "part": e.part or None, "warnings": e.warnings}
            for e in comparison.entries
        ],
        "notes": comparison.notes,
        **lines,
        "contribution_summary": added and {"prior": added.prior, "all": added.full},
    }
    return plain(measured)


def write_csv(comparison: Comparison, folder: Path) -> list[Path]:
    """Write a CSV file for each kind of result, escape formulas for spreadsheets, and return the paths."""
    import pandas as pd  # slow to import

    paths = []
    for name, rows in _rows_by_file(comparison).items():
        columns = list(COLUMNS[name])
        frame = pd.DataFrame(
            [[escape_formula(cell) for cell in row] for row in rows], columns=columns, dtype=object
        )
        paths.append(folder / f"{name}.csv")
        write_text(paths[-1], frame.to_csv(index=False))
    return paths


def escape_formula(cell: Any) -> Any:
    """The cell, with an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _rows_by_file(comparison: Comparison) -> dict[str, list[list[Any]]]:
    """Rows of each kind of result, in the order of :data:`COLUMNS`."""
    files: dict[str, list[list[Any]]] = {name: [] for name in COLUMNS}
    for name, row in _rows(comparison):
        files[name].append(row)
    return files


def _rows(comparison: Comparison) -> Iterator[tuple[str, list[Any]]]:
    """Kind of result and row, with the cells of its :data:`COLUMNS`."""
    names = comparison.names
    pairs = [(i, j, names[i], names[j]) for i, j in combinations(range(len(names)), 2)]
    for (labels, scores), name, metric in product(comparison.scores.items(), names, METRICS):
        yield "scores", [labels, name, metric, *scores.interval(name, metric)]
    for metric, tests in comparison.pairs.items():
        wins = tests.wins()
        for i, j, first, second in pairs:
            p_values = [float(getattr(tests, test)[i, j]) for test in _TESTS]
            winner = {1: first, -1: second}.get(int(wins[i, j]))
            yield "pairs", [metric, first, second, *tests.difference[i, j].tolist(), *p_values, winner]
    for part, (place, name) in product(comparison.slices, enumerate(names)):
        for metric, values in part.scores.items():
            cells = [part.dimension, part.value, part.rows, part.masculine, part.feminine, name, metric]
            yield "slices", [*cells, *values[place].tolist()]
    for i, j, first, second in pairs:
        yield "likeness", [first, second, *(float(values[i, j]) for values in comparison.similarity.values())]
    yield from _optional_rows(comparison)


def _optional_rows(comparison: Comparison) -> Iterator[tuple[str, list[Any]]]:
    """Kind of result and row of measurements that may be missing, with the cells of :data:`COLUMNS`."""
    if balanced := comparison.balanced:
        for name, metric in product(comparison.names, metrics_in("balance")):
            yield "balanced", [name, metric, *balanced.interval(name, metric)]
    if added := comparison.contribution:
        for name, ends in zip(added.members, added.left_out, strict=True):
            yield "contribution", [name, "left_out", *ends.tolist()]
    if flips := comparison.flips:
        for kind, values in flips.shares.items():
            for name, ends in zip(flips.members, values, strict=True):
                yield "flips", [kind, flips.rows[kind], name, *ends.tolist()]
