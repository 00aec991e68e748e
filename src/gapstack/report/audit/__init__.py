"""Audits as text, JSON, files and a web page.

:func:`audit_text` is for terminals, :func:`audit_json` for programs, :func:`write_audit` keeps both with the plots, and
:func:`write_page` makes one page of everything.
"""

from gapstack.report.audit.page import write_page
from gapstack.report.audit.records import audit_json, audit_parts, audit_text, card_lines, write_audit
from gapstack.report.audit.tables import audit_tables, show

__all__ = [
    "audit_json",
    "audit_parts",
    "audit_tables",
    "audit_text",
    "card_lines",
    "show",
    "write_audit",
    "write_page",
]
