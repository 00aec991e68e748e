"""Shell of the web pages: a self-contained document, its style and sortable tables."""

from gapstack.report.web.shell import WebCell, WebRow, WebTable, render, utf16

__all__ = ["WebCell", "WebRow", "WebTable", "render", "utf16"]
