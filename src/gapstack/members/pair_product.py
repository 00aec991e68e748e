"""Pair products: logits from elementwise products of the pronoun's and the names' vectors, fine-tuned.

Krige in Ionita et al. 2019, *Resolving Gendered Ambiguous Pronouns with BERT*, section 4.1: the fine-tuned half of the
fifth place (stage 2: single models .219 to .257, their mean .192).

Each mention is the last layer's vector of its first piece. With P, A, B for the three, the logits are (P * A) . w and
(P * B) . w with one w for both names, and (P * P - A * B) . w_n for NEITHER. Dropout is applied to w and w_n.

The paper reports, on GAP test with official labels and BERT-large trained on TPUs, logloss .346 for the mean of six
such models (.459 to .579 each, as their files score here).

With MiniLM and the defaults, the first of five folds of GAP development and validation (seed 2019, official labels)
has logloss 0.629 and F1 77.0.

What differs here:

- The encoder is the embedded MiniLM unless another is named, with rates that suit it; :data:`PUBLISHED` has the
  paper's rates, warm-up, batch and smoothing. Its number of epochs is not stated.
- A and B share a bias, so swapping A and B swaps the probabilities exactly.
- Windows of 64 or 128 pieces are cut by the paper's rule (:mod:`gapstack.encoding.pieces`); mentions too long for one
  are refused.
- The paper mixes pseudo-labels with GAP's rows 64 to 128 in each batch; here ``teacher`` first trains on other
  systems' probabilities for the unscored rows of stage 2. It is off by default, and recorded as contamination.
- ``feminise`` maps all pronouns to *she* and *her* in training and prediction, as the paper's option does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.corpus import Corpus
from gapstack.corpus.augment import augmented, feminise
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.kinds import Count, NotAll
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.members.parts.pooling import first_pieces
from gapstack.training import PieceData, Targets

PUBLISHED: dict[str, Any] = {
    "encoder": "bert-large-uncased",
    "training": {
        **{"batch_size": 256, "encoder_lr": 2e-5, "head_lr": 2e-5, "label_smoothing": 0.01, "frozen": []},
        **{"schedule": {"shape": "linear", "warmup": 0.1}, "attention_dropout": True},
    },
    "feminise": True,
    "max_pieces": 64,
}
"""Settings of the paper: ``create("pair_product", **PUBLISHED)``; ``max_pieces`` 128 for half of its models."""


class PairProduct(FineTuned):
    """Weighted products of the mentions' first pieces.

    Parameters
    ----------
    feminise : bool
        Replace every masculine pronoun by the feminine one (his, him and hers by her).
    dropout : float
        On the weights.
    max_pieces : int, optional
        Longest window in pieces; None for the encoder's limit.
    """

    feminise: bool = False
    dropout: NotAll = 0.1
    max_pieces: Count | None = 128

    def _head(self, encoder: Encoder) -> nn.Module:
        return PairProductHead(encoder.hidden_size, self.dropout)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        rows = augmented(corpus, feminise) if self.feminise else corpus
        return PieceData(align(rows, encoder, self.max_pieces), targets)


class PairProductHead(nn.Module):
    """Three weighted sums of products.

    Parameters
    ----------
    width : int
        Of the vectors.
    dropout : float
        On the weights.
    """

    def __init__(self, width: int, dropout: float = 0.1):
        super().__init__()
        self.dropout = dropout
        # of names and of neither
        self.weight = nn.Parameter(torch.empty(2, width))
        self.bias = nn.Parameter(torch.zeros(2))
        nn.init.normal_(self.weight, std=0.02)  # as BERT initialises

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3) from hidden states (b, L, H) and mention ranges (b, 3, 2)."""
        pronoun, a, b = first_pieces(hidden, mentions).unbind(1)
        name, neither = functional.dropout(self.weight, self.dropout, self.training)
        logits = [(pronoun * a) @ name, (pronoun * b) @ name, (pronoun * pronoun - a * b) @ neither]
        return torch.stack(logits, dim=-1) + self.bias[[0, 0, 1]]
