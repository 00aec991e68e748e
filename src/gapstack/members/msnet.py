"""MSnet: attention without parameters in each of the upper layers, trained in two phases.

Wang 2019, *MSnet: A BERT-based Network for Gendered Pronoun Resolution*: second place (stage 2 .17289, F1 95.7).

In each of the last eight layers, the pronoun is the mean of its pieces and each name a sum of its pieces, layer
normalised, weighted by softmax(dropout(piece) . pronoun / sqrt(H)). Pronoun, names and the products of pronoun and
name go through a linear layer to 16 numbers a layer; all layers' numbers, batch normalised, and two scalars, tanh of
each name's offset from the pronoun, are classified. First the head is trained on the frozen encoder, then encoder and
head; embeddings stay frozen.

The paper reports, with BERT-large cased trained on GAP test and validation (official labels), logloss .302 in
cross-validation (five folds not grouped by page) and .280 on GAP development.

With MiniLM and the defaults, the first of five folds of GAP development and validation (seed 2019, official labels)
has logloss 0.636 and F1 76.6. The first phase keeps six layers of all pieces in memory: 5 GB at most, on these rows.

What differs here:

- The encoder is the embedded MiniLM unless another is named; one of fewer than eight layers gives all of them. The
  first phase has fewer epochs and no early stopping, the second rates that suit MiniLM. :data:`PUBLISHED` has the
  paper's recipe.
- Pieces are aligned with mentions, where the paper tokenises five parts of the text apart; a piece across a mention's
  edge belongs to the mention. Windows lose no mention, so no row is trimmed by hand.
- Offsets are in hundreds of pieces, since tanh of a number of pieces is little more than its sign.

Swapping A and B does not swap the probabilities: each has its own weights, as in the paper. ``augment`` and
``average`` with ``swap_names`` make up for it.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.corpus import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.kinds import Count, NotAll
from gapstack.members.parts.dense import BatchNorm, ParallelLinear
from gapstack.members.parts.fine_tuned import ON_GAP, FineTuned
from gapstack.members.parts.pooling import mean_of_pieces, mention_pieces, query_attention
from gapstack.training import PieceData, Schedule, Targets, TrainingPlan

PUBLISHED: dict[str, Any] = {
    "encoder": "bert-large-cased",
    "training": [
        {
            **{"epochs": 30, "batch_size": 32, "head_lr": 4e-4, "patience": 3, "label_smoothing": 0.0},
            "schedule": {"shape": "constant", "warmup": 0.0},
        },
        {
            **{"epochs": 20, "batch_size": 5, "encoder_lr": 5e-6, "head_lr": 5e-6, "patience": 4},
            **{"label_smoothing": 0.0, "attention_dropout": True},
            "schedule": {"shape": "constant", "warmup": 0.0},
        },
    ],
}
"""Settings of the paper: ``create("msnet", **PUBLISHED)``."""

# pieces, enough for 32 of the longest windows: batch normalisation needs the batch in one pass
_WHOLE_BATCH = 16_384
_OFFSET_UNIT = 100.0  # pieces


class MSNet(FineTuned):
    """A few numbers from attended spans of each upper layer, and a classifier.

    Parameters
    ----------
    layers : int
        Number of upper layers; all, where the encoder has no more.
    width : int
        Numbers that each layer gives.
    pooling : str
        How a name's pieces become its vector: by ``attention`` to the pronoun, or their ``mean``, with which the paper
        compares it.
    attention_dropout, dropout : float
        On each layer's inputs of attention and products, and on all layers' numbers.
    training : sequence of mappings, optional
        One for each of the two phases, or one for both.
    """

    layers: Count = 8
    width: Count = 16
    pooling: Literal["attention", "mean"] = "attention"
    attention_dropout: NotAll = 0.4
    dropout: NotAll = 0.6

    PLAN = (
        TrainingPlan(
            epochs=10,
            batch_size=32,
            head_lr=1e-3,
            frozen=("encoder",),
            schedule=Schedule(shape="linear", warmup=0.1),
            label_smoothing=0.05,
            token_budget=_WHOLE_BATCH,
        ),
        ON_GAP.changed({"token_budget": _WHOLE_BATCH}),
    )

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        return tuple(range(-min(self.layers, encoder.num_layers), 0))

    def _head(self, encoder: Encoder) -> nn.Module:
        layers = len(self._layers(encoder))
        return MSNetHead(
            encoder.hidden_size, layers, self.width, self.attention_dropout, self.dropout, self.pooling
        )

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        return PieceData(align(corpus, encoder, self.max_pieces), targets)


class MSNetHead(nn.Module):
    """Spans by attention without parameters in each layer, a few numbers of each, and a classifier.

    Parameters
    ----------
    hidden : int
        Width H of the encoder.
    layers : int
        Number of its layers side by side in the input of :meth:`forward`.
    width, attention_dropout, dropout, pooling
        See :class:`MSNet`.
    """

    def __init__(
        self,
        hidden: int,
        layers: int,
        width: int,
        attention_dropout: float,
        dropout: float,
        pooling: str = "attention",
    ):
        super().__init__()
        self.layers, self.pooling = layers, pooling
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.score = ParallelLinear(layers, 5 * hidden, width)
        self.offset = nn.Linear(1, 1)
        self.norm = BatchNorm(layers * width)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(layers * width + 2, len(Label))
        nn.init.normal_(self.score.weight, std=(2 / (5 * hidden)) ** 0.5)  # He et al. 2015
        for layer in (self.offset, self.classifier):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3) from hidden states (b, L, layers * H) and mention ranges (b, 3, 2)."""
        # (layers, b, width) -> (b, layers * width)
        scores = self.score(self.attention_dropout(self.crossed(hidden, mentions)))
        scores = self.norm(scores.transpose(0, 1).flatten(1))
        # (b, 2): names after the pronoun have positive offsets
        starts = mentions[..., 0]
        offsets = (starts[:, 1:] - starts[:, :1]) / _OFFSET_UNIT
        offsets = torch.tanh(self.offset(offsets[..., None]).squeeze(-1))
        logits: Tensor = self.classifier(torch.cat([self.dropout(functional.relu(scores)), offsets], dim=-1))
        return logits

    def crossed(self, hidden: Tensor, mentions: Tensor) -> Tensor:
        """Give [pronoun; A; B; pronoun * A; pronoun * B] of each layer, (layers, b, 5 * H)."""
        vectors, keep = mention_pieces(hidden, mentions)
        # (3, layers, b, W, H) and (3, b, W)
        vectors = vectors.unflatten(-1, (self.layers, -1)).permute(1, 3, 0, 2, 4)
        keep = keep.transpose(0, 1)
        pronoun = mean_of_pieces(vectors[0], keep[0])
        names = functional.layer_norm(vectors[1:], vectors.shape[-1:])
        if self.pooling == "mean":
            names = mean_of_pieces(names, keep[1:, None])
        else:
            names = query_attention(names, keep[1:, None], pronoun, self.attention_dropout(names))
        return torch.cat([pronoun, *names, *(pronoun * names)], dim=-1)
