"""Tables of results, the report of ``gap score``, and the shell of the web pages; nothing here computes a score."""

from gapstack.display.render import Column, Section, Table, metric_column
from gapstack.display.report import gap_record, gap_report, scores_table

__all__ = ["Column", "Section", "Table", "gap_record", "gap_report", "metric_column", "scores_table"]
