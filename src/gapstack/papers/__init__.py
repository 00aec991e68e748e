"""The papers' tables and experiments, published figures next to ours."""

from collections.abc import Mapping, Sequence

from gapstack.display.render import Cell

Rows = Sequence[tuple[str, Mapping[str, Cell]]]
