"""Topical entity (Webster et al. 2018, section 4.3): the closest name that holds the most frequent name word.

The paper counts words over all names detected in the snippet, which needs a parser. By default they are counted here
over the names that compete; where these are A and B, the cue then differs from token distance only if they share a
word. Logloss out of fold on GAP development and validation (gold-two-mention, official labels, seed 2019): 0.959, and
0.883 with ``counted="detected"``.
"""

from __future__ import annotations

from typing import Literal

from gapstack.members.parts.cues import CueMember
from gapstack.text.cues import Counted, Cue, Definition


class TopicalEntity(CueMember):
    """The closest name that holds the word which most names hold; then token distance.

    Parameters
    ----------
    counted : str
        Names whose words are counted: ``candidates``, or ``detected`` (all PERSON names, as in the paper).
    candidates, context, ridge, parser, extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.cues.CueMember`.
    """

    counted: Literal["detected", "candidates"] = "candidates"
    cue = Cue.TOPICAL_ENTITY

    @property
    def definition(self) -> Definition:
        """Choices within the cue's definition."""
        return Definition(counted=Counted(self.counted))
