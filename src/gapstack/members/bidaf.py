"""Bao and Qiao's models over all pieces of a text: bidirectional attention flow, and a fine-tuned score of each piece.

Bao and Qiao 2019; the rest of their models are in :mod:`gapstack.members.baoqiao`.

- **BIDAF** (Seo et al. 2017), over a frozen encoder: the query is the mean vector of the pronoun's pieces; the context
  is all pieces and a slot, their mean, for no answer. Each place, with the query and the attended context, gets one
  score out of a layer of 64 ELU units. The logits of A and B are the means of their pieces' scores; that of NEITHER is
  the mean over the slot and the names of other persons in the text ("neither" in the released code), the pronoun
  ("cls") or nothing else ("baseline").
- **Token scores**: the encoder is fine-tuned under a linear layer that scores each piece. A and B have the mean of
  their pieces, NEITHER that of the first piece and the pronoun's.

Differences: the encoder is the embedded MiniLM, for BIDAF read at two thirds of its depth (theirs at the layer below
the last). Names of persons come from the project's own parser. Hidden units of the fine-tuned encoder have its own
dropout of 0.1, theirs 0.15. Swapping A and B swaps the columns.
"""

from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS, PieceView, align
from gapstack.language.parses import PARSER, parses
from gapstack.language.scenes import scene
from gapstack.members.baoqiao import Without, leave_out, left_out, share_of, with_share
from gapstack.members.fine_tuned import HEAD_ALONE, LAST, FineTuned
from gapstack.members.frozen_head import chosen_layers
from gapstack.members.layers import initialise_like_bert, inside, masked_mean
from gapstack.settings import Count, FractionBelowOne, LayerNumber, ReadInput
from gapstack.training import PieceData, Targets
from gapstack.training.plan import CONSTANT_RATE
from gapstack.types import Bools, Probabilities


class BiDAF(FineTuned):
    """Attention flow from the pronoun over a frozen encoder."""

    without: Without = None
    """A class that is not learned: its rows are left out, and its probability is its share of the training rows."""
    layer: LayerNumber | None = None
    """Layer of the vectors, from 0 (embeddings) up or -1 (the last) down; by default at two thirds of the depth."""
    neither: Literal["names", "pronoun", "slot"] = "names"
    """What the logit of NEITHER is the mean of with the slot: other ``names``, the ``pronoun``, or nothing."""
    hidden: Count = 64
    """Number of ELU units."""
    dropout: FractionBelowOne = 0.7
    """Dropout on the inputs of a place's score and on the ELU units."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "layer": -2,
        "dropout": 0.7,
        "max_pieces": 450,
        "training": CONSTANT_RATE | {"epochs": 50, "batch_size": 25, "head_lr": 1e-3, "weight_decay": 0.0},
    }
    LEARNED = ("share",)
    PLAN = HEAD_ALONE.changed({"epochs": 20, "head_lr": 1e-3, "label_smoothing": 0.0})

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: also the parser, which finds the names of persons."""
        return super().reads() | ({"parser": PARSER.of(None)} if self.neither == "names" else {})

    def _fit(self, corpus: Corpus) -> None:
        is_left_out = corpus.labels == left_out(self.without)
        self.share_ = share_of(left_out(self.without), corpus.labels)
        super()._fit(corpus.take(np.flatnonzero(~is_left_out)))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return with_share(super()._predict_proba(corpus), left_out(self.without), self.share_)

    def _build_head(self, encoder: Encoder) -> nn.Module:
        layers = chosen_layers(self.layer, encoder, ((2,), 3))
        return FlowHead(encoder.hidden_size, self.hidden, self.dropout, left_out(self.without), layers)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        label = left_out(self.without)
        if targets is not None and targets.ndim == 2 and label is not None:  # soft labels
            targets = targets.copy()
            targets[:, label] = 0
            kept = np.flatnonzero(targets.sum(axis=1) > 0)
            corpus, targets = corpus.take(kept), targets[kept]
        view = align(corpus, encoder, self.max_pieces)
        others = np.zeros((len(view), 0), dtype=bool)
        if self.neither == "names":
            others = other_names(corpus, view)
        elif self.neither == "pronoun":
            places = np.arange(view.lengths.max(initial=0))
            first, last = view.mentions[:, MENTIONS.index("pronoun")].T[..., None]
            others = (places >= first) & (places < last)
        return PieceData(view, targets, {"others": others})


def other_names(corpus: Corpus, view: PieceView) -> Bools:
    """Mask (n, longest), True on the pieces of names of other persons than A and B."""
    mask = np.zeros((len(view), int(view.lengths.max(initial=0))), dtype=bool)
    for row, (example, parse) in enumerate(zip(corpus, parses(corpus), strict=True)):
        candidates = scene(example, parse, "detected")
        starts, ends = view.chars[view.row(row)].T
        for span, hits in zip(candidates.spans, candidates.hits, strict=True):
            if not hits.any() and not span.overlaps(example.a) and not span.overlaps(example.b):
                # special pieces have the empty range (0, 0), which overlaps nothing
                mask[row, : len(starts)] |= (starts < span.end) & (ends > span.start)
    return mask


class FlowHead(nn.Module):
    """Scores of places by attention flow, averaged for each class; ``hidden`` ELU units over states of ``width``."""

    def __init__(
        self,
        width: int,
        hidden: int,
        dropout: float,
        without: Label | None = None,
        layers: tuple[int, ...] = LAST,
    ):
        super().__init__()
        self.encoder_layers = layers
        self.without = without
        self.flow = AttentionFlow(width)
        self.score = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(4 * width, hidden),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )

    def forward(
        self, hidden: Tensor, mentions: Tensor, others: Tensor, keep: Tensor | None = None, **_: Tensor
    ) -> Tensor:
        """Map hidden states (b, L, H), mention ranges (b, 3, 2) and NEITHER's pieces ``others`` to logits (b, 3)."""
        count, length = hidden.shape[:2]
        if keep is None:
            keep = hidden.new_ones(count, length, dtype=torch.bool)
        # (b, L) each
        pronoun, a, b = inside(mentions, length).unbind(1)
        query = masked_mean(hidden, pronoun)
        # the slot comes last: (b, L + 1, H), (b, L + 1)
        context = torch.cat([hidden, masked_mean(hidden, keep)[:, None]], dim=1)
        slot = keep.new_ones(count, 1)
        attended = self.flow.attended(context, query, torch.cat([keep, slot], dim=1))
        # the mask is as long as the corpus' longest text; L may be shorter or longer
        others = functional.pad(others, (0, length - others.shape[1]))
        # (b, 3, L + 1): the places of A, of B, and of NEITHER, which has the slot
        classes = torch.stack([a, b, others], dim=1)
        classes = torch.cat([classes, slot.new_tensor([0, 0, 1]).expand(count, 3)[..., None]], dim=-1)
        row, place = classes.any(dim=1).nonzero(as_tuple=True)
        pieces, asked = context[row, place], query[row]
        # [c; q; c * q; c * h]
        merged = torch.cat([pieces, asked, pieces * asked, pieces * attended[row]], dim=-1)
        scores = context.new_zeros(count, length + 1)
        scores[row, place] = self.score(merged).squeeze(-1)
        logits = masked_mean(scores[:, None, :, None], classes).squeeze(-1)
        return leave_out(logits, self.without)


class AttentionFlow(nn.Module):
    """Attention between a query and a context: the similarity is ``c_j . w_c + q . w_q + (c_j * w) . q``."""

    def __init__(self, width: int):
        super().__init__()
        self.context = nn.Linear(width, 1, bias=False)
        self.query = nn.Linear(width, 1, bias=False)
        self.both = nn.Parameter(torch.randn(width) * width**-0.5)

    def attended(self, context: Tensor, query: Tensor, keep: Tensor) -> Tensor:
        """Context (b, L, H) attended to by each query (b, H), (b, H); mask ``keep`` (b, L) is True on places."""
        direction = self.context.weight + self.both * query
        similarity = torch.einsum("blh,bh->bl", context, direction) + self.query(query)
        return torch.einsum("bl,blh->bh", similarity.masked_fill(~keep, -torch.inf).softmax(dim=-1), context)


class TokenScores(FineTuned):
    """One score for each piece of the text, averaged over those of A, of B and of NEITHER."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": CONSTANT_RATE
        | {"epochs": 1, "batch_size": 16, "encoder_lr": 2e-5, "head_lr": 2e-5, "weight_decay": 0.0}
        | {"frozen": [], "max_norm": None, "attention_dropout": True},
    }

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return TokenScoresHead(encoder.hidden_size)


class TokenScoresHead(nn.Module):
    """A linear layer over pieces of ``width``."""

    def __init__(self, width: int):
        super().__init__()
        self.score = nn.Linear(width, 1)
        initialise_like_bert(self.score)

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and mention ranges (b, 3, 2) to logits (b, 3)."""
        # (b, L) each
        pronoun, a, b = inside(mentions, hidden.shape[1]).unbind(1)
        pronoun[:, 0] = True
        # (b, 1, L, 1)
        scores = self.score(hidden)[:, None]
        return masked_mean(scores, torch.stack([a, b, pronoun], dim=1)).squeeze(-1)
