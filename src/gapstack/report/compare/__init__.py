"""``gap compare``: who is compared, what is measured, and how it is shown.

:func:`read_entries` finds the competitors, :func:`label_sets` the labels at hand, :func:`compare` has the scoring room
measure all of it, and the result is printed by :func:`tables`, kept by :func:`record` and :func:`write_csv`, and
browsed in the page of :func:`write_page`.
"""

from gapstack.comparison.analysis import Comparison, compare
from gapstack.comparison.entries import Entry, label_sets, read_entries
from gapstack.report.compare.page import write_page
from gapstack.report.compare.records import record, write_csv
from gapstack.report.compare.tables import LISTED, tables

__all__ = [
    "LISTED",
    "Comparison",
    "Entry",
    "compare",
    "label_sets",
    "read_entries",
    "record",
    "tables",
    "write_csv",
    "write_page",
]
