"""Settings of fine-tuning: frozen, validated, and convertible to JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self

from gapstack.kinds import Count, NotAll, NotNegative, Positive, Seed, Share, SomeShare
from gapstack.settings import SettingError, check, closest, shown, with_current_names
from gapstack.signatures import settings_of


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Learning-rate schedule, as a factor of the peak rate.

    Parameters
    ----------
    shape : str
        ``constant``; ``linear`` decay; ``cosine`` (decay by half a cosine); ``triangular`` (linear up and down
        in each of ``cycles``, as in Smith 2017); or ``inverse`` (1 / (1 + ``decay`` * update), as Keras' ``decay``).
    warmup : float
        Share of the updates over which the factor first rises linearly from 0 to 1. Not with ``triangular``.
    floor : float
        Factor at the end (``triangular``: at both ends of each cycle).
    cycles : int
        Number of cycles of ``triangular``.
    decay : float
        Of ``inverse``, for each update.
    offset : float
        Where within each update the factor is read: halfway no update has a learning rate of exactly 0.
    """

    shape: Literal["constant", "linear", "triangular", "cosine", "inverse"] = "linear"
    warmup: NotAll = 0.0
    floor: Share = 0.0
    cycles: Count = 1
    decay: NotNegative = 0.0
    offset: Share = 0.5

    def __post_init__(self) -> None:
        _check(self)
        if self.warmup and self.shape == "triangular":
            raise SettingError(
                f"found {shown(self.warmup)}, expected 0 where triangular", ("schedule", "warmup")
            )

    def factor(self, update: int, total: int) -> float:
        """Give the factor for update ``update``, from 0, of ``total``."""
        progress = (update + self.offset) / total
        if progress < self.warmup:
            return progress / self.warmup
        progress = (progress - self.warmup) / (1 - self.warmup)
        height = {
            "constant": 1.0,
            "linear": 1 - progress,
            "cosine": (1 + math.cos(math.pi * progress)) / 2,
            "inverse": 1 / (1 + self.decay * update),
            "triangular": 1 - abs(2 * (progress * self.cycles % 1) - 1),
        }[self.shape]
        return self.floor + (1 - self.floor) * height


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """One phase of fine-tuning.

    Parameters
    ----------
    epochs : int
        Maximum number of passes over the training rows.
    batch_size : int
        Examples in an update. They may need several forward passes (``token_budget``), with the same result.
    encoder_lr, head_lr : float
        Peak learning rates of the encoder's last layer and of the rest of the model.
    layer_decay : float
        Ratio of each layer's learning rate to that of the layer above (Howard and Ruder 2018, section 3.2).
    frozen : tuple of int and str
        Frozen parts: numbers are layers of the encoder (0 the embeddings, 1 the first layer), strings are prefixes
        of dotted parameter names (``"encoder"``, ``"head"``). A fully frozen encoder runs without dropout.
    schedule : Schedule
        Applies to all learning rates.
    weight_decay, beta1, beta2, epsilon : float
        Of AdamW.
    decay_vectors : bool
        Whether biases and norms (parameters of at most one dimension) decay too.
    label_smoothing : float
        Share of each target spread evenly over the classes; not used in validation losses.
    max_norm : float or None
        Gradient-norm clip. None: no clipping.
    patience : int or None
        Early stopping: stop after so many evaluations in a row without a better validation loss, and restore the
        best weights. None: train to the end.
    evaluate_every : int or None
        Updates between evaluations. None: evaluate after each epoch.
    token_budget : int or None
        Maximum number of pieces, padding included, in one forward pass: a bound on memory. None: a default for
        the device. On a GPU whose memory runs out it is halved, and the update is made again.
    checkpointing : bool
        Keep the encoder's activations between layers alone and compute the others again in the backward pass (Chen et
        al. 2016): memory of one layer instead of all, for a third more work. The result is the same.
    attention_dropout : bool
        Whether the encoder applies its configuration's dropout to attention probabilities. Off by default: on a
        CPU its random numbers (one for each pair of pieces, head and layer) cost a fifth of the speed. Other
        dropout always applies.
    precision : str
        ``bf16``: the encoder computes in bfloat16; gradient sums, updates and the head in float32. ``auto``: bf16
        where the hardware supports it. ``float32``.
    order : str
        Of rows in an epoch. ``by_length``: at random, those of a batch of similar length; ``shuffled``; ``as_given``.
    dropout_rng : str
        Dropout is drawn ``by_update``, from ``seed`` and the update's number, or from the caller's ``running``
        generator, whose state checkpoints store.
    seed : int
        Of the order of examples and of dropout.

    Raises
    ------
    MemberError
        If a value is out of range.
    """

    epochs: Count = 3
    batch_size: Count = 32
    encoder_lr: NotNegative = 2e-5
    head_lr: NotNegative = 2e-4
    layer_decay: SomeShare = 1.0
    frozen: tuple[int | str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    weight_decay: NotNegative = 0.01
    decay_vectors: bool = False
    beta1: NotAll = 0.9
    beta2: NotAll = 0.999
    epsilon: Positive = 1e-6
    label_smoothing: NotAll = 0.0
    max_norm: Positive | None = 1.0
    patience: Count | None = None
    evaluate_every: Count | None = None
    token_budget: Count | None = None
    checkpointing: bool = False
    attention_dropout: bool = False
    precision: Literal["auto", "bf16", "float32"] = "auto"
    order: Literal["by_length", "shuffled", "as_given"] = "by_length"
    dropout_rng: Literal["by_update", "running"] = "by_update"
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check(self)

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as JSON values."""
        return asdict(self) | {"frozen": list(self.frozen)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of :meth:`as_dict`; missing fields have their defaults."""
        return cls().changed(values)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """Give this plan with some fields changed; ``schedule`` may be a mapping, ``frozen`` a list.

        Former names of fields (:data:`gapstack.settings.FORMER_NAMES`) work with a warning.

        Raises
        ------
        MemberError
            If there is no such field or a value is out of range.
        """
        current = with_current_names(values, type(self).__dataclass_fields__, "training plan")
        changes = _fields(type(self), current)
        if isinstance(changes.get("schedule"), Mapping):
            changes["schedule"] = replace(self.schedule, **_fields(Schedule, changes["schedule"]))
        if isinstance(changes.get("frozen"), list):
            changes["frozen"] = tuple(changes["frozen"])
        return replace(self, **changes)


def _fields(kind: type[Schedule] | type[TrainingPlan], values: Mapping[str, Any]) -> dict[str, Any]:
    names = [field.name for field in fields(kind)]
    for name in values:
        if name not in names:
            raise SettingError(f"no such setting; {closest(name, names)}", (kind.__name__, name))
    return dict(values)


def _check(plan: Schedule | TrainingPlan) -> None:
    """Check every field against its annotation."""
    kinds = settings_of(f"{__name__}:{type(plan).__name__}")
    for name, setting in kinds.items():
        check(getattr(plan, name), setting.kind, ("training plan", name))


PLAIN = TrainingPlan(
    epsilon=1e-8,
    decay_vectors=True,
    schedule=Schedule(shape="constant"),
    max_norm=None,
    precision="float32",
    order="shuffled",
    dropout_rng="running",
)
"""A plain loop: AdamW as torch has it, and batches and dropout drawn one after the other."""
