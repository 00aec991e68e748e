"""Tuned spans: the encoder fine-tuned under the siamese head of frozen spans, on rows with their own and other names.

The fine-tuned sister of :mod:`gapstack.members.frozen_spans`, and the strongest member when it has a teacher. What it
takes from the field: mentions tagged in the input (Attree 2019), self-attentive spans (Abzaliev 2019), products and
differences of name and pronoun under one set of weights for both names (Yang et al. 2019), hand-made features beside
them (Yang et al.; Abzaliev), attention heads of the encoder as it was (Webster et al. 2018, section 4.4), names
replaced by common ones in training and in answering (Liu 2019).

What is ours:

- Both names have the same tag. So exchanging A and B exchanges their columns, and the encoder need not learn twice what
  it is to be a name.
- A copy with other names keeps the relations (features, frozen attention, distances) of the row that it was made of:
  the page, the parse and the grammar do not change with the names, and nothing is parsed twice.
- A teacher's rows and their copies are learned first, once for all folds, and GAP's labels after them at a lower rate.

Names replaced are what the small encoder needs most; ``docs/strength.md`` has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn

from gapstack.corpus import Corpus, Label
from gapstack.corpus.augment import Variant, average, variants
from gapstack.encoding.activations import span_activations
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.sizes import Size
from gapstack.features.blocks import features
from gapstack.kinds import BlockName, Count, Natural, NotAll, Share
from gapstack.members.member import Probabilities
from gapstack.members.parts.crossed_spans import SiameseSpans
from gapstack.members.parts.fine_tuned import ON_GAP, FineTuned
from gapstack.members.parts.relations import (
    ATTENTION_RELATIONS,
    attention_relations,
    distance_relations,
    feature_relations,
)
from gapstack.members.parts.running_scale import RunningScale
from gapstack.members.parts.tags import tagged
from gapstack.members.work import RowCounts, Work
from gapstack.training import PieceData, Targets
from gapstack.types import Floats32

TAGS = ("*", "#", "#")
"""Of pronoun, A and B: one piece each in BERT's vocabulary."""


class TunedSpans(FineTuned):
    """A fine-tuned encoder under a siamese head over tagged spans and relations.

    Parameters
    ----------
    blocks : sequence of str
        Hand-made features that join the relations; see :data:`gapstack.features.blocks.BLOCKS`.
    attention : bool
        Whether the attention of the encoder as it was before fine-tuning joins them.
    forms : int
        Forms with other names (:func:`gapstack.corpus.augment.anonymise_names`), 0 to 4, that are learned beside
        each row.
    answer_forms : int
        Such forms, 0 to 4, over which answers are averaged with that of the row as it is.
    width, hidden, input_dropout, relation_dropout, dropout
        Of the head, see :class:`~gapstack.members.parts.crossed_spans.SiameseSpans`.
    training, first, validation_share, max_pieces, seed, encoder, extra, teacher, augment, average
        See :class:`~gapstack.members.parts.fine_tuned.FineTuned`.
    """

    blocks: Sequence[BlockName] = ("surface", "cues")
    attention: bool = True
    forms: Natural = 1
    answer_forms: Natural = 2
    width: Count = 64
    hidden: Count = 128
    input_dropout: Share = 0.1
    relation_dropout: Share = 0.3
    dropout: NotAll = 0.3

    PLAN = ON_GAP.changed({"epochs": 2, "label_smoothing": 0.02})

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Count the forms of rows too."""
        learned, told = 1 + self.forms, 1 + self.answer_forms
        counts = replace(rows, fitted=rows.fitted * learned, predicted=rows.predicted * told)
        return super().work(size, counts)

    def _prepare(self, corpus: Corpus) -> None:
        """Compute the relations of all rows in one pass."""
        self._relations(corpus, self._encoder())

    def _head(self, encoder: Encoder) -> nn.Module:
        spans = SiameseSpans(
            seeds=1,
            inputs=encoder.hidden_size,
            relations=self._relation_count(encoder),
            width=self.width,
            hidden=self.hidden,
            input_dropout=self.input_dropout,
            relation_dropout=self.relation_dropout,
            dropout=self.dropout,
        )
        return TaggedSpansHead(spans)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        """Make the input of rows and of their forms."""
        relations = self._relations(corpus, encoder)
        if targets is None:
            return self._input(corpus, encoder, relations)
        parts = [(variant.corpus.take(rows), rows) for variant, rows in _forms(corpus, self.forms)]
        together = Corpus(
            [replace(row, id=f"{row.id}~{k}") for k, (part, _) in enumerate(parts) for row in part]
        )
        rows = np.concatenate([rows for _, rows in parts])
        return self._input(together, encoder, relations[rows], targets[rows])

    def _input(
        self, corpus: Corpus, encoder: Encoder, relations: Floats32, targets: Targets | None = None
    ) -> PieceData:
        pieces = tagged(corpus, encoder, self.max_pieces, TAGS)
        return PieceData(pieces.view, targets, {"relations": relations})

    def _relations(self, corpus: Corpus, encoder: Encoder) -> Floats32:
        """Relations (n, 2, k) of each name to the pronoun; NaN where one has no value."""
        relations = [distance_relations(corpus)]
        if self.attention:
            heads = range(1, encoder.num_layers + 1)
            relations.append(attention_relations(span_activations(corpus, encoder, (), heads)))
        if self.blocks:
            relations.append(feature_relations(features(corpus, self.blocks)))
        return np.concatenate(relations, axis=-1)

    def _relation_count(self, encoder: Encoder) -> int:
        """Number k of relations, told without the encoder's weights."""
        nothing = Corpus([])  # which has all columns
        count = distance_relations(nothing).shape[-1]
        count += feature_relations(features(nothing, self.blocks)).shape[-1] if self.blocks else 0
        return count + (encoder.num_layers * encoder.num_heads * ATTENTION_RELATIONS if self.attention else 0)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        encoder = self._encoder()
        relations = self._relations(corpus, encoder)
        forms, answers = [], []
        for variant, rows in _forms(corpus, self.answer_forms):
            told = np.zeros((len(corpus), len(Label)))
            if len(rows):
                data = self._input(variant.corpus.take(rows), encoder, relations[rows])
                told[rows] = softmax(self._logits(data), axis=1)
            forms.append(variant)
            answers.append(told)
        return average(forms, answers)


def _forms(corpus: Corpus, count: int) -> Iterator[tuple[Variant, NDArray[np.int64]]]:
    """Give the corpus as it is and in ``count`` forms, each with its rows that are told differently there."""
    names = ("original", *(f"anonymise_{k}" for k in range(count)))
    for variant in variants(corpus, names):
        yield variant, np.flatnonzero(variant.changed | (variant.name == "original"))


class TaggedSpansHead(nn.Module):
    """:class:`~gapstack.members.parts.crossed_spans.SiameseSpans` over hidden states and unscaled relations.

    Parameters
    ----------
    spans : SiameseSpans
        Of one seed.
    """

    def __init__(self, spans: SiameseSpans):
        super().__init__()
        self.scale = RunningScale(len(spans.relate.weight))
        self.spans = spans

    def forward(self, hidden: Tensor, mentions: Tensor, relations: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3) from hidden states (b, L, H), piece ranges (b, 3, 2) and relations (b, 2, k)."""
        pieces, spans = _gathered(hidden, mentions)
        scaled = self.scale(relations.flatten(0, 1)).view_as(relations)
        logits: Tensor = self.spans(pieces, spans, scaled)[0]
        return logits


def _gathered(hidden: Tensor, mentions: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden states of the mentions' pieces alone, end to end (b, T, H), and the mentions' ranges in them (b, 3, 2)."""
    ends = (mentions[..., 1] - mentions[..., 0]).cumsum(1)
    starts = torch.nn.functional.pad(ends, (1, 0))[:, :-1]
    # (b, T)
    place = torch.arange(int(ends[:, -1].max()), device=hidden.device).expand(len(hidden), -1)
    mention = (place[..., None] >= ends[:, None]).sum(-1).clamp_max(mentions.shape[1] - 1)
    source = place + (mentions[..., 0] - starts).gather(1, mention)
    source = source.clamp_max(hidden.shape[1] - 1)[..., None].expand(-1, -1, hidden.shape[-1])
    return hidden.gather(1, source), torch.stack([starts, ends], dim=-1)
