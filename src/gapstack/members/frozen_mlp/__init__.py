"""The five zeros' frozen network: dense towers over masked names in windows, and hand-made features.

Ionita, Kashnitsky, Krige, Larin, Logvinenko and Atanasov 2019, *Resolving Gendered Ambiguous Pronouns with BERT*:
their second system, 22nd place of the shared task. A and B are replaced by the mask token, so that one piece stands
for each; ``*`` for a lost letter is repaired from the vocabulary; pronoun, A and B are each read in the middle of a
window of 64 pieces, in the layers fourth to sixth from the last of BERT-large, side by side. A dense layer over [p; a;
b] (112 units, batch normalisation, dropout .9), one such layer for both p - a and p - b (the released code; the
paper's text has products), and one over hand-made features (128, dropout .8) go together through three units and batch
normalisation.

The paper reports on GAP test, official labels, for BERT-large cased and uncased together: logloss .338, and .299 when
blended with its fine-tuned models; on stage 2 .226 and .185.

Of its 69 features these have a counterpart in the blocks ``surface``, ``cues`` and ``positions``: A and B in the URL
(2), syntactic roles of the three mentions (29 columns there, one for each of our 17 roles here), how often the names
occur (2), order and distances in characters, sentence layout (5), places in sentences and trees (9, Abzaliev's), the
number of other PERSON names (1), and the GAP paper's Parallelism+URL chain. None have the decisions of three resolvers
(neuralcoref, e2e-coref, Stanford), which other members read, and the probabilities of an MLP over ELMo. The blocks
hold much that is not among the 69; codes of a few values other than roles are read as numbers, as are counts, by their
logarithm.

What differs beside the features:

- The encoder is the embedded MiniLM unless another is named, alone where the paper reads two. In its six layers the
  paper's three fall together on the fifth, and the default is the fourth and the fifth.
- The network is averaged over both orders of the names, in training too, so swapping A and B swaps the probabilities;
  ``symmetric=False`` is the paper's network.
- Vectors are standardised; features are scaled by the training rows, where the paper's code uses test rows too. Its L2
  penalty of .02 on the last layer is AdamW's weight decay on all layers.
- Windows near an end of the text get more of the other side. Only the mentions themselves are masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.corpus import Corpus, Label
from gapstack.encoding.activations import window_activations
from gapstack.features.blocks import Features
from gapstack.kinds import BlockName, Count, NotAll
from gapstack.members.frozen_mlp.masked_text import mask_names, repair_stars
from gapstack.members.parts.crossing import SwapEquivariant
from gapstack.members.parts.dense import BatchNorm, dense_block
from gapstack.members.parts.encoder_member import mean_vectors
from gapstack.members.parts.frozen_head import Arrays
from gapstack.members.parts.mention_head import MentionHead
from gapstack.text.grammar import Role
from gapstack.types import Floats32

PUBLISHED: dict[str, Any] = {
    **{"encoder": "bert-large-uncased", "layers": [21, 20, 19], "symmetric": False},
    **{"vector_dropout": 0.9, "feature_dropout": 0.8},
    "training": {
        **{"epochs": 1000, "batch_size": 64, "head_lr": 2e-2, "weight_decay": 0.02, "label_smoothing": 0.0},
        **{"schedule": {"shape": "inverse", "decay": 0.03, "warmup": 0.0}, "max_norm": None, "patience": 50},
    },
}
"""Settings of the paper's code; ``encoder`` ``bert-large-cased`` for the other half of its input."""

_VECTOR_UNITS, _FEATURE_UNITS = 112, 128
_CODES = {"cue_role": len(Role), "cue_p_role": len(Role)}
"""Categorical features with the number of their values."""


class FrozenMLP(MentionHead):
    """Dense towers over masked mentions in windows of their own and hand-made features.

    Parameters
    ----------
    blocks : sequence of str
        Hand-made features beside the vectors, by their names in :data:`gapstack.features.blocks.BLOCKS`.
    window : int
        Pieces of the window around each mention, special pieces included.
    symmetric : bool
        Average the network over both orders of the names.
    vector_dropout, feature_dropout : float
        On the units of the towers over vectors and over features.
    """

    blocks: Sequence[BlockName] = ("surface", "cues", "positions")
    window: Count = 64
    symmetric: bool = True
    vector_dropout: NotAll = 0.9
    feature_dropout: NotAll = 0.8

    LAYERS = ((4, 5), 6)

    def _mentions(self, corpus: Corpus) -> Floats32:
        encoder = self._encoder()
        masked = corpus.map(lambda example: mask_names(repair_stars(example, encoder), encoder))
        return mean_vectors(
            window_activations(masked, encoder, self._layers(encoder), max_pieces=self.window)
        )

    def _features(self, corpus: Corpus) -> Features:
        block = super()._features(corpus)
        return replace(
            block,
            candidates=numeric(block.candidates, block.candidate_names),
            shared=numeric(block.shared, block.shared_names),
        )

    def _head(self, arrays: Arrays) -> nn.Module:
        columns = 2 * arrays["names"].shape[-1] + arrays["row"].shape[-1] if self.blocks else 0
        network = TowersNetwork(
            arrays["mentions"].shape[-1],
            columns,
            vector_dropout=self.vector_dropout,
            feature_dropout=self.feature_dropout,
        )
        return SwapEquivariant(network) if self.symmetric else network


def numeric(values: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.float64]:
    """Features (..., k) for a network: roles one-hot in the first columns (none for NaN), others as signed logs."""
    codes = [number for number, name in enumerate(names) if name in _CODES]
    rest = [number for number in range(len(names)) if number not in codes]
    columns = [values[..., [code]] == np.arange(_CODES[names[code]]) for code in codes]
    logs = np.sign(values[..., rest]) * np.log1p(np.abs(values[..., rest]))
    return np.concatenate([*columns, logs], axis=-1)


class TowersNetwork(nn.Module):
    """Three towers side by side, then three units and batch normalisation.

    Parameters
    ----------
    inputs, columns : int
        Width of the mention vectors, number of all features (0 for none).
    vector_dropout, feature_dropout : float
        See :class:`FrozenMLP`.
    """

    def __init__(self, inputs: int, columns: int, *, vector_dropout: float, feature_dropout: float):
        super().__init__()
        self.joint = dense_block(3 * inputs, _VECTOR_UNITS, vector_dropout)
        self.siamese = dense_block(inputs, _VECTOR_UNITS, vector_dropout)
        outputs = 3 * _VECTOR_UNITS
        if columns:
            self.dense = nn.Sequential(
                nn.Linear(columns, _FEATURE_UNITS), nn.ReLU(), nn.Dropout(feature_dropout)
            )
            outputs += _FEATURE_UNITS
        self.last = nn.Sequential(nn.Linear(outputs, len(Label)), BatchNorm(len(Label)))

    def forward(self, mentions: Tensor, names: Tensor | None = None, row: Tensor | None = None) -> Tensor:
        """Give logits (b, 3)."""
        differences = mentions[:, :1] - mentions[:, 1:]
        # (b, 2 * units): both names through one layer and one batch norm
        siamese = self.siamese(differences.flatten(0, 1)).view(len(mentions), -1)
        parts = [self.joint(mentions.flatten(1)), siamese]
        if names is not None and row is not None:
            parts.append(self.dense(torch.cat([names.flatten(1), row], dim=-1)))
        logits: Tensor = self.last(torch.cat(parts, dim=-1))
        return logits
