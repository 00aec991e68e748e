"""How a table is laid out in a width: blocks of columns one above the other, names cut in the middle, nothing else cut.

Sizes are terminal cells: a letter of Chinese takes two, a combining accent none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

GAP = 2
"""Spaces between two columns."""
_LEAST_NAME = 20
"""Names give way to numbers down to this, or to a third of the width if that is more, before columns are stacked."""


@dataclass(frozen=True, slots=True)
class Block:
    """Columns, by their places, that stand side by side, and the size of the names before them."""

    name: int
    columns: Sequence[int]


def blocks(name: int, sizes: Sequence[int], groups: Sequence[str], width: int) -> list[Block]:
    """Distribute columns of these sizes over blocks, each with all names before it.

    Neighbours of the same group stay together where a block has room for them. A column that is wider than ``width``
    has a block alone.

    Parameters
    ----------
    name : int
        Size of the longest name.
    sizes, groups : sequences
        Of each column; "" is no group.
    width : int
        Cells of a line.
    """
    least = min(name, max(_LEAST_NAME, width // 3))
    room = width - least
    chunks: list[list[int]] = []
    for place, group in enumerate(groups):
        together = bool(chunks) and group != "" and groups[place - 1] == group
        if together and extent([*chunks[-1], place], sizes) <= room:
            chunks[-1].append(place)
        else:
            chunks.append([place])
    parts: list[list[int]] = [[]]
    for chunk in chunks:
        if parts[-1] and extent([*parts[-1], *chunk], sizes) > room:
            parts.append([])
        parts[-1] += chunk
    # names are cut alike in all blocks, but for one whose only column leaves them less
    left_over = [width - extent(part, sizes) for part in parts]
    size = min([name, *(max(least, rest) for rest in left_over)])
    return [Block(max(1, min(size, rest)), part) for part, rest in zip(parts, left_over, strict=True)]


def extent(columns: Sequence[int], sizes: Sequence[int]) -> int:
    """Cells that columns take side by side, each with the gap before it."""
    return sum(GAP + sizes[place] for place in columns)


def cut(text: str, size: int) -> str:
    """Text in at most ``size`` cells; an ellipsis in the middle says where something is missing."""
    if cell_len(text) <= size:
        return text
    left = size // 2
    head = set_cell_size(text, left).rstrip()
    tail = set_cell_size(text[::-1], size - left - 1)[::-1].lstrip() if size - left > 1 else ""
    return f"{head}…{tail}"


def left(text: str, size: int) -> str:
    """Pad to ``size`` cells."""
    return text + " " * (size - cell_len(text))


def right(text: str, size: int) -> str:
    """Pad to ``size`` cells from the left."""
    return " " * (size - cell_len(text)) + text


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` cells, broken between words where possible; no line for no text."""
    lines = Text(text).wrap(_CONSOLE, width) if text else ()
    return [line.plain.rstrip() for line in lines]


_CONSOLE = Console(quiet=True)
