"""Probe a language model for memorised rows: how it continues them, and its loss on their texts.

A memorised text is continued word for word from its first half (Carlini et al. 2023), and is much more probable than
the same text with other names, or than new texts of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gapstack.data import Corpus
from gapstack.data.augment import anonymise_names, augmented
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.errors import MemberError
from gapstack.members.member import Predictor
from gapstack.progress import progress

if TYPE_CHECKING:
    from gapstack.members.prompted import Prompted

ROWS = 100  # rows of each kind that are probed
VERBATIM = 8  # number of words that count as a verbatim continuation
_TOKENS = 48
_NOTE = (
    f"Continued: rows whose second half begins with the {VERBATIM} words with which the model continues the first. "
    "Loss: nats per character, of models that give log-probabilities of a text. A model that continues rows, or loses "
    "much less on them than on other names and on fresh rows, has seen them; the reverse shows nothing."
)


def probe_table(systems: Mapping[str, Predictor], rows: Corpus, fresh: Corpus | None = None) -> Table:
    """Probe language models with rows of a test set, the same rows with other names, and rows newer than the models.

    Raises MemberError if none of the systems is a language model.
    """
    from gapstack.members.prompted import Prompted  # imports torch, which other audits do without

    models = {label: system for label, system in systems.items() if isinstance(system, Prompted)}
    if not models:
        raise MemberError(
            "a probe needs a language model: prompted:MODEL, its address, or a saved prompted member"
        )
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:ROWS])
    kinds = {rows.name: rows.take(chosen)}
    kinds["other names"] = augmented(kinds[rows.name], anonymise_names)
    if fresh is not None:
        kinds["fresh rows"] = fresh[:ROWS]
    sections = []
    for label, member in models.items():
        lines = [(name, _measured(member, corpus.texts)) for name, corpus in kinds.items()]
        sections.append(Section(label, lines))
    columns = [Column("rows", "rows"), Column("continued", "continued %", 1), Column("loss", "loss", 3)]
    return Table(columns, sections, title="Has the model seen these rows?", caption=_NOTE, name_title="rows")


def _measured(member: Prompted, texts: Sequence[str]) -> dict[str, Cell]:
    halves = [(text[:cut], text[cut:].split()) for text in texts for cut in [_middle(text)]]
    with progress("continuing", len(texts)) as ticker:
        continued = []
        for given, rest in halves:
            words = member.continuation(given, _TOKENS).split()
            continued.append(len(rest) >= VERBATIM and words[:VERBATIM] == rest[:VERBATIM])
            ticker.advance()
    losses = member.losses(texts)
    cells: dict[str, Cell] = {"rows": len(texts), "continued": 100 * float(np.mean(continued))}
    return cells | {"loss": None if losses is None else float(losses.mean())}


def _middle(text: str) -> int:
    """Position of the first space after the middle of a text."""
    return max(text.find(" ", len(text) // 2), 0) or len(text)
