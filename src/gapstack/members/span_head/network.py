"""Heads of one shape side by side over narrow self-attentive spans and hand-made features (Abzaliev 2019)."""

from __future__ import annotations

import torch
from allennlp_light.modules.span_extractors import SelfAttentiveSpanExtractor
from torch import Tensor, nn

from gapstack.corpus import Label
from gapstack.members.parts.crossing import SwapEquivariant
from gapstack.members.parts.dense import BatchNorm
from gapstack.members.parts.pooling import inclusive
from gapstack.members.parts.running_scale import RunningScale


class SpanHeads(nn.Module):
    """Several heads over one layer's hidden states and one scale of features.

    Parameters
    ----------
    hidden : int
        Width H of the hidden states.
    features : pair of int
        Numbers k of features that each name has and m of the row's; may be 0.
    seeds : int
        Number of heads, which differ in their first weights and in dropout.
    width, units : int
        Of projected pieces and of the hidden layer over the spans.
    dropout : float
        On that hidden layer.
    feature_units : int
        Of a hidden layer over the features; 0: none, they go to the classifier.
    feature_dropout : float
        On the features and on that hidden layer.
    either_order : bool
        Whether each head is averaged over both orders of A and B.
    """

    def __init__(
        self,
        hidden: int,
        features: tuple[int, int],
        *,
        seeds: int,
        width: int = 64,
        units: int = 64,
        dropout: float = 0.6,
        feature_units: int = 0,
        feature_dropout: float = 0.0,
        either_order: bool = False,
    ):
        super().__init__()
        self.names_scale, self.row_scale = map(RunningScale, features)

        def head() -> _Head:
            classifier = _Classifier(
                3 * width, units, dropout, 2 * features[0] + features[1], feature_units, feature_dropout
            )
            return _Head(hidden, width, SwapEquivariant(classifier) if either_order else classifier)

        self.heads = nn.ModuleList(head() for _ in range(seeds))

    def forward(self, hidden: Tensor, mentions: Tensor, names: Tensor, row: Tensor, **_: Tensor) -> Tensor:
        """Give logits: the heads' mean (b, 3); in training each one's own (b, seeds, 3).

        From hidden states (b, L, H), mention ranges (b, 3, 2), and features of A and B (b, 2, k) and of the row
        (b, m), NaN where there is no value.
        """
        names, row = self.names_scale(names.flatten(0, 1)).view_as(names), self.row_scale(row)
        logits = torch.stack([head(hidden, mentions, names, row) for head in self.heads], dim=1)
        return logits if self.training else logits.mean(1)


class _Head(nn.Module):
    """Spans of the three mentions, and a classifier over them and the features."""

    def __init__(self, hidden: int, width: int, vote: nn.Module):
        super().__init__()
        self.project = nn.Linear(hidden, width)  # a convolution of kernel 1
        self.extractor = SelfAttentiveSpanExtractor(width)
        self.vote = vote

    def forward(self, hidden: Tensor, mentions: Tensor, names: Tensor, row: Tensor) -> Tensor:
        """Give logits (b, 3)."""
        # (b, 3, width)
        spans = self.extractor(self.project(hidden), inclusive(mentions))
        logits: Tensor = self.vote(mentions=spans, names=names, row=row)
        return logits


class _Classifier(nn.Module):
    """Logits from three spans and features."""

    def __init__(
        self,
        inputs: int,
        units: int,
        dropout: float,
        features: int,
        feature_units: int,
        feature_dropout: float,
    ):
        super().__init__()
        self.dense = nn.Sequential(
            BatchNorm(inputs), nn.Linear(inputs, units), nn.ReLU(), BatchNorm(units), nn.Dropout(dropout)
        )
        self.features = nn.Sequential(nn.Dropout(feature_dropout))
        if feature_units:
            self.features.extend([nn.Linear(features, feature_units), nn.ReLU(), nn.Dropout(feature_dropout)])
        self.classifier = nn.Linear(units + (feature_units or features), len(Label))

    def forward(self, mentions: Tensor, names: Tensor, row: Tensor) -> Tensor:
        """Give logits (b, 3) from spans (b, 3, width), features (b, 2, k) and (b, m)."""
        features = self.features(torch.cat([names.flatten(1), row], dim=-1))
        logits: Tensor = self.classifier(torch.cat([self.dense(mentions.flatten(1)), features], dim=-1))
        return logits
