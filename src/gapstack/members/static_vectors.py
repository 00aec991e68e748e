"""A siamese network over static word vectors, for tests of gender bias in the vectors.

Dawkins 2021, *Second Order WinoBias (SoWinoBias) Test Set for Latent Gender Bias Detection*, sections 3 and 5, after
Zhao et al. 2018: the same coreference system is trained over word vectors with and without gender, with and without
gender-swapped copies of the training texts (``augment=["swap_gender"]``), and evaluated on occupations: ``gap reproduce
dawkins2021``, which debiases the vectors. Each mention is three means of vectors: of its words, of the words before and
of those after it; with ``contextual``, a frozen encoder's vector of the mention joins them, as ELMo's in the paper.

Differences: the paper's system finds mentions and links them itself (Lee et al. 2018, over GloVe and ELMo) and is
trained on OntoNotes, which is not free. Ours is given the mentions and trained on GAP and ``extra``. The space is by
default the embedded encoder's input embeddings; words that it lacks have no vector.
"""

from collections.abc import Hashable, Iterator

import torch
from torch import Tensor, nn

from gapstack.cache import by_content
from gapstack.data import Corpus, Example
from gapstack.encoding.encoders import EncoderName
from gapstack.encoding.word_vectors import ENCODER, Vectors, VectorsName, read_vectors, vectors_key
from gapstack.language.words import words
from gapstack.members.frozen_head import ON_MENTIONS, Arrays, FrozenHead, HeadInputs, Scaling, mention_vectors
from gapstack.members.frozen_spans import SiameseSpans, distance_relations
from gapstack.settings import Count, FractionBelowOne, Natural, ReadInput

_PLACES = 3  # mean vectors of each mention: of the words before it, in it and after it


class StaticVectors(FrozenHead):
    """A siamese head over means of static vectors in and around the mentions."""

    vectors: VectorsName = ENCODER
    """A file of word vectors, or ``encoder`` or ``encoder:NAME`` for an encoder's input embeddings."""
    contextual: bool = False
    """Read the encoder's vectors of the mentions too."""
    encoder: EncoderName = None
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

    def _inputs(self) -> HeadInputs:
        # a dimension that a debiaser has shrunk must stay small
        scaling: dict[str, Scaling] = {
            "mentions": "whole",
            "relations": "columns",
            "contextual": "columns",
        }
        return HeadInputs(self._read, scaling)

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the encoder only with ``contextual``."""
        reads = super().reads()
        if not self.contextual:
            del reads["encoder"]
        return reads

    def _read(self, corpus: Corpus) -> Arrays:
        bags = [bag for example in corpus for bag in _bags(example, self.context)]
        means = _space(self.vectors, self.limit).means(bags)
        # (n, mentions, places * d)
        arrays = {
            "mentions": means.reshape(len(corpus), 3, _PLACES * means.shape[1]),
            "relations": distance_relations(corpus),
        }
        if self.contextual:
            arrays["contextual"] = mention_vectors(corpus, self.encoder, None, ((2,), 3))
        return arrays

    def _build_head(self, arrays: Arrays) -> nn.Module:
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
        place = text.word_index(span)
        yield text.strings[max(place.start - context, 0) : place.start]
        yield text.strings[place.start : place.stop]
        yield text.strings[place.stop : place.stop + context]


def _key(vectors: str, limit: int | None) -> Hashable:
    return vectors, limit, vectors_key(vectors)


@by_content(_key)
def _space(vectors: str, limit: int | None) -> Vectors:
    """The space, read once for all folds."""
    return read_vectors(vectors, limit=limit)
