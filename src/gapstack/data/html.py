"""HTML for notebooks, legible on light and dark pages: texts with coloured spans, bars and tables."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

# dark letters on pale colours, whatever the page's own colours are
_COLOURS = {"A": "#bfdbfe", "B": "#fde68a", "pronoun": "#fbcfe8", "name": "#bfdbfe"}

__all__ = ["bar", "coloured", "escape", "marked", "table"]


def marked(text: str, spans: Mapping[str, tuple[int, int]]) -> str:
    """The text with each span (``A``, ``B``, ``pronoun``) highlighted and named."""
    return coloured(text, sorted((span, name, name) for name, span in spans.items()))


def coloured(text: str, marks: Iterable[tuple[tuple[int, int], str, str]]) -> str:
    """The text with spans highlighted by kind (``A``, ``B``, ``pronoun``, ``name``), each followed by its note."""
    parts, at = [], 0
    for (start, end), kind, note in marks:
        below = f"<sub>{escape(note)}</sub>" if note else ""
        style = f"background:{_COLOURS[kind]};color:#111"
        parts += [escape(text[at:start]), f'<mark style="{style}">{escape(text[start:end])}{below}</mark>']
        at = end
    return "".join([*parts, escape(text[at:])])


def bar(name: str, share: float) -> str:
    """A share between 0 and 1 as a bar, with its name and percentage."""
    style = (
        "display:inline-block;padding:0 .4em;color:#111;"
        f"background:linear-gradient(to right,#bfdbfe {share:.0%},#f3f4f6 {share:.0%});width:14em;text-align:left"
    )
    return f'<span style="{style}">{escape(name)} {share:.0%}</span>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose cells are HTML already; column titles and the caption are text."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
