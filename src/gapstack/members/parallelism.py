"""Parallelism (Webster et al. 2018, section 4.3): the closest name in the same grammatical function.

The strongest cue of the text alone; it applies where the pronoun is a subject or a direct object.
"""

from __future__ import annotations

from gapstack.members.parts.cues import ParallelCueMember
from gapstack.text.cues import Cue


class Parallelism(ParallelCueMember):
    """The closest subject for a subject, object for an object; then syntactic distance."""

    cue = Cue.PARALLELISM
