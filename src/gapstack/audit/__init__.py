"""The bias audit: yardsticks made to break systems, asked of any member, stack or file of probabilities.

:func:`audit` asks a :class:`Target` (:func:`target_of` finds it by name) the suites of :data:`SUITES`. A suite
gives rows (:class:`~gapstack.audit.suite.Items`) and turns answers to them into
:class:`~gapstack.audit.suite.Findings`; :mod:`gapstack.report.audit` shows those.
"""

from gapstack.audit.registry import SUITES
from gapstack.audit.run import CAUTION, MARK, Audit, Covered, audit, write_rows
from gapstack.audit.suite import Findings, Headline, Items, Measure, Panel, Scatter, Suite
from gapstack.audit.targets import Files, Members, RunTarget, Target, target_of

__all__ = [
    "CAUTION",
    "MARK",
    "SUITES",
    "Audit",
    "Covered",
    "Files",
    "Findings",
    "Headline",
    "Items",
    "Measure",
    "Members",
    "Panel",
    "RunTarget",
    "Scatter",
    "Suite",
    "Target",
    "audit",
    "target_of",
    "write_rows",
]
