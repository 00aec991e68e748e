"""The suites, which is how everything else finds them: a new one is a file and a line here."""

from __future__ import annotations

from types import MappingProxyType

from gapstack.audit.base import Suite
from gapstack.audit.winobias import WinoBias
from gapstack.audit.winogender import Winogender

_ALL: tuple[Suite, ...] = (
    Winogender(),
    WinoBias(),
)
SUITES = MappingProxyType({suite.name: suite for suite in _ALL})
"""By name, in the order of the report."""
