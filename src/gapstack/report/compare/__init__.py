"""A comparison as tables, as JSON (:func:`record`), as CSV files and as a page."""

from gapstack.comparison.analysis import compare
from gapstack.comparison.entries import Entry, label_sets, read_entries
from gapstack.comparison.measurements import Comparison
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
