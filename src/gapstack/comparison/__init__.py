"""Comparison of predictors on the same rows: measurements, tables, JSON (:func:`record`), CSV files and a page.

:func:`compare` takes arrays, files and runs; :func:`measure` takes entries that :func:`read_entries` returns.
"""

from gapstack.comparison.analysis import Comparison, compare, measure
from gapstack.comparison.comparison_page import page
from gapstack.comparison.entries import ComparedEntry, label_sets, read_entries
from gapstack.comparison.exports import record, write_csv
from gapstack.comparison.tables import report, tables

__all__ = [
    "ComparedEntry",
    "Comparison",
    "compare",
    "label_sets",
    "measure",
    "page",
    "read_entries",
    "record",
    "report",
    "tables",
    "write_csv",
]
