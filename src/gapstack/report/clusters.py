"""A resolver's file: how much of it could be used, and its F1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gapstack.corpus import Corpus
from gapstack.errors import printable
from gapstack.resolvers.formats import Reading
from gapstack.scoring import Scores


def clusters_record(reading: Reading, rows: Corpus, scores: Mapping[str, Scores]) -> dict[str, Any]:
    """What :func:`clusters_text` says, for JSON."""
    return {
        "resolver": reading.clusters.name,
        "format": reading.format,
        "rows": len(rows),
        "covered": int(reading.clusters.covers(rows).sum()),
        "not_aligned": list(reading.failed),
        "mentions": reading.mentions,
        "mentions_lost": reading.lost,
        "scores": {name: found.as_dict() for name, found in scores.items()},
    }


def clusters_text(reading: Reading, rows: Corpus, scores: Mapping[str, Scores]) -> str:
    """Format, coverage and losses, and the scores of :func:`~gapstack.comparison.results.score_clusters`."""
    clusters = reading.clusters
    lines = [
        f"{clusters.name}, read as {reading.format}: {clusters.covers(rows).sum():,} of {len(rows):,} rows covered",
        f"rows whose text could not be aligned: {len(reading.failed)} of {reading.rows:,} "
        f"({reading.failure_rate:.2%})" + (f": {', '.join(reading.failed[:5])}" if reading.failed else ""),
        f"mentions without a place in the original: {reading.lost:,} of {reading.mentions:,}",
        *(
            f"F1 on {name}: {found.f1_overall:.1f} (M {found.f1_masculine:.1f}, F {found.f1_feminine:.1f})"
            for name, found in scores.items()
        ),
    ]
    return "\n".join(map(printable, lines))
