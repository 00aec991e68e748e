"""Tuned spans: the encoder fine-tuned under the siamese head of frozen spans, on rows with their own and other names.

The fine-tuned sister of :mod:`gapstack.members.frozen_spans`, with mentions tagged in the input (Attree 2019) and names
replaced by common ones in training and in prediction (Liu 2019). Ours: both names have the same tag, so exchanging A
and B exchanges their columns. A copy with other names keeps the relations (features, frozen attention, distances) of
its row. A teacher's rows and their copies are learned first, once for all folds, and GAP's labels after them.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import softmax
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.data.augment import Variant, average, variants
from gapstack.encoding.activations import span_activations
from gapstack.encoding.encoders import Encoder
from gapstack.features import BlockNames, features
from gapstack.members.added_pieces import tagged
from gapstack.members.fine_tuned import ON_GAP, FineTuned
from gapstack.members.frozen_spans import (
    SiameseSpans,
    attention_relations,
    distance_relations,
    feature_relations,
)
from gapstack.members.layers import RunningScale, inside
from gapstack.settings import Count, Fraction, FractionBelowOne, Natural
from gapstack.training import PieceData, Targets
from gapstack.types import Floats32, Ints, Probabilities

TAGS = ("*", "#", "#")
"""Of pronoun, A and B: one piece each in BERT's vocabulary."""


class TunedSpans(FineTuned):
    """A fine-tuned encoder under a siamese head over tagged spans and relations."""

    blocks: BlockNames = ("surface", "cues")
    """Hand-made features that join the relations; see :data:`gapstack.features.BLOCKS`."""
    attention: bool = True
    """Add the attention of the encoder before fine-tuning."""
    name_variants: Natural = 1
    """Copies with other names (:func:`gapstack.data.augment.anonymise_names`), 0 to 4, learned with each row."""
    prediction_variants: Natural = 2
    """Copies with other names, 0 to 4, over which answers are averaged with that of the row itself."""
    width: Count = 64
    hidden: Count = 128
    input_dropout: Fraction = 0.1
    relation_dropout: Fraction = 0.3
    dropout: FractionBelowOne = 0.3
    """Sizes and dropout of the head; see :class:`~gapstack.members.frozen_spans.SiameseSpans`."""

    PLAN = ON_GAP.changed({"epochs": 2, "label_smoothing": 0.02})

    def _prepare(self, corpus: Corpus) -> None:
        self._relations(corpus, self._encoder())

    def _build_head(self, encoder: Encoder) -> nn.Module:
        dropout = self.input_dropout, self.relation_dropout, self.dropout
        relations = self._relations(Corpus([]), encoder).shape[-1]
        spans = SiameseSpans(1, encoder.hidden_size, relations, self.width, self.hidden, dropout)
        return TaggedSpansHead(spans)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        """The input of rows and, for training, of their forms."""
        relations = self._relations(corpus, encoder)
        if targets is not None:
            parts = [
                (variant.corpus.take(rows), rows)
                for variant, rows in _variants_of(corpus, self.name_variants)
            ]
            corpus = Corpus(
                replace(row, id=f"{row.id}~{k}") for k, (part, _) in enumerate(parts) for row in part
            )
            rows = np.concatenate([rows for _, rows in parts])
            relations, targets = relations[rows], targets[rows]
        view = tagged(corpus, encoder, self.max_pieces, TAGS)
        return PieceData(view, targets, {"relations": relations})

    def _relations(self, corpus: Corpus, encoder: Encoder) -> Floats32:
        """Relations (n, 2, k) of each name to the pronoun; NaN where one has no value."""
        relations = [distance_relations(corpus)]
        if self.attention:
            heads = range(1, encoder.num_layers + 1)
            relations.append(attention_relations(span_activations(corpus, encoder, (), heads)))
        return np.concatenate([*relations, feature_relations(features(corpus, self.blocks))], axis=-1)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        encoder = self._encoder()
        relations = self._relations(corpus, encoder)
        forms, answers = [], []
        for variant, rows in _variants_of(corpus, self.prediction_variants):
            answer = np.zeros((len(corpus), len(Label)))
            if len(rows):
                view = tagged(variant.corpus.take(rows), encoder, self.max_pieces, TAGS)
                data = PieceData(view, None, {"relations": relations[rows]})
                answer[rows] = softmax(self._logits(data), axis=1)
            forms.append(variant)
            answers.append(answer)
        return average(forms, answers)


def _variants_of(corpus: Corpus, count: int) -> Iterator[tuple[Variant, Ints]]:
    """The corpus and ``count`` forms of it, each with the numbers of the rows that differ there."""
    names = ("original", *(f"anonymise_{k}" for k in range(count)))
    for variant in variants(corpus, names):
        yield variant, np.flatnonzero(variant.counts)


class TaggedSpansHead(nn.Module):
    """:class:`~gapstack.members.frozen_spans.SiameseSpans` of one seed over hidden states and unscaled relations."""

    def __init__(self, spans: SiameseSpans):
        super().__init__()
        self.scale = RunningScale(len(spans.relate.weight))
        self.spans = spans

    def forward(self, hidden: Tensor, mentions: Tensor, relations: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H), piece ranges (b, 3, 2) and relations (b, 2, k) to logits (b, 3)."""
        is_inside = inside(mentions, hidden.shape[1])
        # every mention's pieces, end to end
        row, _mention, piece = is_inside.nonzero(as_tuple=True)
        return self.spans.scored(hidden[row, piece], is_inside.sum(-1).flatten(), self.scale(relations))[0]
