"""Multiple choice: three endings of "text {pronoun} is ...", A, B and "other", scored by a fine-tuned encoder.

Chada 2019, *Gendered Pronoun Resolution using BERT and an extractive question answering formulation* (the shared
task's ninth place), the second of its three families; facts from the released code.

Each row is three inputs, ``[CLS] text {pronoun} is [SEP] ending [SEP]``. The vector of the first piece goes through a
dense layer with tanh and dropout to one logit; softmax over the three, clipped to .001 and .999.

The paper reports no figure for this family alone; the mean of all three families has, on GAP test, an F1 of 90.2 with
BERT-large; whether on corrected labels is not said.

What differs here:

- A long text is cut around its mentions, alike for all three inputs, to leave room for the longest ending.
- Rates and frozen embeddings are those that suit other members over the embedded encoder, and were not chosen for this
  one; :data:`PUBLISHED` has Chada's. Three inputs a row cost three times as much as other members, so there are two
  epochs, as Chada has.
- The encoder's pooler, where it has one, is not used: the dense layer is randomly initialised.

The three inputs of a row differ in a name among a hundred pieces, so a tiny random encoder needs far more updates to
memorise rows than a test may make, and its test asks for less than others. Swapping A and B swaps the probabilities.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.corpus import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView
from gapstack.encoding.sizes import Size
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.kinds import BelowThird
from gapstack.members.member import Probabilities
from gapstack.members.parts.fine_tuned import ON_GAP, FineTuned
from gapstack.members.parts.frozen_phase import needs_no_encoder
from gapstack.members.parts.pairs import with_endings
from gapstack.members.work import RowCounts, Work
from gapstack.training import PieceData, RowData, Targets, TrainingPlan
from gapstack.types import Rows

PUBLISHED: dict[str, Any] = {
    "encoder": "bert-large-uncased",
    "training": {
        **{"epochs": 2, "batch_size": 4, "encoder_lr": 1e-5, "head_lr": 1e-5, "frozen": []},
        **{"label_smoothing": 0.0, "attention_dropout": True},
    },
}
"""Settings of the released code: ``create("multiple_choice", **PUBLISHED)``."""

OTHER = "other"
"""The ending that stands for NEITHER."""


class MultipleChoice(FineTuned):
    """Three endings of one sentence, each with a logit of the encoder.

    Parameters
    ----------
    clip : float
        Probabilities are clipped to ``clip`` and 1 - ``clip``.

    Raises
    ------
    MemberError
        If ``clip`` is out of range, a phase of ``training`` freezes the whole encoder, or the mentions of a text,
        its closing words and the longer name do not fit into the window.
    """

    clip: BelowThird = 0.001

    PLAN = ON_GAP.changed({"epochs": 2})

    def _plans(self) -> tuple[TrainingPlan, ...]:
        plans = super()._plans()
        if any(map(needs_no_encoder, plans)):
            raise MemberError(
                "training freezes the whole encoder; only an encoder that learns can tell the endings apart. "
                "Freeze some of its layers"
            )
        return plans

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Count three inputs for each row."""
        return super().work(size, replace(rows, pieces=rows.pieces * len(Label)))

    def _head(self, encoder: Encoder) -> nn.Module:
        return ChoiceHead(encoder.hidden_size)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> ChoiceData:
        closings = [f" {example.pronoun_text} is" for example in corpus]
        endings = [(example.a_text, example.b_text, OTHER) for example in corpus]
        return ChoiceData(with_endings(corpus, encoder, closings, endings, self.max_pieces), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.clip(super()._predict_proba(corpus), self.clip, 1 - self.clip)


class ChoiceData:
    """Rows of k inputs each, which the encoder reads as k texts.

    A batch of b rows, the longest input of L pieces, is ``ids`` and ``keep`` (b * k, L) as in
    :class:`~gapstack.training.PieceData`, a row's k inputs one after the other, and ``target`` (b,) or (b, k).

    Parameters
    ----------
    view : PieceView
        Of n * k inputs, a row's one after the other.
    targets : (n,) int64 or (n, k) float64, optional
    choices : int
        k.
    """

    def __init__(self, view: PieceView, targets: Targets | None = None, choices: int = len(Label)):
        self._inputs = PieceData(view)
        self._targets = None if targets is None else RowData({}, targets)
        self._choices = choices

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Pieces of each row with its inputs padded to its longest, (n,)."""
        longest = self._inputs.sizes.reshape(-1, self._choices).max(axis=1, initial=0)
        return np.asarray(self._choices * longest)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all inputs and targets."""
        return fingerprint(
            self._inputs.fingerprint, self._targets and self._targets.fingerprint, self._choices
        )

    def batch(self, rows: Rows, length: int | None = None) -> dict[str, Tensor]:
        """See the class and :class:`~gapstack.training.Data`."""
        inputs = (rows[:, None] * self._choices + np.arange(self._choices)).ravel()
        batch = self._inputs.batch(inputs, None if length is None else length // self._choices)
        del batch["mentions"]  # three ranges of each input, which no head needs
        return batch | (self._targets.batch(rows) if self._targets else {})


class ChoiceHead(nn.Module):
    """Pooler-like dense layer, dropout and one logit over the first piece of each of k inputs."""

    def __init__(self, width: int, choices: int = len(Label), dropout: float = 0.1):
        super().__init__()
        self.choices = choices
        self.dense = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, 1)
        for layer in (self.dense, self.classifier):  # as BERT initialises
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, k) from hidden states (b * k, L, H)."""
        # (b * k, H)
        vectors = torch.tanh(self.dense(hidden[:, 0]))
        logits: Tensor = self.classifier(self.dropout(vectors)).view(-1, self.choices)
        return logits
