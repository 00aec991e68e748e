"""Members over a frozen encoder: the encoder's vectors, small networks over arrays, and heads over mention vectors."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from scipy.special import softmax
from torch import nn

from gapstack.data import Corpus, Gender
from gapstack.encoding.activations import SpanActivations, span_activations
from gapstack.encoding.debias import null_space
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.errors import MemberError
from gapstack.features import BlockName, features
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.members.store import Arrays, below
from gapstack.settings import Count, Natural, Seed, ValidationFraction
from gapstack.training import (
    RowData,
    Schedule,
    Targets,
    TrainingPlan,
    predict,
    seeded,
    train,
    validation_rows,
)
from gapstack.training.plan import Plan
from gapstack.types import Floats32, Ints, Probabilities

Scaling = Literal["columns", "whole", "range"]
"""Every column by its mean and standard deviation, by one deviation for all columns, or from lowest 0 to highest 1."""
Depth = tuple[tuple[int, ...], int]
"""Layers, 1 the first, and the number of layers of the encoder that they are counted in."""

ON_MENTIONS = TrainingPlan(
    epochs=20,
    batch_size=64,
    head_lr=2e-3,
    schedule=Schedule(shape="linear", warmup=0.1),
    weight_decay=3.0,
    label_smoothing=0.05,
    precision="float32",
)
"""Default plan of heads over the embedded encoder's vectors."""
_SCALES = "scales/"
_CONSTANT = 1e-4  # deviation below which a column counts as constant


def chosen_layers(chosen: Sequence[int] | int | None, encoder: Encoder, default: Depth) -> tuple[int, ...]:
    """Return the layers ``chosen``; None for those as deep in ``encoder`` as ``default``, rounded and unique."""
    if chosen is None:
        layers, depth = default
        return tuple(dict.fromkeys(round(layer / depth * encoder.num_layers) for layer in layers))
    return (chosen,) if isinstance(chosen, int) else tuple(chosen)


def mean_vectors(activations: SpanActivations, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Mean vector of each mention's pieces, (n, 3, layers * hidden), summed and divided in ``dtype``."""
    counts = activations.counts.ravel()
    pieces = activations.vectors.reshape(len(activations.vectors), np.prod(activations.vectors.shape[1:]))
    if not len(counts):
        return np.empty((0, activations.counts.shape[1], pieces.shape[1]), dtype=dtype)
    sums = np.add.reduceat(pieces, counts.cumsum() - counts, axis=0, dtype=dtype)
    sums /= counts[:, None].astype(dtype)
    return sums.reshape(*activations.counts.shape, -1)


def scale_of(values: NDArray[Any], scaling: Scaling) -> tuple[NDArray[Any], NDArray[Any]]:
    """Shift and divisor (k,) that put values (..., k), NaN where missing, on a scale; NaN for columns of one value."""
    rows = values.reshape(int(np.prod(values.shape[:-1])), values.shape[-1])  # also without columns
    if scaling == "range":
        low, high = np.nanmin(rows, axis=0, initial=np.inf), np.nanmax(rows, axis=0, initial=-np.inf)
        return low, np.where(high > low, high - low, np.nan)
    known = np.where(np.isnan(rows).all(axis=0), np.float32(0), rows)
    mean = np.nanmean(known, axis=0)
    if scaling == "whole":
        spread = ((rows - mean) ** 2).mean(keepdims=True)[0] ** 0.5
        return mean, np.where(spread > 0, spread, np.float32(1))
    spread = np.nanstd(known, axis=0)
    # encoders have dead units, which stay constant
    return mean, np.where(spread > _CONSTANT, spread, np.float32(1))


def scales_of(arrays: Arrays, scaling: Mapping[str, Scaling]) -> dict[str, NDArray[Any]]:
    """Shift and divisor of each scaled input: ``mentions_shift``, ``mentions_by``, ..."""
    scales: dict[str, NDArray[Any]] = {}
    for name in scaling.keys() & arrays.keys():
        scales[f"{name}_shift"], scales[f"{name}_by"] = scale_of(arrays[name], scaling[name])
    return scales


def scaled(arrays: Arrays, scales: Arrays, scaling: Mapping[str, Scaling]) -> Arrays:
    """Put inputs on the scales of :func:`scales_of`; missing values (NaN) get the mean, or the middle of a range."""
    result = dict(arrays)
    for name in scaling.keys() & arrays.keys():
        values = (arrays[name] - scales[f"{name}_shift"]) / scales[f"{name}_by"]
        is_range = scaling[name] == "range"
        result[name] = np.nan_to_num(values.clip(0, 1), nan=0.5) if is_range else np.nan_to_num(values)
    return result


class EncoderMember(SoftLabelMember):
    """A member that reads a pre-trained encoder, by default in the layers :attr:`LAYERS`."""

    encoder: str | None = None
    """Name or folder of the encoder; the embedded MiniLM by default."""

    LAYERS: ClassVar[Depth] = ((2,), 3)

    def _encoder(self) -> Encoder:
        return load_encoder(self.encoder)

    def _mean_vectors(
        self,
        corpus: Corpus,
        chosen: Sequence[int] | int | None,
        max_pieces: int | None,
        dtype: DTypeLike = np.float32,
    ) -> NDArray[Any]:
        """Mean vectors of pronoun, A and B in the layers ``chosen``, (n, 3, layers * hidden)."""
        encoder = self._encoder()
        layers = chosen_layers(chosen, encoder, self.LAYERS)
        return mean_vectors(span_activations(corpus, encoder, layers, max_pieces=max_pieces), dtype)


class FrozenHead(SoftLabelMember):
    """Networks over arrays, one for each of several seeds, whose probabilities are averaged.

    A subclass defines :attr:`PLAN`, :meth:`_arrays` and :meth:`_head`; also :attr:`SCALING` to scale inputs by the
    training rows, and :meth:`_to_learn` to learn copies of rows.
    """

    training: Plan | None = None
    """Changes of :attr:`PLAN`, fields of :class:`~gapstack.training.TrainingPlan`."""
    seeds: Count = 1
    """Number of networks."""
    validation_share: ValidationFraction = 0.1
    """Share of the rows, whole pages, that early stopping (``patience``) holds back, other ones for each seed."""
    seed: Seed = 0
    """Seed of all that is random."""

    PLAN: ClassVar[TrainingPlan]
    SCALING: ClassVar[Mapping[str, Scaling]] = {}
    """How inputs are scaled by the training rows, by name; others stay as they are."""
    LEARNED = ("shapes",)

    def plan(self) -> TrainingPlan:
        """Return the plan of each network, with the changes of ``training``; MemberError if these do not fit."""
        return self.PLAN.changed(dict(self.training or {}))

    @abstractmethod
    def _arrays(self, corpus: Corpus) -> Arrays:
        """Inputs of a corpus, from a cache or computed."""

    @abstractmethod
    def _head(self, arrays: Arrays) -> nn.Module:
        """A freshly initialised network for arrays of these shapes, from arrays by name to logits (b, 3)."""

    def _scales(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        return scales_of(arrays, self.SCALING)

    def _scaled(self, arrays: Arrays, scales: Arrays) -> Arrays:
        """Put inputs on the scale of the training rows."""
        return scaled(arrays, scales, self.SCALING)

    def _to_learn(self, corpus: Corpus) -> tuple[Arrays, Ints]:
        """Inputs to learn from, and the row (m,) that each belongs to."""
        return self._arrays(corpus), np.arange(len(corpus))

    def _prepare(self, corpus: Corpus) -> None:
        self._arrays(corpus)

    def _learn(self, training_set: TrainingSet) -> None:
        arrays, rows = self._to_learn(training_set.corpus)
        self.scales_ = self._scales(arrays)
        networks: list[nn.Module] = []
        everything = self._data(arrays, training_set.weighted[rows])
        for number in range(self.seeds):
            seed = self.seed * 1000 + number
            plan = replace(self.plan(), seed=seed)
            learned, held = everything, None
            if plan.patience is not None:
                learned, held = self._split(training_set, seed)
            with seeded(seed):
                network = self._head(arrays)
            train(network, learned, plan, held)
            networks.append(network)
        self.shapes_ = {name: list(array.shape[1:]) for name, array in arrays.items()}
        scales = {f"{_SCALES}{name}": scale for name, scale in self.scales_.items()}
        self._use(scales | arrays_of(networks))

    def _split(self, training_set: TrainingSet, seed: int) -> tuple[RowData, RowData]:
        """Rows to learn from, and rows given with labels to stop by."""
        given = training_set.corpus.take(np.arange(training_set.gold))
        learn, stop = validation_rows(given, self.validation_share, seed)
        rest = training_set.take(np.concatenate([learn, np.arange(len(given), len(training_set))]))
        arrays, rows = self._to_learn(rest.corpus)
        held = given.take(stop)
        return self._data(arrays, rest.weighted[rows]), self._data(self._arrays(held), held.labels)

    def _data(self, arrays: Arrays, targets: Targets | None = None) -> RowData:
        return RowData(self._scaled(arrays, self.scales_), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self._answer(self._arrays(corpus))

    def _answer(self, arrays: Arrays) -> Probabilities:
        """Mean of the networks' probabilities for these inputs."""
        data = self._data(arrays)
        answers = [softmax(predict(network, data, precision="float32"), axis=1) for network in self.networks_]
        return np.mean(answers, axis=0)

    def _use(self, arrays: Arrays) -> None:
        super()._use(arrays)
        self.scales_ = below(_SCALES, arrays)
        empty = {name: np.empty((0, *shape)) for name, shape in self.shapes_.items()}
        with seeded(self.seed):
            self.networks_ = networks_from(arrays, [self._head(empty) for _ in range(self.seeds)])


def arrays_of(networks: Sequence[nn.Module]) -> dict[str, NDArray[Any]]:
    """Weights of several networks: ``0/weight``, ``1/weight``, ..."""
    return {
        f"{number}/{name}": tensor.cpu().numpy()
        for number, network in enumerate(networks)
        for name, tensor in network.state_dict().items()
    }


def networks_from(arrays: Arrays, networks: list[nn.Module]) -> list[nn.Module]:
    """Put the weights of :func:`arrays_of` into networks of the same shapes, for prediction."""
    for number, network in enumerate(networks):
        own = below(f"{number}/", arrays)
        network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in own.items()})
        network.eval()
    return networks


class MentionHead(EncoderMember, FrozenHead):
    """A :class:`FrozenHead` whose inputs are ``mentions`` and, with feature blocks, ``names`` and ``row``.

    ``mentions`` (n, 3, layers * hidden) are the mean vectors of pronoun, A and B, standardised by the training rows;
    ``names`` (n, 2, k) and ``row`` (n, m) features, scaled to [0, 1], 0.5 if missing. A subclass also defines
    ``LAYERS``, and declares :attr:`blocks` and :attr:`max_pieces` as settings if it reads them.
    """

    layers: Sequence[Natural] | None = None
    """Layers that are read, side by side; None for those at the depth of ``LAYERS``."""
    null_space: bool = False
    """Project vectors to where no linear classifier finds the pronoun's gender (Ravfogel et al. 2020)."""

    PLAN = ON_MENTIONS
    SCALING: ClassVar[Mapping[str, Scaling]] = {"mentions": "columns", "names": "range", "row": "range"}
    blocks: Sequence[BlockName] = field(default=(), init=False)
    """Hand-made features in addition to the vectors, by their names in :data:`gapstack.features.BLOCKS`."""
    max_pieces: Count | None = field(default=None, init=False)
    """Longest window in pieces; by default the encoder's limit."""

    def _mentions(self, corpus: Corpus) -> Floats32:
        """Mean vectors of pronoun, A and B, (n, 3, layers * hidden)."""
        return self._mean_vectors(corpus, self.layers, self.max_pieces)

    def _other_inputs(self, corpus: Corpus) -> Arrays:
        """Inputs other than ``mentions``: the features of :attr:`blocks`."""
        if not self.blocks:
            return {}
        found = features(corpus, self.blocks)
        return {"names": found.candidates, "row": found.shared}

    def _columns(self, arrays: Arrays) -> int:
        """Number of all features, those of both names and of the row."""
        return 2 * arrays["names"].shape[-1] + arrays["row"].shape[-1] if self.blocks else 0

    def _arrays(self, corpus: Corpus) -> Arrays:
        return {"mentions": self._mentions(corpus), **self._other_inputs(corpus)}

    def _learn(self, training_set: TrainingSet) -> None:
        if self.null_space:
            corpus = training_set.corpus
            self.projection_ = gender_null_space(self._mentions(corpus), corpus.genders, self.seed)
        super()._learn(training_set)

    def _scales(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        scales: dict[str, NDArray[Any]] = {"projection": self.projection_} if self.null_space else {}
        return scales | super()._scales(self._projected(arrays, scales))

    def _scaled(self, arrays: Arrays, scales: Arrays) -> Arrays:
        return super()._scaled(self._projected(arrays, scales), scales)

    def _projected(self, arrays: Arrays, scales: Arrays) -> Arrays:
        """The inputs, with ``null_space`` vectors that hide the gender."""
        if not self.null_space:
            return arrays
        hidden = np.einsum("nmi,mij->nmj", arrays["mentions"], scales["projection"], optimize=True)
        return {**arrays, "mentions": hidden}


def gender_null_space(mentions: Floats32, genders: NDArray[np.str_], seed: int) -> Floats32:
    """Projections (3, D, D) for pronoun, A and B that hide the pronoun's gender in vectors (n, 3, D).

    The names share one: a single classifier would leave what the two show in opposite directions. Raises MemberError if
    the rows do not have pronouns of both genders.
    """
    gendered = np.isin(genders, [Gender.FEMININE, Gender.MASCULINE])
    feminine = genders[gendered] == Gender.FEMININE
    if not 1 < feminine.sum() < len(feminine) - 1:
        raise MemberError("null_space needs training rows with feminine and with masculine pronouns")
    pronouns, names = mentions[gendered, 0], mentions[gendered, 1:].reshape(-1, mentions.shape[-1])
    own = null_space(pronouns, feminine, seed=seed).projection
    other = null_space(names, np.repeat(feminine, 2), seed=seed).projection
    return np.stack([own, other, other]).astype(np.float32)
