"""Members over a frozen encoder: the encoder's vectors, small networks over arrays, and heads over mention vectors."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from scipy.special import softmax
from torch import nn

from gapstack.data import Corpus, Gender
from gapstack.encoding.activations import SpanActivations, span_activations
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.null_space import null_space
from gapstack.errors import MemberError
from gapstack.features import features
from gapstack.members.learned_state import Arrays, State, below
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.settings import Count, Seed, ValidationFraction
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
from gapstack.types import Floats32, Ints, Probabilities, Strings

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


def mention_vectors(
    corpus: Corpus,
    encoder: str | None,
    layers: Sequence[int] | int | None,
    default: Depth,
    max_pieces: int | None = None,
    dtype: DTypeLike = np.float32,
) -> NDArray[Any]:
    """Mean vectors of pronoun, A and B in :func:`chosen_layers` of an encoder, (n, 3, layers * hidden)."""
    loaded = load_encoder(encoder)
    chosen = chosen_layers(layers, loaded, default)
    return mean_vectors(span_activations(corpus, loaded, chosen, max_pieces=max_pieces), dtype)


def feature_inputs(corpus: Corpus, blocks: Sequence[str]) -> Arrays:
    """Feature blocks as inputs ``names`` (n, 2, k) and ``row`` (n, m); nothing without a block."""
    if not blocks:
        return {}
    table = features(corpus, blocks)
    return {"names": table.candidates, "row": table.shared}


def feature_columns(arrays: Arrays) -> int:
    """Number of all features among the inputs, those of both names and of the row."""
    return 2 * arrays["names"].shape[-1] + arrays["row"].shape[-1] if "row" in arrays else 0


MENTION_SCALING: Mapping[str, Scaling] = {"mentions": "columns", "names": "range", "row": "range"}
"""Vectors are standardised; features are scaled to [0, 1], 0.5 if missing."""


@dataclass(frozen=True)
class HeadInputs:
    """Where the inputs of a :class:`FrozenHead` come from, and how the training rows scale them."""

    read: Callable[[Corpus], Arrays]
    """Inputs of a corpus by name, from a cache or computed."""
    scaling: Mapping[str, Scaling] = field(default_factory=dict)
    """How inputs are scaled by the training rows, by name; others stay as they are."""
    read_for_training: Callable[[Corpus], tuple[Arrays, Ints]] | None = None
    """Inputs to learn from, and the row (m,) that each belongs to; by default what ``read`` returns."""
    null_space: bool = False
    """Project ``mentions`` to where no linear classifier finds the pronoun's gender (Ravfogel et al. 2020)."""

    def to_learn(self, corpus: Corpus) -> tuple[Arrays, Ints]:
        """Inputs to learn from, and the row (m,) that each belongs to."""
        if self.read_for_training is not None:
            return self.read_for_training(corpus)
        return self.read(corpus), np.arange(len(corpus))

    def scales(self, arrays: Arrays, genders: Strings, seed: int) -> dict[str, NDArray[Any]]:
        """Learn the projection and the scales from the training rows' inputs and their pronouns' genders (m,)."""
        scales: dict[str, NDArray[Any]] = {}
        if self.null_space:
            scales["projection"] = gender_null_space(arrays["mentions"], genders, seed)
        return scales | scales_of(self._projected(arrays, scales), self.scaling)

    def scaled(self, arrays: Arrays, scales: Arrays) -> Arrays:
        """Project inputs, and put them on the scale of the training rows."""
        return scaled(self._projected(arrays, scales), scales, self.scaling)

    def _projected(self, arrays: Arrays, scales: Arrays) -> Arrays:
        if not self.null_space:
            return arrays
        hidden = np.einsum("nmi,mij->nmj", arrays["mentions"], scales["projection"], optimize=True)
        return {**arrays, "mentions": hidden}


class FrozenHead(SoftLabelMember):
    """Networks over arrays, one for each of several seeds, whose probabilities are averaged.

    A subclass defines :attr:`PLAN`, :meth:`_inputs` and :meth:`_build_head`.
    """

    training: Plan | None = None
    """Changes of :attr:`PLAN`, fields of :class:`~gapstack.training.TrainingPlan`."""
    seeds: Count = 1
    """Number of networks."""
    validation_share: ValidationFraction = 0.1
    """Share of the rows, whole pages, that early stopping (``patience``) holds back, other ones for each seed."""
    seed: Seed = 0
    """Seed of all that is random."""

    PLAN: ClassVar[TrainingPlan] = ON_MENTIONS
    LEARNED = ("shapes",)

    def plan(self) -> TrainingPlan:
        """Return the plan of each network, with the changes of ``training``; MemberError if these do not fit."""
        return self.PLAN.changed(dict(self.training or {}))

    @abstractmethod
    def _inputs(self) -> HeadInputs:
        """Called whenever rows are prepared, learned or predicted: where the heads' inputs come from."""

    @abstractmethod
    def _build_head(self, arrays: Arrays) -> nn.Module:
        """Called by ``fit`` and ``restore`` for each seed: a new network for arrays of these shapes.

        It maps arrays by name to logits (b, 3).
        """

    def _prepare(self, corpus: Corpus) -> None:
        self._inputs().read(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        inputs, corpus = self._inputs(), training_set.corpus
        arrays, rows = inputs.to_learn(corpus)
        self.scales_ = inputs.scales(arrays, corpus.genders[rows], self.seed)
        networks: list[nn.Module] = []
        everything = self._data(arrays, training_set.weighted[rows])
        for number in range(self.seeds):
            seed = self.seed * 1000 + number
            plan = replace(self.plan(), seed=seed)
            learned, held = everything, None
            if plan.patience is not None:
                learned, held = self._split(training_set, seed)
            with seeded(seed):
                network = self._build_head(arrays)
            train(network, learned, plan, held)
            networks.append(network)
        self.shapes_ = {name: list(array.shape[1:]) for name, array in arrays.items()}
        scales = {f"{_SCALES}{name}": scale for name, scale in self.scales_.items()}
        self.arrays_ = scales | arrays_of(networks)
        self._load_networks()

    def _split(self, training_set: TrainingSet, seed: int) -> tuple[RowData, RowData]:
        """Rows to learn from, and rows given with labels to stop by."""
        inputs = self._inputs()
        given = training_set.corpus.take(np.arange(training_set.gold))
        learn, stop = validation_rows(given, self.validation_share, seed)
        rest = training_set.take(np.concatenate([learn, np.arange(len(given), len(training_set))]))
        arrays, rows = inputs.to_learn(rest.corpus)
        held = given.take(stop)
        return self._data(arrays, rest.weighted[rows]), self._data(inputs.read(held), held.labels)

    def _data(self, arrays: Arrays, targets: Targets | None = None) -> RowData:
        return RowData(self._inputs().scaled(arrays, self.scales_), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self._mean_of_networks(self._inputs().read(corpus))

    def _mean_of_networks(self, arrays: Arrays) -> Probabilities:
        """Mean of the networks' probabilities for these inputs."""
        data = self._data(arrays)
        each = [softmax(predict(network, data, precision="float32"), axis=1) for network in self.networks_]
        return np.mean(each, axis=0)

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._load_networks()

    def _load_networks(self) -> None:
        self.scales_ = below(_SCALES, self.arrays_)
        empty = {name: np.empty((0, *shape)) for name, shape in self.shapes_.items()}
        with seeded(self.seed):
            self.networks_ = networks_from(self.arrays_, [self._build_head(empty) for _ in range(self.seeds)])


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
        weights = below(f"{number}/", arrays)
        network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
        network.eval()
    return networks


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
    of_pronoun = null_space(pronouns, feminine, seed=seed).projection
    of_names = null_space(names, np.repeat(feminine, 2), seed=seed).projection
    return np.stack([of_pronoun, of_names, of_names]).astype(np.float32)
