"""URL (Webster et al. 2018, section 4.3): the syntactically closest name that shares a word with the page title.

GAP's best baseline ("Parallelism+URL" in the paper's tables), since a page is mostly about its title.
"""

from __future__ import annotations

from gapstack.members.parts.cues import ParallelCueMember
from gapstack.text.cues import Cue


class Url(ParallelCueMember):
    """The closest name that the page title names; then parallelism."""

    cue = Cue.URL
