"""Frozen encoder, small head: spans pooled by self-attention, crossed with the pronoun, scored alike for A and B.

The recipe is the field's for frozen features: activations of a middle layer and dropout on the raw vectors (Yang et al.
2019), a narrow projection and self-attentive pooling of each mention (Abzaliev 2019), products and differences of name
and pronoun (Yang et al.; Bao & Qiao 2019), and the same weights for both names.

Ours: the encoder's attention heads are read as well, the log of the attention from pronoun to name and back, once for
the mention itself and once for all places where the name's pieces occur (Webster et al. 2018, section 4.4, read one
head in this way). Distances in the text complete the relations, and optionally hand-made features (``blocks``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus
from gapstack.encoding.activations import GROUPS, SpanActivations, span_activations
from gapstack.encoding.encoders import EncoderName, load_encoder
from gapstack.features import BlockNames, Features, features
from gapstack.members.frozen_head import Arrays, Scaling, chosen_layers, scaled, scales_of
from gapstack.members.layers import ParallelLinear, SharedLinear, cross
from gapstack.members.learned_state import State
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet, merge
from gapstack.settings import Count, Fraction, FractionBelowOne, Natural, NonNegative, Positive, Seed
from gapstack.training import PLAIN, RowData, train
from gapstack.training.devices import quick_dropout
from gapstack.types import Floats32, Probabilities

_SCALING: Mapping[str, Scaling] = {"pieces": "columns", "relations": "columns"}
OUTPUTS = 2  # outputs for each name: its own score, and its share of NEITHER's
_NOISE = 1e-3  # attention below this is noise in bfloat16
_PRONOUN = GROUPS.index("pronoun")
# attention from which group to which, for A and for B: (2, 4, 2)
_READ = np.array(
    [
        [(_PRONOUN, name), (name, _PRONOUN), (_PRONOUN, anywhere), (anywhere, _PRONOUN)]
        for name, anywhere in ((GROUPS.index(n), GROUPS.index(f"{n}_anywhere")) for n in ("a", "b"))
    ]
)


class FrozenSpans(SoftLabelMember):
    """A seed ensemble of small siamese heads over cached activations of a frozen encoder."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layers: Sequence[Natural] | None = None
    """Layers whose vectors are read, side by side; None for the one at two thirds of the encoder's depth."""
    attention_layers: Sequence[Count] | None = None
    """Layers whose heads are read; None for all."""
    blocks: BlockNames = ()
    """Hand-made features that join the relations; see :data:`gapstack.features.BLOCKS`."""
    seeds: Count = 6
    """Networks whose probabilities are averaged."""
    epochs: Count = 20
    batch_size: Count = 64
    learning_rate: Positive = 1e-3
    weight_decay: NonNegative = 0.1
    """Settings of AdamW."""
    width: Count = 32
    hidden: Count = 64
    input_dropout: Fraction = 0.7
    relation_dropout: Fraction = 0.3
    dropout: FractionBelowOne = 0.5
    """Sizes and dropout of the network; see :class:`SiameseSpans`."""
    seed: Seed = 0
    """Seed of weights, order and dropout."""

    LEARNS_TOGETHER: ClassVar[bool] = True
    ONE_THREAD: ClassVar[bool] = True

    def _prepare(self, corpus: Corpus) -> None:
        self._read(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        self._fit_networks([self], [training_set])

    def _fit_each(self, members: Sequence[Self], corpora: Sequence[Corpus]) -> None:
        self._fit_networks(members, [self._training_set(corpus) for corpus in corpora])

    def _fit_networks(self, members: Sequence[Self], parts: Sequence[TrainingSet]) -> None:
        """Fit ``members`` to their training sets, all networks side by side over the rows of all sets.

        Inputs are read once, with one scale: the mean and deviation of all these rows, without their labels.
        """
        corpus, targets = merge(parts)
        inputs = self._read(corpus)
        pieces = inputs["pieces"]
        # both names share a scale, or they could be distinguished
        keep = np.arange(pieces.shape[1]) < inputs["spans"][:, -1, 1:]
        scales = scales_of({**inputs, "pieces": pieces[keep]}, _SCALING)
        share = np.mean([len(part) for part in parts]) / len(corpus)
        plan = replace(
            PLAIN,
            epochs=self.epochs,
            batch_size=round(self.batch_size / share),
            head_lr=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=self.seed,
        )
        data = RowData(scaled(inputs, scales, _SCALING), targets)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            network = self._build(scales, len(members))
            train(network, data, plan, objective=_summed)
            network.cpu()
            for number, member in enumerate(members):
                networks = slice(number * self.seeds, (number + 1) * self.seeds)
                member.arrays_ = network.weights(networks) | scales
                member._load_network()

    @torch.inference_mode()
    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        inputs = scaled(self._read(corpus), self.scales_, _SCALING).values()
        batches = zip(*(torch.from_numpy(array).split(_ROWS) for array in inputs), strict=True)
        answers = [self.network_(*batch).double().softmax(-1).mean(0) for batch in batches]
        return torch.cat(answers).numpy()

    def _read(self, corpus: Corpus) -> dict[str, NDArray[Any]]:
        """The network's inputs by name, before scaling."""
        encoder = load_encoder(self.encoder)
        layers = chosen_layers(self.layers, encoder, ((2,), 3))
        heads = self.attention_layers
        if heads is None:
            heads = range(1, encoder.num_layers + 1)
        activations = span_activations(corpus, encoder, layers, heads)
        pieces, spans = activations.padded()
        hand_made = feature_relations(features(corpus, self.blocks))
        relations = [attention_relations(activations), distance_relations(corpus), hand_made]
        return {"pieces": pieces, "spans": spans, "relations": np.concatenate(relations, axis=-1)}

    def _build(self, scales: Arrays, members: int = 1) -> SiameseSpans:
        dropout = self.input_dropout, self.relation_dropout, self.dropout
        inputs, relations = len(scales["pieces_by"]), len(scales["relations_by"])
        return SiameseSpans(self.seeds * members, inputs, relations, self.width, self.hidden, dropout)

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._load_network()

    def _load_network(self) -> None:
        weights = {key: torch.from_numpy(value) for key, value in self.arrays_.items()}
        self.scales_ = {
            key: weights.pop(key).numpy() for key in self.arrays_ if key.endswith(("_shift", "_by"))
        }
        self.network_ = self._build(self.scales_)
        self.network_.load_state_dict(weights)
        self.network_.eval()


def _summed(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Summed losses (b,) of logits (members * seeds, b, 3); targets (b, members, 3) sum to a row's weight for each."""
    weight = target.sum(-1, keepdim=True)
    smooth = target * (1 - smoothing) + weight * (smoothing / target.shape[-1])
    # (members, seeds, b, 3)
    logs = logits.float().log_softmax(-1).unflatten(0, (target.shape[1], -1))
    return -(smooth.transpose(0, 1)[:, None] * logs).sum((0, 1, 3))


_ROWS = 512  # rows of a batch in prediction


class SiameseSpans(nn.Module):
    """Two siamese towers whose scores are added, over span vectors and over relations; ``seeds`` networks at once."""

    def __init__(
        self,
        seeds: int,
        inputs: int,
        relations: int,
        width: int,
        hidden: int,
        dropout: tuple[float, float, float],
    ):
        super().__init__()
        self.seeds = seeds
        self.input_dropout, self.relation_dropout, self.dropout = dropout
        self.project = SharedLinear(seeds, inputs, width)
        self.attend = ParallelLinear(seeds, width, 1)
        self.cross = ParallelLinear(seeds, 4 * width, hidden)
        # at first the relations alone decide: their tower learns quicker, and vectors overfit
        self.cross_out = ParallelLinear(seeds, hidden, OUTPUTS, zero=True)
        self.relate = SharedLinear(seeds, relations, hidden)
        self.relate_out = ParallelLinear(seeds, hidden, OUTPUTS)

    def weights(self, which: slice) -> dict[str, NDArray[Any]]:
        """Weights of only these networks, by name."""
        second_axis = {"project.weight", "relate.weight"}  # SharedLinear has the networks there
        return {
            name: (weight[:, which] if name in second_axis else weight[which]).numpy()
            for name, weight in self.state_dict().items()
        }

    def forward(self, pieces: Tensor, spans: Tensor, relations: Tensor) -> Tensor:
        """Map pieces (n, T, inputs), mention ranges (n, 3, 2) and (n, 2, relations) to logits (seeds, n, 3)."""
        keep = torch.arange(pieces.shape[1], device=spans.device) < spans[:, -1, 1:]
        return self.scored(pieces[keep], (spans[..., 1] - spans[..., 0]).flatten(), relations)

    def scored(self, pieces: Tensor, lengths: Tensor, relations: Tensor) -> Tensor:
        """As :meth:`forward`, with the pieces of all mentions end to end (T, inputs), and their numbers (3 n,)."""
        scores = self.cross_out(self._crossed(pieces, lengths)) + self.relate_out(self._related(relations))
        # (seeds, n, names, outputs)
        scores = scores.view(self.seeds, -1, 2, OUTPUTS)
        return torch.cat([scores[..., 0], scores[..., 1].sum(-1, keepdim=True)], dim=-1)

    def _crossed(self, pieces: Tensor, lengths: Tensor) -> Tensor:
        """Hidden layer over [name; pronoun; name * pronoun; pronoun - name], (seeds, n * 2, hidden)."""
        projected = self.project(quick_dropout(pieces, self.input_dropout, self.training))
        # (n, 3, seeds, width): pronoun, A, B
        mentions = self._pooled(projected, lengths).unflatten(0, (-1, 3))
        mentions = quick_dropout(functional.selu(mentions), self.dropout / 2, self.training)
        crossed = cross(mentions[:, 1:], mentions[:, :1]).flatten(0, 1).transpose(0, 1)
        return quick_dropout(functional.relu(self.cross(crossed)), self.dropout, self.training)

    def _pooled(self, projected: Tensor, lengths: Tensor) -> Tensor:
        """Self-attentive pooling (Lee et al. 2017, section 4) of ``lengths`` pieces each, (mentions, seeds, width)."""
        # (pieces, seeds)
        scores = (projected * self.attend.weight[..., 0]).sum(-1) + self.attend.bias[:, 0, 0]
        highest = torch.segment_reduce(scores.detach(), "max", lengths=lengths)
        weights = (scores - highest.repeat_interleave(lengths, dim=0)).exp()
        total = torch.segment_reduce(weights, "sum", lengths=lengths)
        pooled = torch.segment_reduce(weights[..., None] * projected, "sum", lengths=lengths)
        return pooled / total[..., None]

    def _related(self, relations: Tensor) -> Tensor:
        """Hidden layer over the relations, (seeds, n * 2, hidden)."""
        rows = self.relate(quick_dropout(relations.flatten(0, 1), self.relation_dropout, self.training))
        return quick_dropout(functional.relu(rows), self.dropout, self.training).transpose(0, 1)


def distance_relations(corpus: Corpus) -> Floats32:
    """Signed log distance to the pronoun, its size, name first, other name between: (n, 2, 4)."""
    starts = np.array([(e.pronoun.start, e.a.start, e.b.start) for e in corpus]).reshape(-1, 3)
    pronoun, names = starts[:, :1], starts[:, 1:]
    other, gap = names[:, ::-1], pronoun - names
    size = np.log1p(np.abs(gap))
    is_between = (np.minimum(pronoun, names) < other) & (other < np.maximum(pronoun, names))
    return np.stack([np.sign(gap) * size, size, gap > 0, is_between], axis=-1).astype(np.float32)


def attention_relations(activations: SpanActivations) -> Floats32:
    """Log attention between pronoun and name, both ways, of the mention and of all its places, (n, 2, 4 * heads)."""
    # (n, layers, heads, 5, 5) -> (n, layers, heads, 2, 4) -> (n, 2, 4, layers, heads)
    read = np.moveaxis(activations.attention[..., _READ[..., 0], _READ[..., 1]], (3, 4), (1, 2)).astype(
        np.float32
    )
    return np.log(read + _NOISE).reshape(len(activations), 2, math.prod(read.shape[2:]))


def feature_relations(block: Features) -> Floats32:
    """Each name's own features, its lead over the rival and the row's, (n, 2, 2 k + m), large values damped."""
    candidates = block.candidates
    shared = np.repeat(block.shared[:, None], 2, axis=1)
    values = np.concatenate([candidates, candidates - candidates[:, ::-1], shared], axis=-1)
    return (np.sign(values) * np.log1p(np.abs(values))).astype(np.float32)
