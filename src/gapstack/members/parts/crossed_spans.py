"""A scorer that cannot tell A from B except by what it is shown of them, with several seeds side by side.

Both names go through the same weights, each against the pronoun; a name's score becomes its logit, and the
logit of NEITHER is the sum of a second score over both names. So exchanging A and B exchanges their columns.
"""

from __future__ import annotations

import torch
from allennlp_light.modules.span_extractors import SelfAttentiveSpanExtractor
from torch import Tensor, nn
from torch.nn import functional

from gapstack.members.parts.crossing import cross
from gapstack.members.parts.dense import ParallelLinear

OUTPUTS = 2  # of each name: its own score, and its share of NEITHER's


class SiameseSpans(nn.Module):
    """Two siamese towers whose scores are added: over span vectors, and over relations to the pronoun.

    Parameters
    ----------
    seeds : int
        Networks side by side; they see the same batches through the same dropout (drawing it is half the
        work) and differ in initial weights and in the dropout of their hidden units.
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
        self.project = ParallelLinear(seeds, inputs, width)
        # the library's class has no axis for seeds, so each has its own
        self.extractors = nn.ModuleList(SelfAttentiveSpanExtractor(width) for _ in range(seeds))
        self.cross = ParallelLinear(seeds, 4 * width, hidden)
        # at first the relations alone decide: their tower learns quicker, and vectors overfit
        self.cross_out = ParallelLinear(seeds, hidden, OUTPUTS, zero=True)
        self.relate = ParallelLinear(seeds, relations, hidden)
        self.relate_out = ParallelLinear(seeds, hidden, OUTPUTS)

    def forward(self, pieces: Tensor, spans: Tensor, relations: Tensor) -> Tensor:
        """Give logits (seeds, n, 3) from pieces (n, T, inputs), mention ranges (n, 3, 2) and (n, 2, relations).

        Ranges are half-open; mentions are pronoun, A, B.
        """
        n = len(pieces)
        scores = self.cross_out(self._crossed(pieces, spans)) + self.relate_out(self._related(relations))
        # (seeds, n, names, outputs)
        scores = scores.view(self.seeds, n, 2, OUTPUTS)
        return torch.cat([scores[..., 0], scores[..., 1].sum(-1, keepdim=True)], dim=-1)

    def _drop(self, values: Tensor, rate: float) -> Tensor:
        return functional.dropout(values, rate, self.training)

    def _crossed(self, pieces: Tensor, spans: Tensor) -> Tensor:
        """Hidden layer over [name; pronoun; name * pronoun; pronoun - name], (seeds, n * 2, hidden)."""
        n, length, _ = pieces.shape
        keep = torch.arange(length, device=spans.device) < spans[:, -1, 1:]
        if not self.training:  # how many pieces the other rows have must not change this product's shape
            pieces, keep = pieces * keep[..., None], torch.ones_like(keep)
        # (seeds, pieces of mentions, inputs)
        flat = self._drop(pieces[keep], self.input_dropout).expand(self.seeds, -1, -1)
        projected = pieces.new_zeros(self.seeds, n, length, self.project.weight.shape[-1])
        projected[:, keep] = self.project(flat)
        inclusive = torch.stack([spans[..., 0], spans[..., 1] - 1], dim=-1)
        # (seeds, n, 3, width): pronoun, A, B
        mentions = torch.stack(
            [extract(own, inclusive) for extract, own in zip(self.extractors, projected, strict=True)]
        )
        mentions = self._drop(functional.selu(mentions), self.dropout / 2)
        crossed = cross(mentions[:, :, 1:], mentions[:, :, :1])
        return self._drop(functional.relu(self.cross(crossed.flatten(1, 2))), self.dropout)

    def _related(self, relations: Tensor) -> Tensor:
        """Hidden layer over the relations, (seeds, n * 2, hidden)."""
        rows = self._drop(relations.flatten(0, 1), self.relation_dropout).expand(self.seeds, -1, -1)
        return self._drop(functional.relu(self.relate(rows)), self.dropout)
