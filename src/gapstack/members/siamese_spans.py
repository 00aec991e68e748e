"""A scorer with the same weights for A and B, with several networks side by side, and the relations that it reads.

A name's score against the pronoun becomes its logit, and the logit of NEITHER is the sum of a second score over both
names. So exchanging A and B exchanges their columns.
"""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus, Example, Span
from gapstack.encoding.activations import GROUPS, SpanActivations
from gapstack.features.blocks import Features
from gapstack.members.layers import ParallelLinear, SharedLinear, cross
from gapstack.training.devices import quick_dropout
from gapstack.types import Floats32

OUTPUTS = 2  # of each name: its own score, and its share of NEITHER's
_NOISE = 1e-3
"""Attention below this is noise in bfloat16."""
# attention from which group to which, for A and for B
_READ = [
    [("pronoun", name), (name, "pronoun"), ("pronoun", f"{name}_anywhere"), (f"{name}_anywhere", "pronoun")]
    for name in ("a", "b")
]
ATTENTION_RELATIONS = len(_READ[0])
"""Number of relations of each name and head in :func:`attention_relations`."""


class SiameseSpans(nn.Module):
    """Two siamese towers whose scores are added: over span vectors, and over relations to the pronoun.

    ``seeds`` networks side by side see the same batches through the same dropout of piece vectors and relations, and
    differ in initial weights and in the dropout of their hidden units. ``inputs`` is the width of the piece vectors,
    ``width`` that of the projected pieces, ``hidden`` that of both towers' hidden layers.
    """

    def __init__(
        self,
        *,
        seeds: int,
        inputs: int,
        relations: int,
        width: int,
        hidden: int,
        input_dropout: float,
        relation_dropout: float,
        dropout: float,
    ):
        super().__init__()
        self.seeds = seeds
        self.input_dropout, self.relation_dropout, self.dropout = input_dropout, relation_dropout, dropout
        self.project = SharedLinear(seeds, inputs, width)
        self.attend = ParallelLinear(seeds, width, 1)
        self.cross = ParallelLinear(seeds, 4 * width, hidden)
        # at first the relations alone decide: their tower learns quicker, and vectors overfit
        self.cross_out = ParallelLinear(seeds, hidden, OUTPUTS, zero=True)
        self.relate = SharedLinear(seeds, relations, hidden)
        self.relate_out = ParallelLinear(seeds, hidden, OUTPUTS)

    def take(self, which: slice) -> SiameseSpans:
        """Copy of only these networks."""
        part = deepcopy(self)
        part.seeds = len(range(*which.indices(self.seeds)))
        for layer in (part.project, part.attend, part.cross, part.cross_out, part.relate, part.relate_out):
            layer.keep(which)
        return part

    def forward(self, pieces: Tensor, spans: Tensor, relations: Tensor) -> Tensor:
        """Map pieces (n, T, inputs), mention ranges (n, 3, 2) and (n, 2, relations) to logits (seeds, n, 3).

        Ranges are half-open; mentions are pronoun, A, B, and each begins where the one before it ends.
        """
        n = len(pieces)
        scores = self.cross_out(self._crossed(pieces, spans)) + self.relate_out(self._related(relations))
        # (seeds, n, names, outputs)
        scores = scores.view(self.seeds, n, 2, OUTPUTS)
        return torch.cat([scores[..., 0], scores[..., 1].sum(-1, keepdim=True)], dim=-1)

    def _drop(self, values: Tensor, rate: float) -> Tensor:
        return quick_dropout(values, rate, self.training)

    def _crossed(self, pieces: Tensor, spans: Tensor) -> Tensor:
        """Hidden layer over [name; pronoun; name * pronoun; pronoun - name], (seeds, n * 2, hidden)."""
        n, length, _ = pieces.shape
        keep = torch.arange(length, device=spans.device) < spans[:, -1, 1:]
        projected = self.project(self._drop(pieces[keep], self.input_dropout))
        # (n, 3, seeds, width): pronoun, A, B
        mentions = self._pooled(projected, (spans[..., 1] - spans[..., 0]).flatten()).unflatten(0, (n, 3))
        mentions = self._drop(functional.selu(mentions), self.dropout / 2)
        crossed = cross(mentions[:, 1:], mentions[:, :1]).flatten(0, 1).transpose(0, 1)
        return self._drop(functional.relu(self.cross(crossed)), self.dropout)

    def _pooled(self, projected: Tensor, lengths: Tensor) -> Tensor:
        """Self-attentive pooling (Lee et al. 2017, section 4) of ``lengths`` pieces each, (mentions, seeds, width).

        As allennlp's SelfAttentiveSpanExtractor, which pools for one network at a time.
        """
        # (pieces, seeds)
        scores = (projected * self.attend.weight[..., 0]).sum(-1) + self.attend.bias[:, 0, 0]
        highest = torch.segment_reduce(scores.detach(), "max", lengths=lengths)
        weights = (scores - highest.repeat_interleave(lengths, dim=0)).exp()
        total = torch.segment_reduce(weights, "sum", lengths=lengths)
        pooled = torch.segment_reduce(weights[..., None] * projected, "sum", lengths=lengths)
        return pooled / total[..., None]

    def _related(self, relations: Tensor) -> Tensor:
        """Hidden layer over the relations, (seeds, n * 2, hidden)."""
        rows = self.relate(self._drop(relations.flatten(0, 1), self.relation_dropout))
        return self._drop(functional.relu(rows), self.dropout).transpose(0, 1)


def distance_relations(corpus: Corpus) -> NDArray[np.float32]:
    """Relations of each name to the pronoun, (n, 2, 4).

    Signed log distance in characters, its absolute value, whether the name comes first, and whether the other name is
    between.
    """

    def relate(example: Example, name: Span, other: Span) -> list[float]:
        gap = example.pronoun.start - name.start
        size = float(np.log1p(abs(gap)))
        low, high = sorted((example.pronoun.start, name.start))
        return [np.sign(gap) * size, size, float(gap > 0), float(low < other.start < high)]

    rows = [[relate(e, e.a, e.b), relate(e, e.b, e.a)] for e in corpus]
    return np.array(rows, dtype=np.float32).reshape(len(corpus), 2, 4)


def attention_relations(found: SpanActivations) -> Floats32:
    """Log attention between pronoun and name, both ways, (n, 2, 4 * layers * heads).

    Once for the mention itself and once for all places where the name's pieces occur.
    """
    # (n, layers, heads, 5, 5) -> (n, 2, 4, layers, heads)
    read = [
        [found.attention[..., GROUPS.index(source), GROUPS.index(target)] for source, target in pairs]
        for pairs in _READ
    ]
    stacked = np.stack([np.stack(one, axis=1) for one in read], axis=1).astype(np.float32)
    logs: Floats32 = np.log(stacked + _NOISE).reshape(len(found), 2, math.prod(stacked.shape[2:]))
    return logs


def feature_relations(found: Features) -> Floats32:
    """Each name's own features, its lead over the rival and the row's, (n, 2, 2 k + m), large values damped."""
    own = found.candidates
    shared = np.repeat(found.shared[:, None], 2, axis=1)
    values = np.concatenate([own, own - own[:, ::-1], shared], axis=-1)
    damped: Floats32 = (np.sign(values) * np.log1p(np.abs(values))).astype(np.float32)
    return damped
