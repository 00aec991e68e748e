"""Span head: narrow self-attentive spans of one upper layer, and 17 features of the mentions' positions.

Abzaliev 2019, *On GAP Coreference Resolution Shared Task: Insights from the 3rd Place Solution* (stage 2 .18397, F1
95.4).

One hidden state, the fifth or sixth from above of 24, is projected to 64 numbers a piece; allennlp's self-attentive
span extractor makes a vector each of A, B and the pronoun. They are concatenated, batch normalised, sent through a
narrow ReLU layer, normalised again, with dropout .6, concatenated with the features, and classified. The logits of
many such heads are averaged.

The paper trains on other corpora first, the head and then the one encoder layer that it reads (OntoNotes, DPR and
Winogender, validated on WinoBias), then the head alone on GAP with corrected labels: ten folds, four encoders, forty
heads. It reports the leaderboard's figures and none on GAP test.

With MiniLM, the first of five folds of GAP development and validation (seed 2019, official labels) has logloss 0.832
and F1 71.2 with the encoder frozen and no features; 0.709 and 75.4 with the layer tuned, the blocks ``positions``,
``surface`` and ``cues``, and names swapped in training and averaging.

What differs here:

- The encoder is the embedded MiniLM unless another is named; the fifth of its six layers is as deep as the paper's. By
  default there are no other corpora, and the layer is tuned on GAP itself, in a second phase together with the head,
  with rates that suit MiniLM. :data:`PUBLISHED` has the paper's order, without OntoNotes, which is not free, and
  therefore with fewer updates; it is contaminated for Winogender
  (:meth:`~gapstack.members.parts.fine_tuned.FineTuned.contaminated_by`). WinoBias is not trained on and may be audited.
  The paper kept the best of many snapshots on the fold that it scored; nothing is chosen so here.
- ``seeds`` heads are trained side by side on the same batches and share the encoder layer. Their logits are averaged
  as in the paper, which trained each apart.
- The features are the block ``positions`` (:mod:`gapstack.features.positions` lists them and their sources),
  standardised as they are seen in training, missing ones being the mean. ``blocks`` names others, or none.
- Mentions are aligned with pieces, so no marks are put into the text, and windows lose none.

Swapping A and B does not swap the probabilities: each has its own weights, as in the paper. ``either_order`` averages
every head over both orders, after which it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.features.blocks import features
from gapstack.kinds import AnyLayer, BlockName, Count, Natural, NotAll
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.members.span_head.network import SpanHeads
from gapstack.training import PieceData, Schedule, Targets, TrainingPlan, cross_entropy

# pieces, enough for 32 of the longest windows: batch normalisation needs the batch in one pass
_WHOLE_BATCH = 16_384
_TRIANGLES = {"shape": "triangular", "cycles": 20, "floor": 0.05, "warmup": 0.0}
_ADAM = {"batch_size": 32, "label_smoothing": 0.0, "weight_decay": 0.0, "schedule": _TRIANGLES}
PUBLISHED: dict[str, Any] = {
    "encoder": "bert-large-uncased",
    "layer": 20,
    "seeds": 1,
    "tune_layer": False,
    "extra": ["dpr-train", "winogender"],
    "first": [
        {**_ADAM, "epochs": 60, "head_lr": 1e-3, "frozen": ["encoder"]},
        {**_ADAM, "epochs": 60, "encoder_lr": 2e-5, "frozen": [*range(20), *range(21, 25), "head"]},
    ],
    "training": {
        **{"epochs": 15, "batch_size": 20, "head_lr": 2e-3, "label_smoothing": 0.0, "weight_decay": 0.0},
        "schedule": {"shape": "constant", "warmup": 0.0},
    },
}
"""Settings of the paper, of one of its four models: the others have ``layer`` 19 with 100 ``units`` and a rate of the
layer of 9e-5, and ``bert-large-cased`` with 4e-5 (recipe ``abzaliev2019``). Each has ten heads, one for each of ten
folds. Epochs are as many as its 3,100 updates on nine folds of GAP, and on the other corpora 60, in cycles of its 3."""


class SpanHead(FineTuned):
    """Heads over narrow self-attentive spans of one layer, and features.

    Parameters
    ----------
    layer : int, optional
        Hidden state that is read, 1 the first layer's; None: as deep as the 20th of 24.
    blocks : sequence of str
        Hand-made features, by their names in :data:`gapstack.features.blocks.BLOCKS`; may be empty.
    seeds : int
        Heads whose logits are averaged.
    tune_layer : bool
        Tune the encoder layer that is read, with the heads, in a second phase; else the encoder is frozen.
    width, units : int
        Of the projected pieces and of the hidden layer.
    dropout : float
        On the hidden layer.
    feature_units : int
        Of a hidden layer over the features; 0, as in the paper, for none.
    feature_dropout : float
        On the features and on that layer; none in the paper.
    either_order : bool
        Average each head over both orders of A and B, for equivariance; not in the paper.
    """

    layer: AnyLayer | None = None
    blocks: Sequence[BlockName] = ("positions",)
    seeds: Count = 4
    tune_layer: bool = True
    width: Count = 64
    units: Count = 64
    dropout: NotAll = 0.6
    feature_units: Natural = 0
    feature_dropout: NotAll = 0.0
    either_order: bool = False

    LAYERS = ((20,), 24)

    def _recipe(self) -> tuple[TrainingPlan, ...]:
        head = TrainingPlan(
            epochs=15,
            batch_size=32,
            head_lr=2e-3,
            frozen=("encoder",),
            schedule=Schedule(shape="linear", warmup=0.1),
            label_smoothing=0.05,
            token_budget=_WHOLE_BATCH,
        )
        if not self.tune_layer:
            return (head,)
        encoder = self._encoder()
        (read,) = self._layers(encoder)
        layer = TrainingPlan(
            epochs=3,
            batch_size=32,
            encoder_lr=1e-4,
            head_lr=5e-4,
            frozen=tuple(number for number in range(encoder.num_layers + 1) if number != read),
            schedule=Schedule(shape="linear", warmup=0.1),
            label_smoothing=0.05,
            token_budget=_WHOLE_BATCH,
        )
        return head, layer

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        (layer,) = self._default_or(self.layer, encoder)
        if not 1 <= layer <= encoder.num_layers:
            raise MemberError(
                f"span_head reads layer {layer}, but encoder {encoder.name} has layers 1 to {encoder.num_layers}"
            )
        return (layer,)

    def _head(self, encoder: Encoder) -> nn.Module:
        # the empty corpus has all columns
        names, row = self._features(Corpus([])).values()
        return SpanHeads(
            encoder.hidden_size,
            (names.shape[-1], row.shape[-1]),
            seeds=self.seeds,
            width=self.width,
            units=self.units,
            dropout=self.dropout,
            feature_units=self.feature_units,
            feature_dropout=self.feature_dropout,
            either_order=self.either_order,
        )

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        return PieceData(align(corpus, encoder, self.max_pieces), targets, self._features(corpus))

    def _features(self, corpus: Corpus) -> dict[str, NDArray[np.float64]]:
        """Features ``names`` (n, 2, k) of A and B and ``row`` (n, m); NaN where one has no value."""
        if not self.blocks:
            return {"names": np.empty((len(corpus), 2, 0)), "row": np.empty((len(corpus), 0))}
        table = features(corpus, self.blocks)
        return {"names": table.candidates, "row": table.shared}

    def _objective(self, output: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """Mean of the heads' losses in training (b, seeds, 3); loss of their mean logits otherwise."""
        if output.dim() == 2:
            return cross_entropy(output, target, smoothing)
        losses = [cross_entropy(logits, target, smoothing) for logits in output.unbind(1)]
        return torch.stack(losses).mean(0)
