"""Token distance (Webster et al. 2018, section 4.3): the name with the fewest words between it and the pronoun.

The weakest cue, as GAP was balanced against it. It needs no parser where A and B compete.
"""

from __future__ import annotations

from gapstack.members.parts.cues import CueMember
from gapstack.text.cues import Cue


class TokenDistance(CueMember):
    """The nearest name, counted in words."""

    cue = Cue.TOKEN_DISTANCE
