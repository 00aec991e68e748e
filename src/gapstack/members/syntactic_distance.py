"""Syntactic distance (Webster et al. 2018, section 4.3): the name at the end of the shortest dependency path.

Names in a position that binding theory excludes are left out. The paper parses with Google's cloud service; here
any spaCy pipeline does. Sentences are linked through their roots at a cost that the paper does not state.
"""

from __future__ import annotations

from gapstack.members.parts.cues import CueMember
from gapstack.text.cues import Cue


class SyntacticDistance(CueMember):
    """The name nearest in the dependency tree; then token distance."""

    cue = Cue.SYNTACTIC_DISTANCE
