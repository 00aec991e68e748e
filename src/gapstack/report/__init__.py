"""Tables, records, pages and plots of results; nothing here computes a score."""

from gapstack.report.render import Column, Section, Table
from gapstack.report.scores import gap_record, gap_report, scores_table

__all__ = ["Column", "Section", "Table", "gap_record", "gap_report", "scores_table"]
