"""Multiple choice: three endings of "text {pronoun} is ...", A, B and "other", scored by a fine-tuned encoder.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation*: one of the three
families whose mean came ninth; facts from the released code. Each row is three inputs, ``[CLS] text {pronoun} is [SEP]
ending [SEP]``. The vector of the first piece goes through a dense layer with tanh and dropout to one logit; softmax
over the three, clipped to 0.001 and 0.999.

Differences: a long text is cut around its mentions, alike for all three inputs. Rates and frozen embeddings are those
of other members over the embedded encoder; ``PUBLISHED`` has Chada's. The encoder's pooler is not used: the dense
layer is randomly initialised. Swapping A and B swaps the probabilities.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.members.added_pieces import with_endings
from gapstack.members.fine_tuned import ON_GAP, FineTuned, freezes_encoder
from gapstack.members.layers import initialise_like_bert
from gapstack.settings import FractionBelowThird
from gapstack.training import PieceData, RowData, Targets, TrainingPlan
from gapstack.types import Ints, Probabilities, Rows

OTHER = "other"
"""The ending that stands for NEITHER."""


class MultipleChoice(FineTuned):
    """Three endings of one sentence, each with a logit of the encoder."""

    clip: FractionBelowThird = 0.001
    """Probabilities are clipped to ``clip`` and 1 - ``clip``."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": {"epochs": 2, "batch_size": 4, "encoder_lr": 1e-5, "head_lr": 1e-5}
        | {"frozen": [], "label_smoothing": 0.0, "attention_dropout": True},
    }
    PLAN = ON_GAP.changed({"epochs": 2})

    def plans(self) -> tuple[TrainingPlan, ...]:
        """Return the plan of each phase; raises MemberError if one freezes the whole encoder."""
        plans = super().plans()
        if any(map(freezes_encoder, plans)):
            raise MemberError(
                "training freezes the whole encoder; only an encoder that learns can distinguish the endings. "
                "Freeze some of its layers"
            )
        return plans

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
    :class:`~gapstack.training.PieceData`, a row's k inputs one after the other, and ``target`` (b,) or (b, k). ``view``
    has n * k inputs in this order.
    """

    def __init__(self, view: PieceView, targets: Targets | None = None, choices: int = len(Label)):
        self._inputs, self._choices = PieceData(view), choices
        self._targets = None if targets is None else RowData({}, targets)
        longest = view.lengths.reshape(-1, choices).max(axis=1, initial=0)
        self.sizes: Ints = choices * longest

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all inputs and targets."""
        return fingerprint(
            self._inputs.fingerprint, self._targets and self._targets.fingerprint, self._choices
        )

    def batch(self, rows: Rows) -> dict[str, Tensor]:
        """See the class and :class:`~gapstack.training.Data`."""
        batch = self._inputs.batch((rows[:, None] * self._choices + np.arange(self._choices)).ravel())
        del batch["mentions"]  # of each input; the head needs none
        return batch | (self._targets.batch(rows) if self._targets else {})


class ChoiceHead(nn.Module):
    """Pooler-like dense layer, dropout and one logit over the first piece of each of k inputs."""

    def __init__(self, width: int, choices: int = len(Label), dropout: float = 0.1):
        super().__init__()
        self.choices = choices
        self.dense = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, 1)
        initialise_like_bert(self.dense, self.classifier)

    def forward(self, hidden: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b * k, L, H) to logits (b, k)."""
        return self.classifier(self.dropout(torch.tanh(self.dense(hidden[:, 0])))).view(-1, self.choices)
