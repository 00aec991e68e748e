"""Sequence classification: self-attentive spans of both names and the pronoun's first piece, three layers deep.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation*: the third of the
families (with ``question_answering`` and ``multiple_choice``) whose mean came ninth (stage 2 .20238); their mean has
F1 90.2 on GAP test with official labels, and no figure is given for this family alone.

With MiniLM and one epoch of the defaults' three, the first of five folds of GAP development and validation (seed 2019,
official labels) has logloss 0.642 and F1 76.9.

Hidden states are the last three layers side by side, 3 H wide. A and B are allennlp's self-attentive spans of them,
the pronoun is its first piece; [A; B; pronoun] goes through 512 ReLU units to three classes. Learning rates rise and
fall once.

What differs here:

- The released code cuts the text at the mentions, in the order of their *names* and not of their offsets, and drops
  what follows the last one: rows whose pronoun stands first or between the names are scrambled, and every row loses
  its tail. Here every row keeps its text.
- The encoder is the embedded MiniLM unless another is named, with the rates and epochs that suit it; :data:`PUBLISHED`
  has the released recipe.
- Probabilities are not clamped to 1e-4: clipping is the scorer's.

Swapping A and B does not swap the probabilities: each has its own weights. ``augment`` and ``average`` with
``swap_names`` make up for it.
"""

from __future__ import annotations

from typing import Any

import torch
from allennlp_light.modules.span_extractors import SelfAttentiveSpanExtractor
from torch import Tensor, nn

from gapstack.corpus import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.members.parts.fine_tuned import ON_GAP, FineTuned
from gapstack.members.parts.pooling import first_pieces, inclusive
from gapstack.training import PieceData, Schedule, Targets

PUBLISHED: dict[str, Any] = {
    "encoder": "bert-large-uncased",
    "training": {
        **{"epochs": 15, "batch_size": 10, "encoder_lr": 1e-5, "head_lr": 1e-5, "frozen": []},
        **{"schedule": {"shape": "triangular", "warmup": 0.0}, "label_smoothing": 0.0, "weight_decay": 0.0},
        "attention_dropout": True,
    },
}
"""Settings of the released code: ``create("sequence", **PUBLISHED)``."""

LAYERS = (-3, -2, -1)
_UNITS = 512


class SequenceClassifier(FineTuned):
    """Spans of A and B, and the pronoun's piece, to three classes."""

    PLAN = ON_GAP.changed({"schedule": Schedule(shape="triangular")})

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        # an encoder of two layers (as in tests) gives its embeddings as the third
        return LAYERS

    def _head(self, encoder: Encoder) -> nn.Module:
        return SequenceHead(len(LAYERS) * encoder.hidden_size)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        return PieceData(align(corpus, encoder, self.max_pieces), targets)


class SequenceHead(nn.Module):
    """Self-attentive spans and one piece through a hidden layer.

    Parameters
    ----------
    width : int
        Of the hidden states, layers side by side.
    """

    def __init__(self, width: int):
        super().__init__()
        self.extractor = SelfAttentiveSpanExtractor(width)
        self.dense = nn.Linear(3 * width, _UNITS)
        self.classifier = nn.Linear(_UNITS, len(Label))

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3) from hidden states (b, L, width) and mention ranges (b, 3, 2)."""
        # (b, 2, width)
        names = self.extractor(hidden, inclusive(mentions[:, 1:]))
        pronoun = first_pieces(hidden, mentions[:, :1])
        joined = torch.cat([names, pronoun], dim=1).flatten(1)
        logits: Tensor = self.classifier(torch.relu(self.dense(joined)))
        return logits
