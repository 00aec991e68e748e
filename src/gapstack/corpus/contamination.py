"""Contamination: the test sets whose rows a predictor has learned from, on which a score of it is worth nothing.

A row is known by its id, which is all that an unlabelled row and a fitted predictor have in common. Where both corpora
are at hand, :mod:`gapstack.corpus.leakage` compares pages and texts as well.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

_log = logging.getLogger(__name__)
_IDS = {
    **{f"gap-{split}": re.compile(rf"{split}-\d+") for split in ("development", "test", "validation")},
    "gap-stage2": re.compile(r"[0-9a-f]{32}"),
}


def known_test_sets(ids: Iterable[str]) -> tuple[str, ...]:
    """Name the test sets that some of these rows are of: GAP's splits and its second stage."""
    rows = list(ids)
    return tuple(name for name, pattern in _IDS.items() if any(map(pattern.fullmatch, rows)))


def warn_of_contamination(contaminated_by: Iterable[str], ids: Sequence[str]) -> None:
    """Log a warning if a predictor has learned from some of these rows.

    Parameters
    ----------
    contaminated_by : iterable of str
        The predictor's (:attr:`gapstack.members.predictor.Predictor.contaminated_by`).
    ids : sequence of str
        Ids of the rows to predict.
    """
    shared = {
        name: count
        for name in contaminated_by
        if name in _IDS and (count := sum(bool(_IDS[name].fullmatch(one)) for one in ids))
    }
    if not shared:
        return
    soft = " (soft labels of these rows were trained on)" if "gap-stage2" in shared else ""
    _log.warning(
        "the predictor learned from data that share rows with %s, and %s of these %s rows have ids of it%s. "
        "A score on them would be worth nothing",
        *(", ".join(shared), f"{sum(shared.values()):,}", f"{len(ids):,}", soft),
    )
