"""Frozen encoder, small head: spans pooled by self-attention, crossed with the pronoun, scored alike for A and B.

The recipe is the field's for frozen features: activations of a middle layer and dropout on the raw vectors (Yang et al.
2019), a narrow projection and self-attentive pooling of each mention (Abzaliev 2019), products and differences of name
and pronoun (Yang et al.; Bao & Qiao 2019), and the same weights for both names.

Ours: the encoder's attention heads are read as well, the log of the attention from pronoun to name and back, once for
the mention itself and once for all places where the name's pieces occur (Webster et al. 2018, section 4.4, read one
head in this way). Distances in the text complete the relations, and optionally hand-made features (``blocks``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gapstack.data import Corpus
from gapstack.encoding.activations import span_activations
from gapstack.features.blocks import BlockName, features
from gapstack.members.frozen_head import EncoderMember, chosen_layers
from gapstack.members.member import Probabilities, State
from gapstack.members.siamese_spans import (
    SiameseSpans,
    attention_relations,
    distance_relations,
    feature_relations,
)
from gapstack.members.soft_labels import TrainingSet, merge
from gapstack.settings import Count, Fraction, FractionBelowOne, Natural, NonNegative, Positive, Seed
from gapstack.training import PLAIN, RowData, train
from gapstack.types import Floats32


class FrozenSpans(EncoderMember):
    """A seed ensemble of small siamese heads over cached activations of a frozen encoder.

    Parameters
    ----------
    layers : sequence of int, optional
        Layers whose vectors are read, side by side; None for the one at two thirds of the encoder's depth.
    attention_layers : sequence of int, optional
        Layers whose heads are read; None for all.
    blocks : sequence of str
        Hand-made features that join the relations (as in Yang et al. 2019 and Abzaliev 2019); see
        :data:`gapstack.features.blocks.BLOCKS`.
    seeds : int
        Networks whose probabilities are averaged.
    epochs, batch_size, learning_rate, weight_decay
        Of AdamW.
    width, hidden, input_dropout, relation_dropout, dropout
        Of the network, see :class:`~gapstack.members.siamese_spans.SiameseSpans`.
    seed : int
        Of weights, order and dropout.
    """

    layers: Sequence[Natural] | None = None
    attention_layers: Sequence[Count] | None = None
    blocks: Sequence[BlockName] = ()
    seeds: Count = 6
    epochs: Count = 20
    batch_size: Count = 64
    learning_rate: Positive = 1e-3
    weight_decay: NonNegative = 0.1
    width: Count = 32
    hidden: Count = 64
    input_dropout: Fraction = 0.7
    relation_dropout: Fraction = 0.3
    dropout: FractionBelowOne = 0.5
    seed: Seed = 0

    LEARNS_TOGETHER: ClassVar[bool] = True

    def _prepare(self, corpus: Corpus) -> None:
        self._read(corpus)

    def _learn(self, training_set: TrainingSet) -> None:
        self._learn_each([self], [training_set])

    def _fit_each(self, members: Sequence[Self], corpora: Sequence[Corpus]) -> None:
        self._learn_each(members, [self._training_set(corpus) for corpus in corpora])

    def _learn_each(self, members: Sequence[Self], parts: Sequence[TrainingSet]) -> None:
        """Fit each of ``members`` to its training set, with all networks side by side over the rows of all sets.

        A batch has enough rows that on average ``batch_size`` of them belong to each member; inputs are on the scale of
        all rows, which no label decides.
        """
        corpus, targets = merge(parts)
        pieces, spans, relations = self._read(corpus)
        scales = _scales(pieces, spans, relations)
        share = np.mean([len(part) for part in parts]) / len(corpus)
        plan = replace(
            PLAIN,
            epochs=self.epochs,
            batch_size=round(self.batch_size / share),
            head_lr=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=self.seed,
        )
        data = RowData(_standardised(scales, pieces, spans, relations), targets)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = self._build(pieces.shape[-1], relations.shape[-1], len(members))
            train(network, data, plan, objective=_summed)
        network.cpu()
        for number, member in enumerate(members):
            member.scales_ = scales
            member.network_ = network.take(slice(number * self.seeds, (number + 1) * self.seeds))

    @torch.inference_mode()
    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        inputs = _standardised(self.scales_, *self._read(corpus)).values()
        batches = zip(*(torch.from_numpy(array).split(_ROWS) for array in inputs), strict=True)
        answers = [self.network_(*batch).double().softmax(-1).mean(0) for batch in batches]
        return np.asarray(torch.cat(answers).numpy())

    def _read(self, corpus: Corpus) -> tuple[Floats32, NDArray[np.int64], Floats32]:
        encoder = self._encoder()
        layers = chosen_layers(self.layers, encoder, self.LAYERS)
        heads = self.attention_layers
        if heads is None:
            heads = range(1, encoder.num_layers + 1)
        activations = span_activations(corpus, encoder, layers, heads)
        pieces, spans = activations.padded()
        relations = [attention_relations(activations), distance_relations(corpus)]
        if self.blocks:
            relations.append(feature_relations(features(corpus, self.blocks)))
        return pieces, spans, np.concatenate(relations, axis=-1)

    def _build(self, inputs: int, relations: int, members: int = 1) -> SiameseSpans:
        return SiameseSpans(
            seeds=self.seeds * members,
            inputs=inputs,
            relations=relations,
            width=self.width,
            hidden=self.hidden,
            input_dropout=self.input_dropout,
            relation_dropout=self.relation_dropout,
            dropout=self.dropout,
        )

    def _state(self) -> State:
        weights: dict[str, Any] = {key: value.numpy() for key, value in self.network_.state_dict().items()}
        return State(arrays=weights | self.scales_)

    def _restore(self, state: State) -> None:
        weights = dict(state.arrays)
        self.scales_ = {key: weights.pop(key) for key in _SCALES}
        self.network_ = self._build(len(self.scales_["piece_mean"]), len(self.scales_["relation_mean"]))
        self.network_.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
        self.network_.eval()


def _summed(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Losses (b,) of logits (members * seeds, b, 3), summed so that each network learns as if alone.

    The target (b, members, 3) of a row sums to its weight for each member.
    """
    weight = target.sum(-1, keepdim=True)
    smooth = target * (1 - smoothing) + weight * (smoothing / target.shape[-1])
    # (members, seeds, b, 3)
    logs = logits.float().log_softmax(-1).unflatten(0, (target.shape[1], -1))
    return -(smooth.transpose(0, 1)[:, None] * logs).sum((0, 1, 3))


_ROWS = 512  # of a batch in prediction
_SCALES = ("piece_mean", "piece_scale", "relation_mean", "relation_scale")


def _standardised(
    scales: Mapping[str, Floats32], pieces: Floats32, spans: NDArray[np.int64], relations: Floats32
) -> dict[str, NDArray[Any]]:
    """The network's inputs by name, vectors and relations on the scale of the training rows."""
    return {
        "pieces": (pieces - scales["piece_mean"]) / scales["piece_scale"],
        "spans": spans,
        # a missing feature (NaN) gets the mean
        "relations": np.nan_to_num((relations - scales["relation_mean"]) / scales["relation_scale"]),
    }


def _scales(pieces: Floats32, spans: NDArray[np.int64], relations: Floats32) -> dict[str, Floats32]:
    """Mean and spread of every input; both names share theirs, or they could be told apart."""
    keep = np.arange(pieces.shape[1]) < spans[:, -1, 1:]
    found: list[Floats32] = []
    for values in (pieces[keep], relations.reshape(-1, relations.shape[-1])):
        # encoders have dead units: constant ones stay as they are
        known = np.where(np.isnan(values).all(axis=0), np.float32(0), values)
        spread = np.nanstd(known, axis=0)
        found += [np.nanmean(known, axis=0), np.where(spread > 1e-4, spread, 1).astype(np.float32)]
    return dict(zip(_SCALES, found, strict=True))
