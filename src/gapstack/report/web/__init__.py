"""Shell of the web pages: a self-contained document, its style, tabs and sortable tables."""

from gapstack.report.web.shell import render, utf16
from gapstack.report.web.web_table import WebCell, WebRow, WebTable, web_cell, web_table

__all__ = ["WebCell", "WebRow", "WebTable", "render", "utf16", "web_cell", "web_table"]
