"""What a fine-tuning run shall do: frozen, checked when made, and as plain as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self

from gapstack.settings import (
    Count,
    NotAll,
    NotNegative,
    Positive,
    Seed,
    SettingError,
    Share,
    SomeShare,
    check,
    closest,
    shown,
)
from gapstack.signatures import settings_of


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How the learning rates move from the first update to the last, as a factor of their peak.

    Parameters
    ----------
    shape : str
        ``constant``; ``linear`` (straight down); ``cosine`` (half a cosine down); or ``triangular`` (straight up
        and down in each of ``cycles``, as in Smith 2017).
    warmup : float
        Share of the updates, from the first on, in which the factor climbs from 0 to 1 before the shape begins.
        Not with ``triangular``, which climbs by itself.
    floor : float
        Where the shape ends (``triangular``: where each cycle begins and ends).
    cycles : int
        Of ``triangular``.
    """

    shape: Literal["constant", "linear", "triangular", "cosine"] = "linear"
    warmup: NotAll = 0.0
    floor: Share = 0.0
    cycles: Count = 1

    def __post_init__(self) -> None:
        _check(self)
        if self.warmup and self.shape == "triangular":
            raise SettingError(
                f"found {shown(self.warmup)}, expected 0 where triangular", ("schedule", "warmup")
            )

    def factor(self, update: int, total: int) -> float:
        """Give the factor for update ``update``, counted from 0, of ``total``."""
        # the middle of the update: no update runs at a rate of exactly 0
        done = (update + 0.5) / total
        if done < self.warmup:
            return done / self.warmup
        done = (done - self.warmup) / (1 - self.warmup)
        height = {
            "constant": 1.0,
            "linear": 1 - done,
            "cosine": (1 + math.cos(math.pi * done)) / 2,
            "triangular": 1 - abs(2 * (done * self.cycles % 1) - 1),
        }[self.shape]
        return self.floor + (1 - self.floor) * height


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """One phase of fine-tuning; a sequence of plans is carried out one after the other.

    Parameters
    ----------
    epochs : int
        Passes over the training rows, at most.
    batch_size : int
        Examples in an update. How many of them go through the model at once is ``token_budget``'s affair and
        does not change the result.
    encoder_rate, head_rate : float
        Peak learning rates of the encoder's last layer and of the rest of the model.
    layer_decay : float
        Each layer below learns at this multiple of the rate of the one above (Howard and Ruder 2018, section
        3.2); 1 for equal rates.
    frozen : tuple of int and str
        What does not learn: numbers are layers of the encoder (0 its embeddings, 1 its first layer), strings
        begin the dotted names of parameters (``"encoder"``, ``"head"``). An encoder of which nothing learns
        runs without dropout, as its cached activations would.
    schedule : Schedule
        Moves all learning rates alike.
    weight_decay, beta1, beta2, epsilon : float
        Of AdamW; biases and norms (parameters of one dimension) do not decay.
    label_smoothing : float
        Share of each target spread evenly over the classes; validation losses are without it.
    max_norm : float or None
        Longest gradient; a longer one is shortened to it. None: any.
    patience : int or None
        Stop after so many evaluations in a row without a better validation loss, and go back to the best
        weights. None: carry on to the end and keep the last weights.
    evaluate_every : int or None
        Updates between evaluations. None: one at the end of each epoch.
    token_budget : int or None
        Most pieces, padding included, that go through the model at once: a bound on memory. None: what suits
        the device.
    attention_dropout : bool
        Whether the encoder drops attention probabilities with the rate of its configuration. Off, because on a
        CPU the random numbers for it (one for each pair of pieces, head and layer) cost a fifth of the speed;
        see :mod:`gapstack.training.devices`. Other dropout is untouched.
    precision : str
        ``bf16``: the encoder computes in bfloat16, while sums of gradients, updates and the head stay in
        float32. ``auto``: that, where the device has instructions for it. ``float32``.
    seed : int
        Of the order of examples and of dropout.

    Raises
    ------
    MemberError
        If a value is out of range.
    """

    epochs: Count = 3
    batch_size: Count = 32
    encoder_rate: NotNegative = 2e-5
    head_rate: NotNegative = 2e-4
    layer_decay: SomeShare = 1.0
    frozen: tuple[int | str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    weight_decay: NotNegative = 0.01
    beta1: NotAll = 0.9
    beta2: NotAll = 0.999
    epsilon: Positive = 1e-6
    label_smoothing: NotAll = 0.0
    max_norm: Positive | None = 1.0
    patience: Count | None = None
    evaluate_every: Count | None = None
    token_budget: Count | None = None
    attention_dropout: bool = False
    precision: Literal["auto", "bf16", "float32"] = "auto"
    seed: Seed = 0

    def __post_init__(self) -> None:
        _check(self)

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as values that JSON can hold."""
        return asdict(self) | {"frozen": list(self.frozen)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of :meth:`as_dict`; what is left out has its default."""
        return cls().changed(values)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """Give this plan with some fields changed; ``schedule`` may be given as a mapping, ``frozen`` as a list.

        Raises
        ------
        MemberError
            If there is no such field or a value is out of range.
        """
        changes = _known(type(self), values)
        if isinstance(changes.get("schedule"), Mapping):
            changes["schedule"] = replace(self.schedule, **_known(Schedule, changes["schedule"]))
        if isinstance(changes.get("frozen"), list):
            changes["frozen"] = tuple(changes["frozen"])
        return replace(self, **changes)


def _known(kind: type[Schedule] | type[TrainingPlan], values: Mapping[str, Any]) -> dict[str, Any]:
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
