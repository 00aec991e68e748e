"""Transformer-Single (Webster et al. 2018, section 4.4): the name with the most attention of one head.

The paper reads head 7 of layer 3 of its own translation model, chosen on GAP validation. Here it is any encoder's; by
default the head that is best on the training rows, with probabilities from its margin by the cues' monotone model. The
paper reads attention from the name to the pronoun; by default this member adds the other way, which is better
(:mod:`gapstack.encoding.attention`). F1 on GAP development, gold-two-mention, of the embedded encoder's best head on
GAP validation: 71.0, and 68.3 with ``direction="name-to-pronoun"`` (paper: 58.1).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Label
from gapstack.encoding.attention import Attention, attention
from gapstack.errors import NotFittedError
from gapstack.kinds import Natural
from gapstack.members.member import State
from gapstack.members.parts.cues import CueMember
from gapstack.members.parts.learner import Lessons
from gapstack.scoring.gap import f1_percent
from gapstack.text.cues import CueDecisions
from gapstack.text.scenes import Candidates


def head_f1(lessons: Lessons, weights: Attention, direction: str) -> NDArray[np.float64]:
    """Overall F1 of each head's favourite by the targets, (layers, heads), in percent (the paper's Table 8)."""
    # (n, L, H, 2) -> (L, H, n, 2)
    decided = np.moveaxis(weights.choices(direction), 0, 2).astype(np.float64)
    of_rows = np.repeat(lessons.weights[:, None], Label.NEITHER, axis=1)
    true = of_rows * lessons.targets[:, : Label.NEITHER]
    tp = np.tensordot(decided, true, axes=2)
    return f1_percent(tp, np.tensordot(decided, of_rows, axes=2) - tp, true.sum() - tp)


class TransformerSingle(CueMember):
    """The name with the most attention of one head.

    Parameters
    ----------
    layer, head : int, optional
        The head, both counted from 0. By default the one with the best overall F1 on the training rows, among all
        heads or those of ``layer``.
    direction : str
        ``pronoun-to-name``, ``name-to-pronoun``, their sum ``both``, or ``each``; see
        :class:`~gapstack.encoding.attention.Direction`.
    encoder : str, optional
        As for :func:`~gapstack.encoding.encoders.load_encoder`; by default the embedded one.
    candidates, context, ridge, parser, extra, teacher, gold_weight
        As for :class:`~gapstack.members.parts.cues.CueMember`; a parser is needed for detected names only.

    Attributes
    ----------
    layer_, head_ : int
        The head in use.
    """

    layer: Natural | None = None
    head: Natural | None = None
    direction: Literal["pronoun-to-name", "name-to-pronoun", "both", "each"] = "both"
    encoder: str | None = None

    def cue_decisions(self, corpus: Corpus) -> CueDecisions:
        """Raw decisions with their margins in decibels.

        Raises
        ------
        NotFittedError
            Before ``fit``, unless layer and head are given.
        """
        layer, head = self._head_in_use()
        return self._attention(corpus).cue_decisions(layer, head, self.direction)

    def head_table(self, corpus: Corpus) -> NDArray[np.float64]:
        """Overall F1 of every head on a labelled corpus, (layers, heads), in percent; needs no fit."""
        return self._head_f1(Lessons.given(corpus))

    def _head_f1(self, lessons: Lessons) -> NDArray[np.float64]:
        return head_f1(lessons, self._attention(lessons.corpus), self.direction)

    def _needs_parses(self) -> bool:
        return self.candidates == Candidates.DETECTED

    def _attention(self, corpus: Corpus) -> Attention:
        return attention(corpus, self.encoder, self.candidates, self.parser)

    def _head_in_use(self) -> tuple[int, int]:
        if hasattr(self, "layer_"):
            return self.layer_, self.head_
        if self.layer is None or self.head is None:
            raise NotFittedError(
                "TransformerSingle has no head yet; give layer and head, or call fit(corpus)"
            )
        return self.layer, self.head

    def _prepare(self, corpus: Corpus) -> None:
        """Compute all heads in one pass."""
        self._attention(corpus)

    def _learn(self, lessons: Lessons) -> None:
        if self.layer is None or self.head is None:
            table = self._head_f1(lessons)
            allowed = np.ones_like(table, dtype=bool)
            if self.layer is not None:
                allowed &= np.arange(len(table))[:, None] == self.layer
            if self.head is not None:
                allowed &= np.arange(table.shape[1]) == self.head
            layer, head = np.unravel_index(np.where(allowed, table, -1.0).argmax(), table.shape)
            self.layer_, self.head_ = int(layer), int(head)
        else:
            self.layer_, self.head_ = self.layer, self.head
        super()._learn(lessons)

    def _state(self) -> State:
        state = super()._state()
        state.values |= {"layer": self.layer_, "head": self.head_}
        return state

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.layer_, self.head_ = state.values["layer"], state.values["head"]
