"""Frozen encoder, small head: spans pooled by self-attention, crossed with the pronoun, scored alike for A and B.

The recipe is the field's for frozen features: activations of a middle layer (two thirds up, as Yang et al.
2019 found), dropout on the raw vectors (theirs), a narrow projection and self-attentive pooling of each mention
(Abzaliev 2019), products and differences of name and pronoun (Yang et al.; Bao & Qiao 2019), and the same weights for
both names.

What is ours: the encoder's attention heads are read as well. For every head, the log of the attention from
pronoun to name and back, once for the mention itself and once for all the places where the name's pieces
occur (Webster et al. 2018, section 4.4, read one head in this way). On GAP development and validation, five
folds by page, logloss is 0.56, and 0.57 without the vectors.
Distances in the text (log characters, order) complete the relations, as in Wang and in Liu, and on demand
hand-made features (``blocks``), as in Yang et al. and Abzaliev: with ``surface`` and ``cues`` the same folds give
0.489, after 30 epochs instead of 20 0.507. Alone it is best after 12 (0.478 with half of the relations dropped), but
the quickstart's stack, which mends what is merely too sure, is then worse: 0.467 for 0.463 with 20 and with 30.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gapstack.corpus import Corpus, Label
from gapstack.encoding.activations import span_activations
from gapstack.encoding.frozen import CPU_BUDGET, STEP, blocks
from gapstack.features.blocks import features
from gapstack.kinds import BlockName, Count, Natural, NotAll, NotNegative, Positive, Seed, Share
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.crossed_spans import SiameseSpans
from gapstack.members.parts.encoder_member import EncoderMember
from gapstack.members.parts.learner import Lessons, side_by_side
from gapstack.members.parts.relations import attention_relations, distance_relations, feature_relations
from gapstack.training import PLAIN, RowData, train
from gapstack.types import Floats32


class FrozenSpans(EncoderMember):
    """A seed ensemble of small siamese heads over cached activations of a frozen encoder.

    Parameters
    ----------
    encoder, extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.encoder_member.EncoderMember`.
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
        Of the network, see :class:`~gapstack.members.parts.crossed_spans.SiameseSpans`.
    seed : int
        Of weights, order and dropout.

    Raises
    ------
    MemberError
        If the encoder lacks a layer, or a mention cannot be aligned with its pieces.
    """

    layers: Sequence[Natural] | None = None
    attention_layers: Sequence[Count] | None = None
    blocks: Sequence[BlockName] = ()
    seeds: Count = 6
    epochs: Count = 20
    batch_size: Count = 64
    learning_rate: Positive = 1e-3
    weight_decay: NotNegative = 0.1
    width: Count = 32
    hidden: Count = 64
    input_dropout: Share = 0.7
    relation_dropout: Share = 0.3
    dropout: NotAll = 0.5
    seed: Seed = 0

    LEARNS_TOGETHER: ClassVar[bool] = True

    def _prepare(self, corpus: Corpus) -> None:
        """Encode all texts in one pass."""
        self._read(corpus)

    def _learn(self, lessons: Lessons) -> None:
        self._learn_each([self], [lessons])

    def _fit_each(self, members: Sequence[Self], corpora: Sequence[Corpus]) -> None:
        self._learn_each(members, [self._lessons(corpus) for corpus in corpora])

    def _learn_each(self, members: Sequence[Self], lessons: Sequence[Lessons]) -> None:
        """Let each of ``members`` learn its lessons, all networks side by side over the rows of all.

        A batch has as many rows as it needs for each member to find ``batch_size`` of its own among them; inputs are on
        the scale of all rows, which no label decides.
        """
        corpus, targets = side_by_side(lessons)
        pieces, spans, relations = self._read(corpus)
        scales = _scales(pieces, spans, relations)
        data = RowData(_standardised(scales, pieces, spans, relations), targets)
        share = np.mean([len(lesson) for lesson in lessons]) / len(corpus)
        plan = replace(
            PLAIN,
            epochs=self.epochs,
            batch_size=round(self.batch_size / share),
            head_lr=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=self.seed,
        )
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
        inputs = _standardised(self.scales_, *self._read(corpus))
        answers = np.empty((len(corpus), len(Label)))
        lengths, widths = inputs["spans"][:, -1, 1], np.diff(inputs["spans"]).max(axis=(1, 2))
        pieces, spans, relations = map(torch.from_numpy, inputs.values())
        # in shapes that a row alone decides, or its last bits would hang on the other rows; to span extraction the
        # widest mention is part of the shape
        for width in np.unique(widths):
            alike = np.flatnonzero(widths == width)
            for block in blocks(lengths[alike], CPU_BUDGET, multiple=STEP):
                rows = alike[block.rows]
                sequences = torch.zeros(len(rows), block.length, pieces.shape[-1])
                sequences[:, : pieces.shape[1]] = pieces[rows, : block.length]
                logits = self.network_(sequences, spans[rows], relations[rows])
                mean = logits.double().softmax(-1).mean(0)
                answers[rows[: block.real]] = mean[: block.real].numpy()
        return answers

    def _read(self, corpus: Corpus) -> tuple[Floats32, NDArray[np.int64], Floats32]:
        encoder = self._encoder()
        heads = self.attention_layers
        if heads is None:
            heads = range(1, encoder.num_layers + 1)
        activations = span_activations(corpus, encoder, self._default_or(self.layers, encoder), heads)
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
    """Losses (b,) of logits (members * seeds, b, 3): a sum lets each network learn as it would alone.

    The target (b, members, 3) of a row sums to its weight for each member.
    """
    weight = target.sum(-1, keepdim=True)
    smooth = target * (1 - smoothing) + weight * (smoothing / target.shape[-1])
    # (members, seeds, b, 3)
    logs = logits.float().log_softmax(-1).unflatten(0, (target.shape[1], -1))
    return -(smooth.transpose(0, 1)[:, None] * logs).sum((0, 1, 3))


_SCALES = ("piece_mean", "piece_scale", "relation_mean", "relation_scale")


def _standardised(
    scales: Mapping[str, Floats32], pieces: Floats32, spans: NDArray[np.int64], relations: Floats32
) -> dict[str, NDArray[Any]]:
    """Give the network's inputs by name, vectors and relations on the scale of the training rows."""
    return {
        "pieces": (pieces - scales["piece_mean"]) / scales["piece_scale"],
        "spans": spans,
        # a feature that has no value (NaN) says nothing: it gets the mean
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
