"""A scorer that cannot tell A from B except by what it is shown of them, with several networks side by side.

Both names go through the same weights, each against the pronoun; a name's score becomes its logit, and the
logit of NEITHER is the sum of a second score over both names. So exchanging A and B exchanges their columns.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.members.parts.crossing import cross
from gapstack.members.parts.dense import ParallelLinear, SharedLinear
from gapstack.training.dropout import quick_dropout

OUTPUTS = 2  # of each name: its own score, and its share of NEITHER's


class SiameseSpans(nn.Module):
    """Two siamese towers whose scores are added: over span vectors, and over relations to the pronoun.

    Parameters
    ----------
    seeds : int
        Networks side by side, of seeds or of folds; they see the same batches through the same dropout and differ
        in initial weights and in the dropout of their hidden units.
    inputs : int
        Width of the piece vectors.
    relations : int
        Number of relations of each name.
    width : int
        Width of the projected pieces; ``hidden`` that of both towers' layers.
    input_dropout, relation_dropout, dropout : float
        On piece vectors, on relations and on hidden units.
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
        """Copy of these networks alone."""
        part = deepcopy(self)
        part.seeds = len(range(*which.indices(self.seeds)))
        for layer in (part.project, part.attend, part.cross, part.cross_out, part.relate, part.relate_out):
            layer.take(which)
        return part

    def forward(self, pieces: Tensor, spans: Tensor, relations: Tensor) -> Tensor:
        """Give logits (seeds, n, 3) from pieces (n, T, inputs), mention ranges (n, 3, 2) and (n, 2, relations).

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
        if self.training:
            projected = self.project(self._drop(pieces[keep], self.input_dropout))
        else:  # how many pieces the other rows have must not change this product's shape
            projected = self.project(pieces.flatten(0, 1))[keep.flatten()]
        # (n, 3, seeds, width): pronoun, A, B
        mentions = self._pooled(projected, (spans[..., 1] - spans[..., 0]).flatten()).unflatten(0, (n, 3))
        mentions = self._drop(functional.selu(mentions), self.dropout / 2)
        crossed = cross(mentions[:, 1:], mentions[:, :1]).flatten(0, 1).transpose(0, 1)
        return self._drop(functional.relu(self.cross(crossed)), self.dropout)

    def _pooled(self, projected: Tensor, lengths: Tensor) -> Tensor:
        """Self-attentive pooling (Lee et al. 2017, section 4) of ``lengths`` pieces each, (mentions, seeds, width).

        allennlp's class computes the same, for one network at a time.
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
