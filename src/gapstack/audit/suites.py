"""The suites, which is how everything else finds them: a new one is a file and a line here."""

from __future__ import annotations

from types import MappingProxyType

from gapstack.audit.gap import GapTest
from gapstack.audit.sowinobias import SoWinoBias
from gapstack.audit.suite import Suite
from gapstack.audit.two_names import DPR, GICOREF, KNOWREF, MAP, WINOGRANDE, WSC273
from gapstack.audit.winobias import WinoBias
from gapstack.audit.winogender import Winogender
from gapstack.corpus.extra import LEFT_OUT
from gapstack.registry import Registry

_ALL: tuple[Suite, ...] = (
    Winogender(),
    WinoBias(),
    SoWinoBias(),
    GapTest(),
    GICOREF,
    MAP,
    KNOWREF,
    DPR,
    WSC273,
    WINOGRANDE,
)
SUITES: Registry[Suite] = Registry("suite", {suite.name: suite for suite in _ALL})
"""By name, in the order of the report."""

NO_SUITE = MappingProxyType({name: LEFT_OUT[name] for name in ("bug", "pdp")})
"""Known test sets that cannot be asked as a choice between two names, and why."""
