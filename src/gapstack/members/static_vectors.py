"""A siamese network over static word vectors, as published or debiased, for tests of gender bias in the vectors.

Dawkins 2021, *Second Order WinoBias (SoWinoBias) Test Set for Latent Gender Bias Detection*, sections 3 and 5, after
Zhao et al. 2018: the same coreference system is trained over word vectors with and without gender, with and without
gender-swapped copies of the training texts (``augment=["swap_gender"]``), and evaluated on occupations (recipe
``sowinobias``). Each mention is three means of vectors: of its words, of the words before and of those after it; with
``contextual``, a frozen encoder's vector of the mention joins them, as ELMo's in the paper.

Differences: the paper's system finds mentions and links them itself (Lee et al. 2018, over GloVe and ELMo) and is
trained on OntoNotes, which is not free. Ours is given the mentions and trained on GAP and ``extra``. The space is by
default the embedded encoder's input embeddings; words that it lacks have no vector.
"""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from gapstack.cache import by_content
from gapstack.data import Corpus, Example
from gapstack.data.word_lists import lists_key, read_lists
from gapstack.encoding.activations import span_activations
from gapstack.encoding.debias import DEBIASERS, DebiaserName
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.static_vectors import ENCODER, Vectors, read_vectors, vectors_key
from gapstack.members.frozen_head import ON_MENTIONS, Arrays, FrozenHead, Scaling, chosen_layers, mean_vectors
from gapstack.members.frozen_spans import SiameseSpans, distance_relations
from gapstack.settings import Count, FractionBelowOne, Natural
from gapstack.text.words import words

_PLACES = 3  # means for each mention: before, of itself, after


class StaticVectors(FrozenHead):
    """A siamese head over means of static vectors in and around the mentions."""

    vectors: str = ENCODER
    """A file of word vectors, or ``encoder`` or ``encoder:NAME`` for an encoder's input embeddings."""
    debias: DebiaserName | Literal[""] = ""
    """Debiaser of the space with default settings, in :data:`gapstack.encoding.debias.DEBIASERS`; empty for none."""
    contextual: bool = False
    """Read the encoder's vectors of the mentions too."""
    encoder: str | None = None
    """Name or folder of that encoder; the embedded MiniLM by default."""
    limit: Count | None = 50_000
    """Number of a file's most frequent words to read; None for all."""
    context: Natural = 6
    """Words on either side of a mention."""
    width: Count = 32
    hidden: Count = 64
    input_dropout: FractionBelowOne = 0.6
    dropout: FractionBelowOne = 0.3
    """Sizes and dropout of :class:`~gapstack.members.frozen_spans.SiameseSpans`; ``dropout`` is on relations too."""

    PLAN = ON_MENTIONS.changed({"epochs": 10, "weight_decay": 1.0, "label_smoothing": 0.0})
    # a dimension that a debiaser has shrunk must stay small
    SCALING: ClassVar[Mapping[str, Scaling]] = {
        "mentions": "whole",
        "relations": "columns",
        "contextual": "columns",
    }

    def reads(self) -> dict[str, Any]:
        """Inputs: the encoder only with ``contextual``."""
        return super().reads() | ({} if self.contextual else {"encoder": False})

    def _arrays(self, corpus: Corpus) -> Arrays:
        bags = [bag for example in corpus for bag in _bags(example, self.context)]
        means = _space(self.vectors, self.debias, self.limit).means(bags)
        # (n, mentions, places * d)
        arrays = {
            "mentions": means.reshape(len(corpus), 3, _PLACES * means.shape[1]),
            "relations": distance_relations(corpus),
        }
        if self.contextual:
            encoder = load_encoder(self.encoder)
            layers = chosen_layers(None, encoder, ((2,), 3))
            arrays["contextual"] = mean_vectors(span_activations(corpus, encoder, layers))
        return arrays

    def _head(self, arrays: Arrays) -> nn.Module:
        inputs = sum(arrays[name].shape[-1] for name in ("mentions", "contextual") if name in arrays)
        relations, dropout = arrays["relations"].shape[-1], (self.input_dropout, self.dropout, self.dropout)
        return MeansNetwork(SiameseSpans(1, inputs, relations, self.width, self.hidden, dropout))


class MeansNetwork(nn.Module):
    """The siamese network over mentions that are one vector each."""

    def __init__(self, network: SiameseSpans):
        super().__init__()
        self.network = network

    def forward(self, mentions: Tensor, relations: Tensor, contextual: Tensor | None = None) -> Tensor:
        """Map mentions (b, 3, static), relations (b, 2, R) and contextual vectors (b, 3, H) to logits (b, 3)."""
        if contextual is not None:
            mentions = torch.cat([mentions, contextual], dim=-1)
        vectors = mentions.flatten(0, 1)
        ones = torch.ones(len(vectors), dtype=torch.int64, device=vectors.device)
        return self.network.scored(vectors, ones, relations)[0]


def _bags(example: Example, context: int) -> Iterator[tuple[str, ...]]:
    """Words before, in and after pronoun, A and B."""
    text = words(example.text)
    for span in (example.pronoun, example.a, example.b):
        own = text.word_index(span)
        yield text.strings[max(own.start - context, 0) : own.start]
        yield text.strings[own.start : own.stop]
        yield text.strings[own.stop : own.stop + context]


def _key(vectors: str, debias: str, limit: int | None) -> Hashable:
    return vectors, debias, limit, vectors_key(vectors), lists_key() if debias in DEBIASERS else ""


@by_content(_key)
def _space(vectors: str, debias: str, limit: int | None) -> Vectors:
    """The space, once for all folds."""
    if debias:
        return DEBIASERS[debias](_space(vectors, "", limit), read_lists())
    return read_vectors(vectors, limit=limit)
