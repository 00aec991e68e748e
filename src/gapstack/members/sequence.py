"""Sequence classification: self-attentive spans of both names and the pronoun's first piece, three layers deep.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation*: one of the three
families (with ``question_answering`` and ``multiple_choice``) whose mean came ninth. Hidden states are the last three
layers side by side. A and B are allennlp's self-attentive spans of them, the pronoun is its first piece; [A; B;
pronoun] goes through 512 ReLU units to three classes. Learning rates rise and fall once.

Differences: the released code cuts the text at the mentions in the order of their names, which scrambles rows whose
pronoun is not last and drops every row's tail; here every row keeps its text. The encoder is the embedded MiniLM.
Swapping A and B does not swap the probabilities; use ``augment`` and ``average`` with ``swap_names``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gapstack.data import Label
from gapstack.encoding.encoders import Encoder
from gapstack.members.fine_tuned import ON_GAP, FineTuned
from gapstack.members.layers import first_pieces, inclusive, self_attentive_extractor
from gapstack.training import Schedule

LAYERS = (-3, -2, -1)
_UNITS = 512


class SequenceClassifier(FineTuned):
    """Spans of A and B, and the pronoun's piece, to three classes."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": {"epochs": 15, "batch_size": 10, "encoder_lr": 1e-5, "head_lr": 1e-5, "frozen": []}
        | {"label_smoothing": 0.0, "weight_decay": 0.0, "attention_dropout": True}
        | {"schedule": {"shape": "triangular", "warmup": 0.0}},
    }
    PLAN = ON_GAP.changed({"schedule": Schedule(shape="triangular")})

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        # an encoder of two layers (as in tests) gives its embeddings as the third
        return LAYERS

    def _head(self, encoder: Encoder) -> nn.Module:
        return SequenceHead(len(LAYERS) * encoder.hidden_size)


class SequenceHead(nn.Module):
    """Self-attentive spans and one piece, of width ``width``, through a hidden layer."""

    def __init__(self, width: int):
        super().__init__()
        self.extractor = self_attentive_extractor(width)
        self.dense = nn.Linear(3 * width, _UNITS)
        self.classifier = nn.Linear(_UNITS, len(Label))

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, width) and mention ranges (b, 3, 2) to logits (b, 3)."""
        # (b, 2, width)
        names = self.extractor(hidden, inclusive(mentions[:, 1:]))
        pronoun = first_pieces(hidden, mentions[:, :1])
        joined = torch.cat([names, pronoun], dim=1).flatten(1)
        return self.classifier(torch.relu(self.dense(joined)))
