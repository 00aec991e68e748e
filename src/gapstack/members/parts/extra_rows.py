"""Contamination of members that are trained on extra corpora."""

from __future__ import annotations

from collections.abc import Sequence

from gapstack.corpus.extra import EXTRA
from gapstack.members.member import each_once


def contaminated_by(extra: Sequence[str]) -> tuple[str, ...]:
    """Name the test sets that these corpora of :data:`gapstack.corpus.extra.EXTRA` share rows with.

    Raises
    ------
    UnknownNameError
        If there is no such corpus.
    """
    return each_once(*(EXTRA[name].contaminates for name in extra))
