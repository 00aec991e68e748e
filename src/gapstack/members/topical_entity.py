"""Topical entity (Webster et al. 2018, section 4.3): the closest name that holds the most frequent name word.

Words are counted over the names that compete, so in gold-two-mention the cue differs from token distance only
where A and B share a word.
"""

from __future__ import annotations

from gapstack.members.parts.cues import CueMember
from gapstack.text.cues import Cue


class TopicalEntity(CueMember):
    """The closest name that holds the word which most names hold; then token distance."""

    cue = Cue.TOPICAL_ENTITY
