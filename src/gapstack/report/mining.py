"""What was extracted from pages: rows by pattern and gender, labels where there are any, and what was left out."""

from __future__ import annotations

from collections import Counter

from gapstack.corpus import Gender
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.text.mining import Mined


def mining_table(extracted: Mined, result: Mined) -> Table:
    """Rows before and after balancing, by pattern and gender, and the latter by label where they have labels."""
    labels = Counter(row.example.label for row in result.rows if row.example.label is not None)
    columns = [
        Column(f"{what}_{gender}", f"{gender} {what}")
        for what in ("extracted", "kept")
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    ]
    rows: list[tuple[str, dict[str, Cell]]] = [
        (
            pattern.value,
            {
                f"{what}_{gender}": mined.counts()[pattern][gender]
                for what, mined in (("extracted", extracted), ("kept", result))
                for gender in (Gender.FEMININE, Gender.MASCULINE)
            },
        )
        for pattern in extracted.counts()
    ]
    said = "".join(f"{reason}: {count:,}. " for reason, count in sorted(result.left_out.items()) if count)
    answers = ", ".join(f"{label.name} {count:,}" for label, count in sorted(labels.items()))
    return Table(
        columns,
        [Section("", rows)],
        title=f"{len(result.rows):,} rows of {result.pages:,} {'page' if result.pages == 1 else 'pages'}"
        + (f": {answers}" if answers else ""),
        caption=f"Left out: {said}" if said else "",
        name_title="pattern",
    )
