"""The five zeros' two systems: fine-tuned pair products, and dense towers over masked names.

Ionita, Kashnitsky, Krige, Larin, Logvinenko and Atanasov 2019, *Resolving Gendered Ambiguous Pronouns with BERT*.

- **Pair products** (Krige, section 4.1; fifth place): each mention is the last layer's vector of its first piece. With
  P, A, B for the three, the logits are (P * A) . w and (P * B) . w with one w for both names, and (P * P - A * B) . w_n
  for NEITHER, with dropout on w and w_n.
- **Frozen network** (22nd place): A and B are replaced by the mask token; ``*`` for a lost letter is repaired from the
  vocabulary; each mention is read in the middle of a window of 64 pieces, in three layers side by side. A dense layer
  over [p; a; b] (112 units, batch normalisation, dropout 0.9), one such layer for both p - a and p - b (the released
  code; the paper's text has products), both for each of two encoders, and one over hand-made features (128, dropout
  0.8) go together through three units and batch normalisation.

Differences: the encoder is the embedded MiniLM, with rates that suit it. In pair products A and B share a bias, so
swapping them swaps the probabilities; pseudo-labels, which the paper mixes into each batch, are ``teacher`` and learned
first. The frozen network is averaged over both orders of the names (``symmetric=False`` is the paper's); most of the
paper's 69 features have a counterpart in the feature blocks, but not the decisions of three resolvers and an MLP over
ELMo. Vectors are standardised; features are scaled by the training rows alone. The L2 penalty on the last layer is
AdamW's weight decay on all layers.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus, Example, Label
from gapstack.data.augment import augmented
from gapstack.data.example import Replacement, edit
from gapstack.data.gender import feminise
from gapstack.encoding.activations import window_activations
from gapstack.encoding.encoders import Encoder, EncoderName, encoder_digest, load_encoder
from gapstack.encoding.pieces import align
from gapstack.features import BlockNames, features
from gapstack.language.grammar import Role
from gapstack.members.added_pieces import mask_token
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.frozen_head import (
    MENTION_SCALING,
    Arrays,
    FrozenHead,
    HeadInputs,
    chosen_layers,
    feature_columns,
    mean_vectors,
)
from gapstack.members.layers import BatchNorm, SwapEquivariant, dense_block, first_pieces
from gapstack.settings import Count, FractionBelowOne, Natural, Reads
from gapstack.training import PieceData, Targets
from gapstack.types import Floats, Floats32


class PairProduct(FineTuned):
    """Weighted products of the mentions' first pieces."""

    feminise: bool = False
    """Replace every masculine pronoun by the feminine one (his, him and hers by her)."""
    dropout: FractionBelowOne = 0.1
    """Dropout on the weights."""
    max_pieces: Count | None = 128

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": {
            "epochs": 3,
            "batch_size": 256,
            "encoder_lr": 2e-5,
            "head_lr": 2e-5,
            "label_smoothing": 0.01,
        }
        | {"frozen": [], "schedule": {"shape": "linear", "warmup": 0.1}, "attention_dropout": True},
        "feminise": True,
        "max_pieces": 64,
    }
    """Half of the paper's models have ``max_pieces`` 128."""

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return PairProductHead(encoder.hidden_size, self.dropout)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        rows = augmented(corpus, feminise) if self.feminise else corpus
        return PieceData(align(rows, encoder, self.max_pieces), targets)


class PairProductHead(nn.Module):
    """Three weighted sums of products of vectors of width ``width``."""

    def __init__(self, width: int, dropout: float = 0.1):
        super().__init__()
        self.dropout = dropout
        # weights of the products for a name, and for NEITHER
        self.weight = nn.Parameter(torch.empty(2, width))
        self.bias = nn.Parameter(torch.zeros(2))
        nn.init.normal_(self.weight, std=0.02)  # as BERT initialises

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and mention ranges (b, 3, 2) to logits (b, 3)."""
        pronoun, a, b = first_pieces(hidden, mentions).unbind(1)
        name, neither = functional.dropout(self.weight, self.dropout, self.training)
        logits = [(pronoun * a) @ name, (pronoun * b) @ name, (pronoun * pronoun - a * b) @ neither]
        return torch.stack(logits, dim=-1) + self.bias[[0, 0, 1]]


_VECTOR_UNITS, _FEATURE_UNITS = 112, 128
_CODES = {"cue_role": len(Role), "cue_p_role": len(Role)}
"""Categorical features with the number of their values."""
_GARBLED = re.compile(r"[^\W\d_]*(?:\*[^\W\d_]*)+")
_MIN_LETTERS = 2  # "a*" matches any word of two letters
_WORD_STARTS = ("\u0120", "\u2581")
"""Marks of a word's first piece in byte-pair and sentence-piece vocabularies."""


_SECOND = Reads(lambda name: encoder_digest(name) if name else "", is_encoder=True)


class FrozenMLP(FrozenHead):
    """Dense towers over masked mentions in windows of their own and hand-made features."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    second_encoder: Annotated[str | None, _SECOND] = None
    """A second encoder, read in the same layers, with towers of its own in the same network."""
    layers: Sequence[Natural] | None = None
    """Layers that are read, side by side; None for those at two thirds and five sixths of the depth."""
    null_space: bool = False
    """Project vectors to where no linear classifier finds the pronoun's gender (Ravfogel et al. 2020)."""
    blocks: BlockNames = ("surface", "cues", "positions")
    """Hand-made features in addition to the vectors, by their names in :data:`gapstack.features.BLOCKS`."""
    window: Count = 64
    """Pieces of the window around each mention, special pieces included."""
    symmetric: bool = True
    """Average the network over both orders of the names."""
    vector_dropout: FractionBelowOne = 0.9
    feature_dropout: FractionBelowOne = 0.8
    """Dropout on the units of the towers over vectors and over features."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "second_encoder": "bert-large-cased",
        "layers": [21, 20, 19],
        "symmetric": False,
        "vector_dropout": 0.9,
        "feature_dropout": 0.8,
        "training": {"epochs": 1000, "batch_size": 64, "head_lr": 2e-2, "weight_decay": 0.02}
        | {"label_smoothing": 0.0, "max_norm": None, "patience": 50}
        | {"schedule": {"shape": "inverse", "decay": 0.03, "warmup": 0.0}},
    }

    def _encoders(self) -> list[tuple[Encoder, tuple[int, ...]]]:
        """Both encoders, or the only one, with their layers."""
        names = [self.encoder, *([self.second_encoder] if self.second_encoder else ())]
        return [
            (encoder, chosen_layers(self.layers, encoder, ((4, 5), 6)))
            for encoder in map(load_encoder, names)
        ]

    def _inputs(self) -> HeadInputs:
        return HeadInputs(self._read, MENTION_SCALING, null_space=self.null_space)

    def _read(self, corpus: Corpus) -> Arrays:
        return {"mentions": self._mentions(corpus), **self._features(corpus)}

    def _mentions(self, corpus: Corpus) -> Floats32:
        parts = []
        for encoder, layers in self._encoders():
            masked = Corpus([mask_names(repair_stars(example, encoder), encoder) for example in corpus])
            parts.append(mean_vectors(window_activations(masked, encoder, layers, max_pieces=self.window)))
        return np.concatenate(parts, axis=-1)

    def _features(self, corpus: Corpus) -> Arrays:
        if not self.blocks:
            return {}
        block = features(corpus, self.blocks)
        return {
            "names": numeric(block.candidates, block.candidate_names),
            "row": numeric(block.shared, block.shared_names),
        }

    def _build_head(self, arrays: Arrays) -> nn.Module:
        widths = [len(layers) * encoder.hidden_size for encoder, layers in self._encoders()]
        network = TowersNetwork(widths, feature_columns(arrays), self.vector_dropout, self.feature_dropout)
        return SwapEquivariant(network) if self.symmetric else network


def numeric(values: Floats, names: Sequence[str]) -> Floats:
    """Features (..., k) for a network: roles one-hot in the first columns (none for NaN), others as signed logs."""
    codes = [number for number, name in enumerate(names) if name in _CODES]
    rest = [number for number in range(len(names)) if number not in codes]
    columns = [values[..., [code]] == np.arange(_CODES[names[code]]) for code in codes]
    logs = np.sign(values[..., rest]) * np.log1p(np.abs(values[..., rest]))
    return np.concatenate([*columns, logs], axis=-1)


class Towers(nn.Module):
    """A dense layer over [p; a; b], and one over p - a and p - b, of vectors of width ``inputs``."""

    def __init__(self, inputs: int, dropout: float):
        super().__init__()
        self.joint = dense_block(3 * inputs, _VECTOR_UNITS, dropout)
        self.siamese = dense_block(inputs, _VECTOR_UNITS, dropout)

    def forward(self, mentions: Tensor) -> Tensor:
        """Map (b, 3, inputs) to (b, 3 * units)."""
        differences = mentions[:, :1] - mentions[:, 1:]
        # (b, 2 * units): both names through one layer and one batch norm
        siamese = self.siamese(differences.flatten(0, 1)).view(len(mentions), -1)
        return torch.cat([self.joint(mentions.flatten(1)), siamese], dim=-1)


class TowersNetwork(nn.Module):
    """Towers over vectors of ``widths`` and ``columns`` features (0 for none), then batch normalisation."""

    def __init__(self, widths: Sequence[int], columns: int, vector_dropout: float, feature_dropout: float):
        super().__init__()
        self.widths = list(widths)
        self.towers = nn.ModuleList(Towers(width, vector_dropout) for width in widths)
        outputs = 3 * _VECTOR_UNITS * len(widths)
        if columns:
            self.dense = nn.Sequential(
                nn.Linear(columns, _FEATURE_UNITS), nn.ReLU(), nn.Dropout(feature_dropout)
            )
            outputs += _FEATURE_UNITS
        self.last = nn.Sequential(nn.Linear(outputs, len(Label)), BatchNorm(len(Label)))

    def forward(self, mentions: Tensor, names: Tensor | None = None, row: Tensor | None = None) -> Tensor:
        """Map vectors (b, 3, sum of the widths) and features to logits (b, 3)."""
        by_encoder = mentions.split(self.widths, dim=-1)
        parts = [tower(vectors) for tower, vectors in zip(self.towers, by_encoder, strict=True)]
        if names is not None and row is not None:
            parts.append(self.dense(torch.cat([names.flatten(1), row], dim=-1)))
        return self.last(torch.cat(parts, dim=-1))


def mask_names(example: Example, encoder: Encoder) -> Example:
    """Replace A and B by the encoder's mask token, MemberError if it has none; other occurrences of the names stay."""
    mask = mask_token(encoder)
    return edit(example, [Replacement(span.start, span.end, mask) for span in (example.a, example.b)])


def repair_stars(example: Example, encoder: Encoder) -> Example:
    """Replace each ``*`` (GAP's accented letters) by the most frequent word of the vocabulary that matches."""
    if "*" not in example.text:
        return example
    # single letters are replaced, since a mention may end inside the word
    return edit(
        example,
        [
            Replacement(at, at + 1, repaired[at - match.start()])
            for match in _GARBLED.finditer(example.text)
            if (repaired := _first_match(encoder, match.group()))
            for at in range(*match.span())
            if example.text[at] == "*"
        ],
    )


@lru_cache(maxsize=4096)
def _first_match(encoder: Encoder, garbled: str) -> str:
    """The word that a garbled one is repaired to; empty if there is none."""
    if len(garbled) - garbled.count("*") < _MIN_LETTERS:
        return ""
    for form in dict.fromkeys((garbled, garbled.lower())):
        pattern = re.compile(re.escape(form).replace(r"\*", "."))
        for word in _words(encoder).get(len(form), ()):
            if pattern.fullmatch(word):
                return word
    return ""


@lru_cache(maxsize=2)
def _words(encoder: Encoder) -> dict[int, list[str]]:
    """Words of the vocabulary that consist of letters, by length, in the vocabulary's order."""
    vocabulary: dict[str, int] = encoder.tokenizer.get_vocab()
    marked = any(token.startswith(_WORD_STARTS) for token in vocabulary)
    words: dict[int, list[str]] = {}
    for token in sorted(vocabulary, key=vocabulary.__getitem__):
        word = token.lstrip("".join(_WORD_STARTS))
        # where first pieces are marked, the others are continuations, as those with "##" are elsewhere
        if word.isalpha() and (word != token or not marked):
            words.setdefault(len(word), []).append(word)
    return words
