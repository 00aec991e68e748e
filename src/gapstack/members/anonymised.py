"""Anonymized BERT: names replaced by common first names, in training and as test-time augmentation.

Liu 2019, *Anonymized BERT: An Augmentation Approach to the Gendered Pronoun Resolution Challenge*; seventh place. A and
B become pairs of common first names wherever the text has them (four pairs for each gender, see
:func:`gapstack.data.augment.anonymise_names`). The head is trained on the rows and their four copies, and probabilities
are averaged with fixed weights over all five. Two heads read the mean vectors of a frozen BERT-large: ``end_to_end``,
after Lee et al. 2017, one scorer [p; a; p * a; distance; 5 scalars] -> 150 -> 1 for A and for B, with an embedding of
the distance in ten buckets and logit 0 for NEITHER; and ``pure``, [p; a; b] -> 512 -> 32 -> 3 with batch normalisation
and dropout 0.6.

Differences: the encoder is the embedded MiniLM, read two thirds up. Vectors are standardised; the learning rate is high
and falls over ten epochs, where the paper has a constant 3e-5 and early stopping. By default the five scalars of a name
need no parse; ``scalars="fill_the_gap"`` are the paper's. They and the distance are those of the original row in all
copies. Texts are not cut at sentences. ``pure`` averages over both orders of the names. A row that a rule excludes from
anonymising has one weight instead of five.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from annotated_types import Interval
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.data.augment import Variant, average, variants
from gapstack.encoding.encoders import EncoderName
from gapstack.errors import MemberError
from gapstack.features import BLOCKS_READ, BlockName, features
from gapstack.members.frozen_head import (
    MENTION_SCALING,
    ON_MENTIONS,
    Arrays,
    FrozenHead,
    HeadInputs,
    mention_vectors,
)
from gapstack.members.layers import SwapEquivariant, dense_block
from gapstack.settings import Count, FractionBelowOne, Natural, NonNegative, ReadInput
from gapstack.training.plan import CONSTANT_RATE
from gapstack.types import Floats, Floats32, Ints, Probabilities

VARIANTS = ("original", "anonymise_0", "anonymise_1", "anonymise_2", "anonymise_3")
"""Copies of a row, in the order of the weights."""
_SURFACE = ("title_share", "before", "same_sentence", "names", "mentions")
_PUBLISHED = {"gap_commanded": 0.0, "gap_tree": -5.0, "gap_theta": 0.0, "gap_title_words": 0.0}
"""Columns of the feature block ``fill_the_gap`` that Liu reads, and their values for a name that it excludes."""
BUCKETS = (1, 2, 3, 4, 5, 8, 16, 32, 64)
"""Lower bounds of the distance buckets but the first (Lee et al. 2017, section 4)."""


class Anonymised(FrozenHead):
    """A head over frozen vectors of rows and their anonymised copies."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layers: Sequence[Natural] | None = None
    """Layers that are read, side by side; None for those at two thirds of the depth."""
    null_space: bool = False
    """Project vectors to where no linear classifier finds the pronoun's gender (Ravfogel et al. 2020)."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    head: Literal["end_to_end", "pure"] = "end_to_end"
    """``end_to_end`` or ``pure``."""
    scalars: Literal["surface", "fill_the_gap"] = "surface"
    """Feature block of the five scalars of a name for ``end_to_end``; ``fill_the_gap`` has the paper's."""
    copies: Sequence[Annotated[int, Interval(ge=0, le=3)]] = (0, 1, 2, 3)
    """Numbers of the anonymised copies that are learned too."""
    weights: Sequence[NonNegative] = (0.1, 0.3, 0.1, 0.3, 0.2)
    """Weights of the original row and its four copies in the average; copies that a rule excludes do not count."""
    hidden: Count = 150
    distance_units: Count = 20
    """Units of the scorer and of a distance's embedding."""
    dropout: FractionBelowOne | None = None
    """Dropout; None for the paper's, 0.2 for ``end_to_end`` and 0.6 for ``pure``."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "layers": [21],
        "max_pieces": 256,
        "scalars": "fill_the_gap",
        "weights": [0.1, 0.25, 0.2, 0.3, 0.15],
        "seeds": 5,
        "validation_share": 0.2,
        "training": CONSTANT_RATE
        | {"epochs": 1000, "batch_size": 128, "head_lr": 3e-5, "weight_decay": 0.0}
        | {"max_norm": None, "patience": 20},
    }
    """The paper's models of five inner folds, each of which stops the training on the other four, are five seeds
    here that hold back a fifth of the pages each. Weights for cased BERT and the settings of ``pure`` are in the recipe
    ``liu2019``."""
    PLAN = ON_MENTIONS.changed({"epochs": 10, "batch_size": 128, "head_lr": 1e-3})

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the parser only for the paper's scalars."""
        blocks = (self.scalars,) if self.head == "end_to_end" else ()
        return super().reads() | {"blocks": BLOCKS_READ.of(blocks)}

    def _prepare(self, corpus: Corpus) -> None:
        list(self._variants(corpus, VARIANTS))

    def _variants(self, corpus: Corpus, names: Sequence[str]) -> Iterator[tuple[Variant, Arrays]]:
        """Each of these kinds of copy with the inputs of all rows."""
        copies = variants(corpus, names)
        rows = [replace(row, id=f"{row.id}~{variant.name}") for variant in copies for row in variant.corpus]
        mentions = self._mentions(Corpus(rows, label_set=corpus.label_set, name=corpus.name))
        others = self._other_inputs(corpus)
        for variant, part in zip(copies, np.split(mentions, len(copies)), strict=True):
            yield variant, {"mentions": part, **others}

    def _mentions(self, corpus: Corpus) -> Floats32:
        return mention_vectors(corpus, self.encoder, self.layers, ((16,), 24), self.max_pieces)

    def _other_inputs(self, corpus: Corpus) -> Arrays:
        """``names`` (n, 2, 5), the scalars, and ``distances`` (n, 2), their buckets; nothing for ``pure``."""
        if self.head == "pure":
            return {}
        surface = columns_of(corpus, "surface")
        if self.scalars == "surface":
            scalars = [surface[name] for name in _SURFACE]
        else:
            columns = columns_of(corpus, "fill_the_gap")
            scalars = [np.nan_to_num(columns[name], nan=none) for name, none in _PUBLISHED.items()]
            scalars.append(np.isnan(columns["gap_theta"]))
        return {"names": np.stack(scalars, axis=-1), "distances": distance_buckets(surface["words"])}

    def _inputs(self) -> HeadInputs:
        return HeadInputs(self._read, MENTION_SCALING, self._read_copies, self.null_space)

    def _read(self, corpus: Corpus) -> Arrays:
        return {"mentions": self._mentions(corpus), **self._other_inputs(corpus)}

    def _read_copies(self, corpus: Corpus) -> tuple[Arrays, Ints]:
        """Inputs of the rows and their copies, and the row of each."""
        names = "original", *(f"anonymise_{number}" for number in self.copies)
        parts = [
            (np.flatnonzero(variant.counts), arrays) for variant, arrays in self._variants(corpus, names)
        ]
        arrays = {
            name: np.concatenate([arrays[name][rows] for rows, arrays in parts]) for name in parts[0][1]
        }
        return arrays, np.concatenate([rows for rows, _ in parts])

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        if len(self.weights) != len(VARIANTS):
            raise MemberError(
                f"weights are {list(self.weights)}; expected {len(VARIANTS)}: {', '.join(VARIANTS)}"
            )
        weighted = {name: weight for name, weight in zip(VARIANTS, self.weights, strict=True) if weight}
        answers = [
            (variant, self._mean_of_networks(arrays))
            for variant, arrays in self._variants(corpus, list(weighted))
        ]
        copies, probabilities = map(list, zip(*answers, strict=True))
        return average(copies, probabilities, list(weighted.values()))

    def _build_head(self, arrays: Arrays) -> nn.Module:
        inputs = arrays["mentions"].shape[-1]
        if self.head == "pure":
            return SwapEquivariant(PureHead(inputs, 0.6 if self.dropout is None else self.dropout))
        dropout = 0.2 if self.dropout is None else self.dropout
        return EndToEndHead(inputs, arrays["names"].shape[-1], self.hidden, self.distance_units, dropout)


def columns_of(corpus: Corpus, block: BlockName) -> dict[str, Floats]:
    """A feature block's columns of the names, (n, 2) each."""
    table = features(corpus, (block,))
    return {name: table.candidates[..., number] for number, name in enumerate(table.candidate_names)}


def distance_buckets(words: Floats) -> Ints:
    """Numbers of the buckets, 0 to 9, of distances in words."""
    return np.searchsorted(BUCKETS, words, side="right").astype(np.int64)


class EndToEndHead(nn.Module):
    """One scorer for both names over vectors of width ``inputs``; NEITHER has score 0 (Lee et al. 2017)."""

    def __init__(self, inputs: int, scalars: int, hidden: int, distance_units: int, dropout: float):
        super().__init__()
        self.distance = nn.Embedding(len(BUCKETS) + 1, distance_units)
        self.score = nn.Sequential(
            nn.Linear(3 * inputs + distance_units + scalars, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )

    def forward(self, mentions: Tensor, names: Tensor, distances: Tensor) -> Tensor:
        """Map vectors (b, 3, D), scalars (b, 2, k) and buckets (b, 2) to logits (b, 3)."""
        candidates = mentions[:, 1:]
        pronoun = mentions[:, :1].expand_as(candidates)
        # (b, 2, 3 D + units + k)
        pairs = torch.cat(
            [pronoun, candidates, pronoun * candidates, self.distance(distances), names], dim=-1
        )
        scores = self.score(pairs).squeeze(-1)
        return torch.cat([scores, torch.zeros_like(scores[:, :1])], dim=-1)


class PureHead(nn.Module):
    """Two dense blocks over [p; a; b]: (b, 3, D) -> (b, 3)."""

    def __init__(self, inputs: int, dropout: float):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            dense_block(3 * inputs, 512, dropout),
            dense_block(512, 32, dropout),
            nn.Linear(32, len(Label)),
        )

    def forward(self, mentions: Tensor) -> Tensor:
        """Return logits (b, 3)."""
        return self.layers(mentions)
