"""Fill the GAP: siamese towers over frozen vectors of each name and the pronoun, and hand-made features.

Yang, Niven and Kao 2019, *Fill the GAP: Exploiting BERT for Pronoun Resolution*; fourth place. The mean vectors of the
mentions in one layer of a frozen encoder have dropout of 0.6. A word encoder shared by them, 37 SELU units in each of
six heads, precedes the interactions [a; p; a * p; p - a] and [b; p; b * p; p - b], which one siamese dense layer reads.
Its outputs, summed over heads, and 20 units over 17 hand-made features (``blocks=["fill_the_gap"]``) go through dropout
0.75 and a dense layer of 37 with batch normalisation to three classes. ``naive=True`` sends [A; B; P] straight there.

Differences: the encoder is the embedded MiniLM, its 4th layer of 6. Vectors are standardised. The network is averaged
over both orders of the names; ``symmetric=False`` is the paper's. The L2 penalty on the last layer is AdamW's weight
decay on all layers. The paper stops by the fold that it scores; here the number of epochs is fixed, or early stopping
uses rows of other pages. Features come from the project's own parser.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus, Label
from gapstack.encoding.encoders import EncoderName
from gapstack.features import BlockNames
from gapstack.members.frozen_head import (
    MENTION_SCALING,
    ON_MENTIONS,
    Arrays,
    FrozenHead,
    HeadInputs,
    feature_columns,
    feature_inputs,
    mention_vectors,
)
from gapstack.members.layers import ParallelLinear, SwapEquivariant, cross, dense_block
from gapstack.settings import Count, FractionBelowOne, Natural
from gapstack.training.plan import CONSTANT_RATE

_FEATURE_UNITS, _FEATURE_DROPOUT, _TRUNK_UNITS = 20, 0.25, 37


class Siamese(FrozenHead):
    """Siamese interactions of frozen mention vectors, or the naive concatenation."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layers: Sequence[Natural] | None = None
    """Layers that are read, side by side; None for those at three quarters of the depth."""
    null_space: bool = False
    """Project vectors to where no linear classifier finds the pronoun's gender (Ravfogel et al. 2020)."""
    blocks: BlockNames = ("fill_the_gap",)
    """Hand-made features in addition to the vectors, by their names in :data:`gapstack.features.BLOCKS`."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    naive: bool = False
    """Read [A; B; P] without encoder and interactions."""
    symmetric: bool = True
    """Average the network over both orders of the names."""
    heads: Count = 6
    width: Count = 37
    hidden: Count = 37
    """Word encoders side by side, units of each, and units of the siamese layer; the paper also has 1, 512, 128."""
    input_dropout: FractionBelowOne = 0.6
    tower_dropout: FractionBelowOne = 0.75
    dropout: FractionBelowOne = 0.6
    """Dropout on the raw vectors, on the siamese layers' outputs and on the last hidden layer."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "layers": [20],
        "max_pieces": 300,
        "blocks": ["fill_the_gap"],
        "symmetric": False,
        "training": CONSTANT_RATE
        | {"epochs": 200, "batch_size": 32, "head_lr": 1e-3, "weight_decay": 0.1}
        | {"max_norm": None, "patience": 15},
    }
    """``bert-large-cased`` has ``layers`` [19], both BERT-base [9] and ``max_pieces`` 512."""
    PLAN = ON_MENTIONS.changed({"batch_size": 32, "label_smoothing": 0.0})

    def _inputs(self) -> HeadInputs:
        return HeadInputs(self._read, MENTION_SCALING, null_space=self.null_space)

    def _read(self, corpus: Corpus) -> Arrays:
        mentions = mention_vectors(corpus, self.encoder, self.layers, ((9,), 12), self.max_pieces)
        return {"mentions": mentions, **feature_inputs(corpus, self.blocks)}

    def _build_head(self, arrays: Arrays) -> nn.Module:
        inputs = arrays["mentions"].shape[-1]
        tower = nn.Flatten() if self.naive else SiameseTower(inputs, self.heads, self.width, self.hidden)
        outputs = 3 * inputs if self.naive else 2 * self.hidden
        dropout = self.input_dropout, 0.0 if self.naive else self.tower_dropout, self.dropout
        network = GapNetwork(tower, outputs, feature_columns(arrays), dropout)
        return SwapEquivariant(network) if self.symmetric else network


class SiameseTower(nn.Module):
    """Word encoders and siamese layers, summed over heads: (b, 3, D) -> (b, 2 hidden), A's units before B's."""

    def __init__(self, inputs: int, heads: int, width: int, hidden: int):
        super().__init__()
        self.encode = ParallelLinear(heads, inputs, width)
        self.relate = ParallelLinear(heads, 4 * width, hidden)

    def forward(self, mentions: Tensor) -> Tensor:
        """Return (b, 2 hidden)."""
        heads, count = len(self.encode.weight), len(mentions)
        # (heads, b * 3, width)
        words = functional.selu(self.encode(mentions.flatten(0, 1).expand(heads, -1, -1)))
        words = words.view(heads, count, 3, -1)
        # (heads, b * 2, 4 width)
        crossed = cross(words[:, :, 1:], words[:, :, :1]).flatten(1, 2)
        return functional.selu(self.relate(crossed)).sum(0).view(count, -1)


class GapNetwork(nn.Module):
    """A tower with ``outputs`` over mentions, a dense layer over ``columns`` features (or none), and a classifier."""

    def __init__(self, tower: nn.Module, outputs: int, columns: int, dropout: tuple[float, float, float]):
        super().__init__()
        self.drop_input, self.drop_tower = nn.Dropout(dropout[0]), nn.Dropout(dropout[1])
        self.tower = tower
        if columns:
            self.dense = nn.Sequential(
                nn.Linear(columns, _FEATURE_UNITS), nn.SELU(), nn.Dropout(_FEATURE_DROPOUT)
            )
            outputs += _FEATURE_UNITS
        self.trunk = nn.Sequential(
            dense_block(outputs, _TRUNK_UNITS, dropout[2]), nn.Linear(_TRUNK_UNITS, len(Label))
        )

    def forward(self, mentions: Tensor, names: Tensor | None = None, row: Tensor | None = None) -> Tensor:
        """Return logits (b, 3)."""
        units = self.drop_tower(self.tower(self.drop_input(mentions)))
        if names is not None and row is not None:
            units = torch.cat([units, self.dense(torch.cat([names.flatten(1), row], dim=-1))], dim=-1)
        return self.trunk(units)
