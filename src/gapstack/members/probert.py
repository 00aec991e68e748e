"""ProBERT: an encoder fine-tuned on tagged mentions, and three classes from the pronoun's vector.

Attree 2019, *Gendered Ambiguous Pronouns Shared Task: Boosting Model Confidence by Evidence Pooling*, section 3.1: the
part of GREP, the shared task's first place, that reads no evidence.

The mentions are tagged in the input, ``<A> Kate <A> ... <P> her <P>``; the tags are dropped from the output. The last
layer's vector of the pronoun's first piece goes through a dense layer with tanh (randomly initialised, as in the
released code; the paper's equation leaves it out) and dropout to three classes.

The paper reports, on GAP test with *its own corrected labels*, F1 87.8 and logloss .382 for BERT-base, 89.7 and .376
for BERT-large uncased, trained on development and stopped by validation.

What differs here:

- The encoder is the embedded MiniLM unless another is named: 22 million parameters, where BERT has 110 or 340, which
  the paper's constant 4e-6 would hardly move. The defaults are rates near 1e-4 that warm up and fall, a fixed number
  of epochs, frozen embeddings and a little label smoothing. :data:`PUBLISHED` has the paper's recipe for BERT.
- Tags are put around word pieces, not into the text, and windows are cut so that no mention is lost; the released code
  refuses a text whose mentions do not fit into one run of 512 pieces.
- Attention probabilities have no dropout in training; see :class:`~gapstack.training.TrainingPlan`.

Swapping A and B does *not* swap the probabilities exactly: ``<A>`` and ``<B>`` are different words to the encoder, and
the last layer has weights of its own for each class. A always precedes B in GAP, and the member learns that too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gapstack.corpus import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.members.parts.tags import ATTREE, tagged
from gapstack.training import PieceData, Targets

PUBLISHED: dict[str, Any] = {"encoder": "bert-large-uncased", "training": ATTREE}
"""Settings of the paper: ``create("probert", **PUBLISHED)``."""


class ProBERT(FineTuned):
    """Three classes from the pronoun's vector over tagged mentions."""

    def _head(self, encoder: Encoder) -> nn.Module:
        return PronounHead(encoder.hidden_size)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        pieces = tagged(corpus, encoder, self.max_pieces)
        # positions in the output with the tags dropped are positions in the whole output that are no tag's
        pronoun = pieces.view.mentions[:, MENTIONS.index("pronoun"), 0]
        return PieceData(pieces.view, targets, {"pronoun": pronoun.astype(np.int64)})


class PronounHead(nn.Module):
    """Pooler-like dense layer, dropout and classifier over one vector.

    Parameters
    ----------
    width : int
        Of the vector.
    dropout : float
    """

    def __init__(self, width: int, dropout: float = 0.1):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, len(Label))
        for layer in (self.dense, self.classifier):  # as BERT initialises
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, pronoun: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3) from hidden states (b, L, H) and the pronouns' positions (b,)."""
        # (b, H)
        vector = hidden[torch.arange(len(hidden), device=hidden.device), pronoun]
        logits: Tensor = self.classifier(self.dropout(torch.tanh(self.dense(vector))))
        return logits
