"""Span head: narrow self-attentive spans of one upper layer, and 17 features of the mentions' positions.

Abzaliev 2019, *On GAP Coreference Resolution Shared Task: Insights from the 3rd Place Solution*. One hidden state, the
fifth or sixth from above of 24, is projected to 64 numbers a piece; allennlp's self-attentive span extractor makes a
vector each of A, B and the pronoun. They are batch normalised, sent through a narrow ReLU layer, normalised again, with
dropout 0.6, joined by the features, and classified. The logits of many heads are averaged. The paper trains on other
corpora first, the head and then the one encoder layer that it reads, then the head alone on GAP.

Differences: the encoder is the embedded MiniLM, read as deep as the paper's. By default only GAP is learned, and the
layer is tuned in a second phase with the head. ``PUBLISHED`` has the paper's order without OntoNotes, which is not
free, and is contaminated for Winogender. ``seeds`` heads are trained side by side and share the encoder layer. Features
are standardised. Swapping A and B does not swap the probabilities, as in the paper.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.features import BlockNames, features
from gapstack.members.fine_tuned import HEAD_ALONE, ON_GAP, FineTuned
from gapstack.members.frozen_head import chosen_layers
from gapstack.members.layers import BatchNorm, RunningScale, inclusive, self_attentive_extractor
from gapstack.members.msnet import WHOLE_BATCH
from gapstack.settings import Count, FractionBelowOne, LayerNumber
from gapstack.training import PieceData, Targets, TrainingPlan
from gapstack.types import Floats

_TRIANGULAR = {"shape": "triangular", "rise": 1 / 3, "floor": 0.05, "warmup": 0.0}
"""The rate rises twentyfold in a third of each cycle."""
_PRETRAINING = {
    "epochs": 60,
    "batch_size": 32,
    "label_smoothing": 0.0,
    "weight_decay": 0.0,
    "schedule": _TRIANGULAR | {"cycles": 20},
}


class SpanHead(FineTuned):
    """Heads over narrow self-attentive spans of one layer, and features."""

    layer: LayerNumber | None = None
    """Hidden state that is read, 1 the first layer's; None: as deep as the 20th of 24."""
    blocks: BlockNames = ("positions",)
    """Hand-made features, by their names in :data:`gapstack.features.BLOCKS`; may be empty."""
    seeds: Count = 4
    """Heads whose logits are averaged."""
    tune_layer: bool = True
    """Tune the encoder layer that is read, with the heads, in a second phase; else the encoder is frozen."""
    width: Count = 64
    units: Count = 64
    """Widths of the projected pieces and of the hidden layer."""
    dropout: FractionBelowOne = 0.6
    """Dropout on the hidden layer."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "layer": 20,
        "seeds": 1,
        "tune_layer": False,
        "extra": ["dpr-train", "winogender"],
        "pretraining": [
            _PRETRAINING | {"head_lr": 1e-3, "frozen": ["encoder"]},
            _PRETRAINING | {"encoder_lr": 2e-5, "frozen": [*range(20), *range(21, 25), "head"]},
        ],
        # cycles of ten epochs
        "training": {"epochs": 15, "batch_size": 20, "head_lr": 2e-3, "weight_decay": 0.0}
        | {"label_smoothing": 0.0, "schedule": _TRIANGULAR | {"cycles": 1.5}},
    }
    """One of the paper's four models: the others have ``layer`` 19 with 100 ``units`` and a rate of the layer of 9e-5,
    and ``bert-large-cased`` with 4e-5 (recipe ``abzaliev2019``). Each has ten heads, one for each of ten folds."""

    def plans(self) -> tuple[TrainingPlan, ...]:
        """Return one phase for the heads, and a second one with the layer if ``tune_layer``."""
        head = HEAD_ALONE.changed({"token_budget": WHOLE_BATCH})
        if not self.tune_layer:
            return self._changed((head,))
        encoder = self._encoder()
        (read,) = self._layers(encoder)
        others = [number for number in range(encoder.num_layers + 1) if number != read]
        tuned = ON_GAP.changed({"frozen": others, "token_budget": WHOLE_BATCH})
        return self._changed((head, tuned))

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        (layer,) = chosen_layers(self.layer, encoder, ((20,), 24))
        if not 1 <= layer <= encoder.num_layers:
            raise MemberError(
                f"span_head reads layer {layer}, but encoder {encoder.name} has layers 1 to {encoder.num_layers}"
            )
        return (layer,)

    def _build_head(self, encoder: Encoder) -> nn.Module:
        # the empty corpus has all columns
        names, row = (table.shape[-1] for table in self._features(Corpus([])).values())
        heads = [SelfAttentiveHead(self, encoder.hidden_size, 2 * names + row) for _ in range(self.seeds)]
        return SpanHeads(heads, names, row, self._layers(encoder))

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        return PieceData(align(corpus, encoder, self.max_pieces), targets, self._features(corpus))

    def _features(self, corpus: Corpus) -> dict[str, Floats]:
        """Features ``names`` (n, 2, k) of A and B and ``row`` (n, m); NaN for missing values."""
        table = features(corpus, self.blocks)
        return {"names": table.candidates, "row": table.shared}


class SpanHeads(nn.Module):
    """Several heads over one layer's hidden states and one scale of each name's ``names`` and the row's features."""

    def __init__(self, heads: Sequence[nn.Module], names: int, row: int, layers: tuple[int, ...]):
        super().__init__()
        self.encoder_layers = layers
        self.names_scale, self.row_scale = RunningScale(names), RunningScale(row)
        self.heads = nn.ModuleList(heads)

    def forward(self, hidden: Tensor, mentions: Tensor, names: Tensor, row: Tensor, **_: Tensor) -> Tensor:
        """Logits: the heads' mean (b, 3); in training each one's own (b, seeds, 3)."""
        names, row = self.names_scale(names), self.row_scale(row)
        logits = torch.stack([head(hidden, mentions, names, row) for head in self.heads], dim=1)
        return logits if self.training else logits.mean(1)


class SelfAttentiveHead(nn.Module):
    """Spans of the three mentions, and a classifier over them and ``columns`` features, in a member's sizes."""

    def __init__(self, member: SpanHead, hidden: int, columns: int):
        super().__init__()
        inputs, units = 3 * member.width, member.units
        self.dense = nn.Sequential(
            *(BatchNorm(inputs), nn.Linear(inputs, units), nn.ReLU()),
            *(BatchNorm(units), nn.Dropout(member.dropout)),
        )
        self.classifier = nn.Linear(units + columns, len(Label))
        self.project = nn.Linear(hidden, member.width)  # a convolution of kernel 1
        self.extractor = self_attentive_extractor(member.width)

    def forward(self, hidden: Tensor, mentions: Tensor, names: Tensor, row: Tensor) -> Tensor:
        """Return logits (b, 3)."""
        spans = self.extractor(self.project(hidden), inclusive(mentions))  # (b, 3, width)
        return self.classifier(torch.cat([self.dense(spans.flatten(1)), names.flatten(1), row], dim=-1))
