"""The bias audit: benchmark suites for any member, stack or file of probabilities; ``gapstack.audit(...)`` runs it.

:func:`audit` runs the suites of :data:`SUITES` on a :class:`Target` (:func:`target_of` looks one up by name). A suite
gives rows (:class:`~gapstack.audit.suite.Items`) and turns probabilities for them into
:class:`~gapstack.audit.suite.Findings`, which :mod:`gapstack.report.audit` shows.
"""

import sys
from types import ModuleType

from gapstack.audit.run import CAUTION, MARK, Audit, SuiteAudit, audit, write_rows
from gapstack.audit.suite import Findings, Headline, Items, Measure, Panel, Scatter, Suite
from gapstack.audit.suites import SUITES
from gapstack.audit.targets import Target, files_target, run_target, target_of

__all__ = [
    "CAUTION",
    "MARK",
    "SUITES",
    "Audit",
    "Findings",
    "Headline",
    "Items",
    "Measure",
    "Panel",
    "Scatter",
    "Suite",
    "SuiteAudit",
    "Target",
    "audit",
    "files_target",
    "run_target",
    "target_of",
    "write_rows",
]


class _Callable(ModuleType):
    """Makes ``gapstack.audit(...)`` the function.

    Importing a submodule sets its name in the parent, so that no function of that name could stay there.
    """

    __call__ = staticmethod(audit)


sys.modules[__name__].__class__ = _Callable
