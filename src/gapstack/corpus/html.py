"""HTML of notebooks: a text with coloured spans, and a table; legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

# dark letters on pale colours, whatever the page's own colours are
_COLOURS = {"A": "#bfdbfe", "B": "#fde68a", "pronoun": "#fbcfe8"}

__all__ = ["escape", "marked", "table"]


def marked(text: str, spans: Mapping[str, tuple[int, int]]) -> str:
    """The text with each span (``A``, ``B``, ``pronoun``) on its colour and named."""
    parts, at = [], 0
    for name, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        style = f"background:{_COLOURS[name]};color:#111"
        parts += [
            escape(text[at:start]),
            f'<mark style="{style}">{escape(text[start:end])}<sub>{name}</sub></mark>',
        ]
        at = end
    return "".join([*parts, escape(text[at:])])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose cells are HTML already; column titles and the caption are text."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
