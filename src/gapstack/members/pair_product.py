"""Pair products: logits from elementwise products of the pronoun's and the names' vectors, fine-tuned.

Krige in Ionita et al. 2019, *Resolving Gendered Ambiguous Pronouns with BERT*, section 4.1: the fine-tuned half of the
fifth place. Each mention is the last layer's vector of its first piece. With P, A, B for the three, the logits are (P *
A) . w and (P * B) . w with one w for both names, and (P * P - A * B) . w_n for NEITHER, with dropout on w and w_n.

Differences: the encoder is the embedded MiniLM with rates that suit it; the paper does not state the number of epochs.
A and B share a bias, so swapping A and B swaps the probabilities. The paper mixes pseudo-labels into each batch; here
``teacher`` is learned first.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus
from gapstack.data.augment import augmented
from gapstack.data.gender import feminise
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.layers import first_pieces
from gapstack.settings import Count, FractionBelowOne
from gapstack.training import PieceData, Targets


class PairProduct(FineTuned):
    """Weighted products of the mentions' first pieces."""

    feminise: bool = False
    """Replace every masculine pronoun by the feminine one (his, him and hers by her)."""
    dropout: FractionBelowOne = 0.1
    """Dropout on the weights."""
    max_pieces: Count | None = 128

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": {"batch_size": 256, "encoder_lr": 2e-5, "head_lr": 2e-5, "label_smoothing": 0.01}
        | {"frozen": [], "schedule": {"shape": "linear", "warmup": 0.1}, "attention_dropout": True},
        "feminise": True,
        "max_pieces": 64,
    }
    """Half of the paper's models have ``max_pieces`` 128."""

    def _head(self, encoder: Encoder) -> nn.Module:
        return PairProductHead(encoder.hidden_size, self.dropout)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        rows = augmented(corpus, feminise) if self.feminise else corpus
        return PieceData(align(rows, encoder, self.max_pieces), targets)


class PairProductHead(nn.Module):
    """Three weighted sums of products of vectors of width ``width``."""

    def __init__(self, width: int, dropout: float = 0.1):
        super().__init__()
        self.dropout = dropout
        # of names and of neither
        self.weight = nn.Parameter(torch.empty(2, width))
        self.bias = nn.Parameter(torch.zeros(2))
        nn.init.normal_(self.weight, std=0.02)  # as BERT initialises

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and mention ranges (b, 3, 2) to logits (b, 3)."""
        pronoun, a, b = first_pieces(hidden, mentions).unbind(1)
        name, neither = functional.dropout(self.weight, self.dropout, self.training)
        logits = [(pronoun * a) @ name, (pronoun * b) @ name, (pronoun * pronoun - a * b) @ neither]
        return torch.stack(logits, dim=-1) + self.bias[[0, 0, 1]]
