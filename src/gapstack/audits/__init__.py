"""The bias audit: benchmark suites for any member, stack or file of probabilities; ``gapstack.audit(...)`` runs it.

:func:`audit` runs the suites of :data:`SUITES` on a :class:`Target` (:func:`target_of` looks one up by name). A suite
reads rows (:class:`Items`) and turns probabilities for them into :class:`Findings`, which
:mod:`gapstack.audits.audit_report` shows as tables and :mod:`gapstack.audits.audit_page` as a web page.
"""

from gapstack.audits.audit_page import page
from gapstack.audits.audit_report import CAUTION, MARK, Audit, SuiteAudit, report
from gapstack.audits.run import SUITES, audit, write_rows
from gapstack.audits.suite import Findings, Headline, Items, Scatter, Suite
from gapstack.audits.targets import Target, files_target, run_target, target_of

__all__ = [
    "CAUTION",
    "MARK",
    "SUITES",
    "Audit",
    "Findings",
    "Headline",
    "Items",
    "Scatter",
    "Suite",
    "SuiteAudit",
    "Target",
    "audit",
    "files_target",
    "page",
    "report",
    "run_target",
    "target_of",
    "write_rows",
]
