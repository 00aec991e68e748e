"""The comparison as one self-contained web page: the answer first, then plots, slices, examples and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from gapstack.comparison.analysis import Comparison
from gapstack.comparison.entries import ComparedEntry
from gapstack.comparison.findings import findings
from gapstack.comparison.plots import plots, rounded
from gapstack.comparison.strata import STRATA
from gapstack.comparison.tables import scores_table, tables, warnings
from gapstack.display.render import Column, metric_column
from gapstack.display.web import render, utf16
from gapstack.evaluation import answers
from gapstack.files import write_text
from gapstack.types import Floats, Ints

_SCALE = 1000  # probabilities are whole thousandths
_LEADERBOARD = (
    "Bold: the best value of a column. Better and worse than the best: significant at 5%, by permutation of pages, "
    "with Holm's correction for all pairs."
)
_GAPS = {
    "f1_gap": ("F1 F-M", 1, "F1 on feminine minus F1 on masculine pronouns; 0 is even"),
    "logloss_gap": ("logloss F-M", 3, "Logloss on feminine minus that on masculine pronouns; 0 is even"),
}
_SLICE_COLUMNS = [
    *(metric_column(name, decimals=3) for name in ("logloss", "accuracy")),
    *(metric_column(name) for name in ("f1_overall", "f1_masculine", "f1_feminine")),
    *(Column(key, title, decimals, help=words) for key, (title, decimals, words) in _GAPS.items()),
]


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page to ``path``."""
    write_text(path, page(comparison))


def page(comparison: Comparison) -> str:
    """The page as HTML."""
    found = tables(comparison)
    label_errors = [table for table in found if table.name_title == "row"]
    linked = [name for table in label_errors for section in table.sections for name, _ in section.rows]
    parts = ["Overview", "Differences", "Plots", "Slices", "Examples", "Tables"]
    if len(comparison.entries) < 2:
        parts.remove("Differences")
    return render(
        "gapstack.comparison",
        page_data(comparison),
        ["page.js", "plots.js"],
        title=f"{comparison.rows.name}: {len(comparison.entries)} systems compared",
        parts=[(part.lower(), part) for part in parts],
        comparison=comparison,
        pages=len(set(comparison.rows.groups)),
        warnings=warnings(comparison)[0],
        findings=findings(comparison),
        members={f"{place:2} {name}": name for place, name in enumerate(comparison.names, 1)},
        leaderboard=replace(
            scores_table(comparison, intervals=False), title="Leaderboard", caption=_LEADERBOARD
        ),
        slice_columns=_SLICE_COLUMNS,
        tables=[table for table in found if table.name_title == "system"],
        label_errors=label_errors,
        links={name: f"#examples?{urlencode({'text': name})}" for name in linked},
    )


def page_data(comparison: Comparison) -> dict[str, Any]:
    """Data of the page's script: members, dimensions, slices, plots and every example.

    An example is ``[id, url, text, pronoun, a, b, labels, values, answers, trust]``: spans in UTF-16 units; one label
    for each label set; the place of its value in each dimension; for each member thousandths of A and of B, or its two
    decisions, and its answer (-1 for none); and the quality of the label in thousandths.
    """
    dimensions = {name: values for name, values in comparison.dimensions.items() if name != "rows"}
    listed = {
        name: [part.value for part in comparison.slices if part.dimension == name] for name in dimensions
    }
    places = [
        [listed[name].index(value) if value else -1 for value in values.tolist()]
        for name, values in dimensions.items()
    ]
    labels = np.array(list(comparison.labels.values())).T.tolist()
    choices = np.stack([_answers(entry) for entry in comparison.entries], axis=1).tolist()
    errors = comparison.label_errors
    trust = _thousandths(errors.quality).tolist() if errors else [None] * len(comparison.rows)
    examples = []
    for example, *rest in zip(
        comparison.rows, labels, zip(*places, strict=True), choices, trust, strict=True
    ):
        spans = (utf16(example.text, span) for span in (example.pronoun, example.a, example.b))
        examples.append([example.id, example.url or "", example.text, *spans, *rest])
    return {
        "members": [
            {"name": e.name, "soft": e.answers.probabilities is not None} for e in comparison.entries
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
        "sliceColumns": [
            {"key": c.key, "title": c.title, "decimals": c.decimals, "help": c.help} for c in _SLICE_COLUMNS
        ],
        "plots": plots(comparison),
        "examples": examples,
    }


def _thousandths(values: Floats) -> Ints:
    return np.round(_SCALE * values).astype(np.int64)


def _answers(entry: ComparedEntry) -> Ints:
    """Thousandths of A and of B, or the two decisions, and the answer, (n, 3)."""
    found = entry.answers
    if found.probabilities is not None:
        return np.column_stack([_thousandths(found.probabilities[:, :2]), answers(found.probabilities)])
    given = found.decided & found.answered
    # neither both names nor silence is an answer
    valid = found.answered.all(axis=1) & ~given.all(axis=1)
    choice = np.where(valid, np.select([given[:, 0], given[:, 1]], [0, 1], default=2), -1)
    return np.column_stack([given.astype(np.int64), choice])
