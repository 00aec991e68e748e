"""Settings of fine-tuning: frozen, validated, and convertible to JSON."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from gapstack.errors import MemberError

SHAPES = ("constant", "linear", "triangular", "cosine")
PRECISIONS = ("auto", "bf16", "float32")
OLD_NAMES = {"encoder_rate": "encoder_lr", "head_rate": "head_lr"}
"""Former names of fields, accepted in recipes and stored plans until the next version."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Learning-rate schedule, as a factor of the peak rate.

    Parameters
    ----------
    shape : str
        ``constant``; ``linear`` decay; ``cosine`` (decay by half a cosine); or ``triangular`` (linear up and down
        in each of ``cycles``, as in Smith 2017).
    warmup : float
        Share of the updates over which the factor first rises linearly from 0 to 1. Not with ``triangular``.
    floor : float
        Factor at the end (``triangular``: at both ends of each cycle).
    cycles : int
        Number of cycles of ``triangular``.
    """

    shape: str = "linear"
    warmup: float = 0.0
    floor: float = 0.0
    cycles: int = 1

    def __post_init__(self) -> None:
        _check(self.shape in SHAPES, "shape", self.shape, f"one of {', '.join(SHAPES)}")
        _check(0 <= self.warmup < 1, "warmup", self.warmup, "a share of the updates, from 0 to below 1")
        _check(not (self.warmup and self.shape == "triangular"), "warmup", self.warmup, "0 where triangular")
        _check(0 <= self.floor <= 1, "floor", self.floor, "a factor from 0 to 1")
        _check(self.cycles >= 1, "cycles", self.cycles, "at least 1")

    def factor(self, update: int, total: int) -> float:
        """Give the factor for update ``update``, from 0, of ``total``."""
        # the middle of the update, so that no update has a learning rate of exactly 0
        progress = (update + 0.5) / total
        if progress < self.warmup:
            return progress / self.warmup
        progress = (progress - self.warmup) / (1 - self.warmup)
        height = {
            "constant": 1.0,
            "linear": 1 - progress,
            "cosine": (1 + math.cos(math.pi * progress)) / 2,
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
        Of AdamW; biases and norms (parameters of one dimension) do not decay.
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
        the device.
    attention_dropout : bool
        Whether the encoder applies its configuration's dropout to attention probabilities. Off by default: on a
        CPU its random numbers (one for each pair of pieces, head and layer) cost a fifth of the speed. Other
        dropout always applies.
    precision : str
        ``bf16``: the encoder computes in bfloat16; gradient sums, updates and the head in float32. ``auto``: bf16
        where the hardware supports it. ``float32``.
    seed : int
        Of the order of examples and of dropout.

    Raises
    ------
    MemberError
        If a value is out of range.
    """

    epochs: int = 3
    batch_size: int = 32
    encoder_lr: float = 2e-5
    head_lr: float = 2e-4
    layer_decay: float = 1.0
    frozen: tuple[int | str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    label_smoothing: float = 0.0
    max_norm: float | None = 1.0
    patience: int | None = None
    evaluate_every: int | None = None
    token_budget: int | None = None
    attention_dropout: bool = False
    precision: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience", "evaluate_every", "token_budget"):
            value = getattr(self, name)
            optional = name not in {"epochs", "batch_size"}
            _check(
                (optional and value is None) or (isinstance(value, int) and value >= 1),
                name,
                value,
                "a whole number from 1" + (" or None" if optional else ""),
            )
        for name in ("encoder_lr", "head_lr", "weight_decay"):
            _check(0 <= getattr(self, name) < math.inf, name, getattr(self, name), "a number from 0")
        for name in ("beta1", "beta2", "label_smoothing"):
            _check(0 <= getattr(self, name) < 1, name, getattr(self, name), "a number from 0 to below 1")
        _check(0 < self.layer_decay <= 1, "layer_decay", self.layer_decay, "a factor above 0, at most 1")
        _check(self.epsilon > 0, "epsilon", self.epsilon, "a number above 0")
        _check(self.max_norm is None or self.max_norm > 0, "max_norm", self.max_norm, "above 0, or None")
        _check(self.precision in PRECISIONS, "precision", self.precision, f"one of {', '.join(PRECISIONS)}")
        _check(
            isinstance(self.frozen, tuple) and all(type(part) in {int, str} for part in self.frozen),
            "frozen",
            self.frozen,
            "layer numbers and beginnings of parameter names",
        )
        _check(isinstance(self.schedule, Schedule), "schedule", self.schedule, "a Schedule")

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as JSON values."""
        return asdict(self) | {"frozen": list(self.frozen)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of :meth:`as_dict`; missing fields have their defaults."""
        return cls().changed(values)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """Give this plan with some fields changed; ``schedule`` may be a mapping, ``frozen`` a list.

        Former names of fields (:data:`OLD_NAMES`) work with a warning.

        Raises
        ------
        MemberError
            If there is no such field or a value is out of range.
        """
        changes = _fields(type(self), _renamed(values))
        if isinstance(changes.get("schedule"), Mapping):
            changes["schedule"] = replace(self.schedule, **_fields(Schedule, changes["schedule"]))
        if isinstance(changes.get("frozen"), list):
            changes["frozen"] = tuple(changes["frozen"])
        return replace(self, **changes)


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    changes = dict(values)
    for old in sorted(OLD_NAMES.keys() & changes.keys()):
        new = OLD_NAMES[old]
        if new in changes:
            raise MemberError(f"training plan: {old} and {new} are the same setting; keep {new}")
        warnings.warn(f"training plan: {old} is now {new}; rename it", FutureWarning, stacklevel=3)
        changes[new] = changes.pop(old)
    return changes


def _fields(kind: type[Schedule] | type[TrainingPlan], values: Mapping[str, Any]) -> dict[str, Any]:
    names = [field.name for field in fields(kind)]
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise MemberError(f"{kind.__name__} has no {', '.join(unknown)}; it has: {', '.join(names)}")
    return dict(values)


def _check(holds: bool, name: str, value: object, expected: str) -> None:
    if not holds:
        raise MemberError(f"training plan: {name} is {value!r}; expected {expected}")
