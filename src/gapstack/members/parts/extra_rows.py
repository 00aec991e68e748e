"""What all members check that learn from further corpora."""

from __future__ import annotations

from collections.abc import Sequence

from gapstack.corpus.extra import EXTRA
from gapstack.errors import MemberError
from gapstack.members.member import each_once


def contaminated_by(extra: Sequence[str]) -> tuple[str, ...]:
    """Name what these corpora of :data:`gapstack.corpus.extra.EXTRA` share rows with.

    Raises
    ------
    MemberError
        If there is no such corpus.
    """
    unknown = [name for name in extra if name not in EXTRA]
    if unknown:
        raise MemberError(f"no extra corpus is called {unknown[0]!r}; there are: {', '.join(EXTRA)}")
    return each_once(*(EXTRA[name].contaminates for name in extra))
