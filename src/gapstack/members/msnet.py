"""MSnet: attention without parameters in each of the upper layers, trained in two phases.

Wang 2019, *MSnet: A BERT-based Network for Gendered Pronoun Resolution*: second place. In each of the last eight
layers, the pronoun is the mean of its pieces and each name a sum of its pieces, layer normalised, weighted by
softmax(dropout(piece) . pronoun / sqrt(H)). Pronoun, names and the products of pronoun and name go through a linear
layer to 16 numbers a layer; all layers' numbers, batch normalised, and tanh of each name's offset from the pronoun are
classified. First the head is trained on the frozen encoder, then encoder and head; embeddings stay frozen.

Differences: the encoder is the embedded MiniLM, with fewer epochs and rates that suit it, read in all layers if it has
fewer than eight. Pieces are aligned with mentions, where the paper tokenises five parts of the text apart. Offsets are
in hundreds of pieces, since tanh of a number of pieces is little more than its sign. Swapping A and B does not swap the
probabilities, as in the paper.
"""

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Label
from gapstack.encoding.encoders import Encoder
from gapstack.members.fine_tuned import HEAD_ALONE, ON_GAP, FineTuned
from gapstack.members.layers import BatchNorm, ParallelLinear, allennlp, inclusive, masked_mean
from gapstack.settings import Count, FractionBelowOne
from gapstack.training.plan import CONSTANT_RATE

WHOLE_BATCH = 16_384
"""Token budget in pieces, enough for 32 of the longest windows: batch normalisation needs the batch in one pass."""
_OFFSET_UNIT = 100.0  # pieces


class MSNet(FineTuned):
    """A few numbers from attended spans of each upper layer, and a classifier."""

    layers: Count = 8
    """Number of upper layers; all, where the encoder has no more."""
    width: Count = 16
    """Number of values that each layer gives."""
    pooling: Literal["attention", "mean"] = "attention"
    """How a name's pieces become its vector: by ``attention`` to the pronoun, or their ``mean``, for comparison."""
    attention_dropout: FractionBelowOne = 0.4
    map_dropout: FractionBelowOne = 0.4
    dropout: FractionBelowOne = 0.6
    """Dropout on what names' pieces are compared by, on the inputs of each layer's linear map, and on all numbers."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "map_dropout": 0.6,
        "training": [
            CONSTANT_RATE | {"epochs": 30, "batch_size": 32, "head_lr": 4e-4, "patience": 3},
            CONSTANT_RATE
            | {"epochs": 20, "batch_size": 5, "encoder_lr": 5e-6, "head_lr": 5e-6, "patience": 4}
            | {"attention_dropout": True},
        ],
    }
    PLAN = (
        HEAD_ALONE.changed({"epochs": 10, "head_lr": 1e-3, "token_budget": WHOLE_BATCH}),
        ON_GAP.changed({"token_budget": WHOLE_BATCH}),
    )

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return MSNetHead(self, encoder.hidden_size, min(self.layers, encoder.num_layers))


class MSNetHead(nn.Module):
    """The head over ``layers`` layers of width ``hidden`` side by side, in a member's sizes."""

    def __init__(self, member: MSNet, hidden: int, layers: int):
        super().__init__()
        self.encoder_layers = tuple(range(-layers, 0))
        self.layers, self.pooling, width = layers, member.pooling, member.width
        self.select_spans = allennlp("nn.util").batched_span_select
        self.attention_dropout = nn.Dropout(member.attention_dropout)
        self.map_dropout = nn.Dropout(member.map_dropout)
        self.score = ParallelLinear(layers, 5 * hidden, width)
        self.offset = nn.Linear(1, 1)
        self.norm = BatchNorm(layers * width)
        self.dropout = nn.Dropout(member.dropout)
        self.classifier = nn.Linear(layers * width + 2, len(Label))
        nn.init.normal_(self.score.weight, std=(2 / (5 * hidden)) ** 0.5)  # He et al. 2015
        for layer in (self.offset, self.classifier):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, layers * H) and mention ranges (b, 3, 2) to logits (b, 3)."""
        # (layers, b, width) -> (b, layers * width)
        scores = self.score(self.map_dropout(self.crossed(hidden, mentions)))
        scores = self.norm(scores.transpose(0, 1).flatten(1))
        # (b, 2): names after the pronoun have positive offsets
        starts = mentions[..., 0]
        offsets = (starts[:, 1:] - starts[:, :1]) / _OFFSET_UNIT
        offsets = torch.tanh(self.offset(offsets[..., None]).squeeze(-1))
        return self.classifier(torch.cat([self.dropout(functional.relu(scores)), offsets], dim=-1))

    def crossed(self, hidden: Tensor, mentions: Tensor) -> Tensor:
        """[pronoun; A; B; pronoun * A; pronoun * B] of each layer, (layers, b, 5 * H)."""
        vectors, keep = self.select_spans(hidden, inclusive(mentions))
        # (3, layers, b, W, H) and (3, b, W)
        vectors = vectors.unflatten(-1, (self.layers, -1)).permute(1, 3, 0, 2, 4)
        keep = keep.transpose(0, 1)
        pronoun = masked_mean(vectors[0], keep[0])
        names = functional.layer_norm(vectors[1:], vectors.shape[-1:])
        if self.pooling == "mean":
            names = masked_mean(names, keep[1:, None])
        else:
            compared = self.attention_dropout(names)
            scores = (compared * pronoun[..., None, :]).sum(-1) / names.shape[-1] ** 0.5
            weights = scores.masked_fill(~keep[1:, None], -torch.inf).softmax(-1)
            names = (weights[..., None] * names).sum(-2)
        return torch.cat([pronoun, *names, *(pronoun * names)], dim=-1)
