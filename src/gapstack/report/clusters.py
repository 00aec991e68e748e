"""What became of a resolver's file: how much of it could be used, and what it is worth where labels are known."""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus
from gapstack.errors import printable
from gapstack.resolvers.formats import Reading
from gapstack.scoring import score_decisions


def told(reading: Reading, rows: Corpus) -> str:
    """Format, coverage and losses, and F1 on the rows covered and on all if they have labels."""
    clusters = reading.clusters
    covered = clusters.covers(rows)
    lines = [
        f"{clusters.name}, read as {reading.format}: {covered.sum():,} of {len(rows):,} rows covered",
        f"rows whose text could not be aligned: {len(reading.failed)} of {reading.rows:,} "
        f"({reading.failure_rate:.2%})" + (f": {', '.join(reading.failed[:5])}" if reading.failed else ""),
        f"mentions without a place in the original: {reading.lost:,} of {reading.mentions:,}",
    ]
    if all(example.label is not None for example in rows):
        parts = {"all rows, FALSE where nothing was given": rows}
        if 0 < covered.sum() < len(rows):
            parts = {"rows covered": rows.take(np.flatnonzero(covered)), **parts}
        for name, part in parts.items():
            found = score_decisions(part, clusters.decide(part))
            lines.append(
                f"F1 on {name}: {found.f1_overall:.1f} (M {found.f1_masculine:.1f}, F {found.f1_feminine:.1f})"
            )
    return "\n".join(map(printable, lines))
