"""Headline figures of every suite: a score, and a gender difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gapstack.audit import Audit, Headline, Measure, Panel
from gapstack.audit.suite import Value
from gapstack.scoring import Difference, Interval


@dataclass(frozen=True)
class Quoted:
    """A measure and its figure for each system that was measured."""

    measure: Measure
    figures: dict[str, Value]


@dataclass(frozen=True)
class Line:
    """A headline of a suite with its figures; :attr:`apart` is None for suites of one gender."""

    suite: str
    headline: Headline
    good: Quoted
    apart: Quoted | None

    def differs(self, system: str) -> bool | None:
        """Whether the gender difference is significant, None if that is unknown."""
        return None if self.apart is None else differs(self.apart.figures.get(system), self.headline.even)


def lines(found: Audit) -> Iterator[Line]:
    """Headlines of the suites that were run, in their order."""
    for covered in found.covered:
        panels = {panel.key: panel for panel in covered.findings.panels}
        for headline in covered.findings.headlines:
            good, apart = (
                None if key is None else _quoted(panels[key[0]], key[1])
                for key in (headline.good, headline.apart)
            )
            assert good is not None
            yield Line(covered.suite.name, headline, good, apart)


def differs(value: Value, even: float = 0.0) -> bool | None:
    """Whether a figure is not ``even``: by its test where it has one, else by its 95% interval.

    None for what has neither, or no value.
    """
    if not isinstance(value, Interval | Difference) or np.isnan([value.value, value.low, value.high]).any():
        return None
    if isinstance(value, Difference):
        return value.p < 0.05
    return not value.low <= even <= value.high


def _quoted(panel: Panel, key: str) -> Quoted:
    (measure,) = (each for each in panel.measures if each.key == key)
    return Quoted(measure, {name: figures.get(key) for name, figures in panel.rows.items()})
