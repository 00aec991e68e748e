"""Settings of fine-tuning: frozen, validated, and convertible to JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, Self

from gapstack.settings import (
    Count,
    FieldsOf,
    Fraction,
    FractionBelowOne,
    NonNegative,
    Positive,
    PositiveFraction,
    Seed,
    SettingError,
    check_settings,
)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Learning-rate schedule, as a factor of the peak rate."""

    shape: Literal["constant", "linear", "triangular", "cosine", "inverse"] = "linear"
    """``linear`` decay, ``cosine`` (decay by half a cosine), ``triangular`` (linear up and down in each of ``cycles``,
    up for the share ``rise``; Smith 2017), or ``inverse`` (1 / (1 + ``decay`` * update), as Keras' ``decay``)."""
    warmup: FractionBelowOne = 0.0
    """Share of the updates over which the factor first rises linearly from 0 to 1. Not with ``triangular``."""
    floor: Fraction = 0.0
    """Factor at the end (``triangular``: at both ends of each cycle)."""
    cycles: Positive = 1
    rise: Fraction = 0.5
    decay: NonNegative = 0.0
    offset: Fraction = 0.5
    """Point within each update at which the factor is read; at 0.5 no update has a learning rate of exactly 0."""

    def __post_init__(self) -> None:
        check_settings(Schedule, vars(self))
        if self.warmup and self.shape == "triangular":
            raise SettingError("not available for shape triangular; set rise instead", ("schedule", "warmup"))

    def factor(self, update: int, total: int) -> float:
        """Factor for update ``update``, from 0, of ``total``."""
        progress = (update + self.offset) / total
        if progress < self.warmup:
            return progress / self.warmup
        progress = (progress - self.warmup) / (1 - self.warmup)
        height = {
            "constant": 1.0,
            "linear": 1 - progress,
            "cosine": (1 + math.cos(math.pi * progress)) / 2,
            "inverse": 1 / (1 + self.decay * update),
            "triangular": self._triangle(progress * self.cycles % 1),
        }[self.shape]
        return self.floor + (1 - self.floor) * height

    def _triangle(self, place: float) -> float:
        return place / self.rise if place < self.rise else (1 - place) / (1 - self.rise)


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """One phase of fine-tuning; MemberError if a value is out of range."""

    epochs: Count = 3
    """Maximum number of passes over the training rows."""
    batch_size: Count = 32
    """Examples in an update, in one or more forward passes (``token_budget``)."""
    encoder_lr: NonNegative = 2e-5
    """Peak learning rate of the encoder's last layer."""
    head_lr: NonNegative = 2e-4
    """Peak learning rate of the rest of the model."""
    layer_decay: PositiveFraction = 1.0
    """Ratio of each layer's learning rate to that of the layer above (Howard and Ruder 2018, section 3.2)."""
    frozen: Sequence[int | str] = ()
    """Frozen parts: layers of the encoder by number (0 the embeddings, 1 the first layer), or prefixes of dotted
    parameter names (``"encoder"``, ``"head"``). A fully frozen encoder runs without dropout."""
    schedule: Schedule = field(default_factory=Schedule)
    """Applies to all learning rates."""
    weight_decay: NonNegative = 0.01
    decay_vectors: bool = False
    """Also decay biases and norms (parameters of at most one dimension)."""
    beta1: FractionBelowOne = 0.9
    beta2: FractionBelowOne = 0.999
    epsilon: Positive = 1e-6
    """``weight_decay``, ``beta1``, ``beta2`` and ``epsilon`` are AdamW's."""
    label_smoothing: FractionBelowOne = 0.0
    """Share of each target spread evenly over the classes; not used in validation losses."""
    max_norm: Positive | None = 1.0
    """Gradient-norm clip; None for no clipping."""
    patience: Count | None = None
    """Early stopping after this many evaluations without a better validation loss; restores the best weights."""
    evaluate_every: Count | None = None
    """Updates between evaluations; None to evaluate after each epoch."""
    token_budget: Count | None = None
    """Maximum number of pieces, padding included, in one forward pass; None for a default for the device. Halved if a
    GPU's memory runs out."""
    checkpointing: bool = False
    """Recompute the encoder's activations in the backward pass (Chen et al. 2016): less memory, the same result."""
    compiled: bool = False
    """Compile the encoder's passes (``torch.compile``), on a GPU as CUDA graphs, for texts padded to multiples of 64
    pieces. Only batches that are one pass are compiled. The result is the same but for rounding and dropout."""
    attention_dropout: bool = False
    """Apply the configuration's dropout to attention probabilities, which is slow on a CPU."""
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2"] = "auto"
    """The encoder's attention in transformers. ``auto``: eager on a CPU, the family's default on a GPU.
    ``flash_attention_2`` needs its package and leaves padding out."""
    precision: Literal["auto", "bf16", "fp16", "tf32", "float32"] = "auto"
    """``bf16``, ``fp16``: the encoder computes in bfloat16, or in float16 with a scaled loss (for GPUs without
    bfloat16); gradient sums, updates and the head in float32. ``tf32``: all in float32, but a GPU rounds the factors of
    matrix products to 10 bits. ``auto``: bf16 where the hardware supports it."""
    order: Literal["by_length", "shuffled", "as_given"] = "by_length"
    """Order of rows in an epoch; ``by_length`` makes random batches of similar length."""
    dropout_rng: Literal["by_update", "running"] = "by_update"
    """Source of dropout: ``by_update``, seeded by ``seed`` and the update's number, or the ``running`` generator."""
    seed: Seed = 0
    """Seed of the order of examples and of dropout."""

    def __post_init__(self) -> None:
        check_settings(TrainingPlan, vars(self))

    @property
    def draws_on_running_rng(self) -> bool:
        """True if dropout draws from the caller's generator."""
        return self.dropout_rng == "running"

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return asdict(self) | {"frozen": list(self.frozen)}

    def changed(self, values: Mapping[str, Any]) -> Self:
        """Return this plan with some fields changed; ``schedule`` may be a mapping, ``frozen`` a list."""
        check_settings(type(self), values)
        changes = dict(values)
        if isinstance(changes.get("schedule"), Mapping):
            changes["schedule"] = replace(self.schedule, **changes["schedule"])
        if "frozen" in changes:
            changes["frozen"] = tuple(changes["frozen"])
        return replace(self, **changes)


Plan = Annotated[Mapping[str, Any], FieldsOf(TrainingPlan, without=("seed",))]
"""Some fields of a plan, as a mapping; the seed is the member's."""

CONSTANT_RATE: dict[str, Any] = {"label_smoothing": 0.0, "schedule": {"shape": "constant", "warmup": 0.0}}
"""Settings of a plan: a constant rate without label smoothing."""
PLAIN = TrainingPlan(
    epsilon=1e-8,
    decay_vectors=True,
    schedule=Schedule(shape="constant"),
    max_norm=None,
    precision="float32",
    order="shuffled",
    dropout_rng="running",
)
"""A plain loop: torch's AdamW, shuffled batches, and dropout from the running generator."""

_SIZES: tuple[tuple[float, dict[str, Any]], ...] = (
    (60e6, {}),
    (200e6, {"encoder_lr": 3e-5, "head_lr": 3e-4, "layer_decay": 0.9}),
    (1e9, {"encoder_lr": 1e-5, "head_lr": 1e-4, "layer_decay": 0.9}),
    (math.inf, {"encoder_lr": 1e-4, "head_lr": 1e-4}),
)
"""Number of parameters up to which an encoder is small, base, large or, with adapters, huge; and changes of a plan.

The members' own plans suit small encoders. Rates are within those of Devlin et al. 2019 (A.3) for base, of the authors
of ELECTRA, DeBERTa and ModernBERT for large (with layer-wise decay, Clark et al. 2020, A.2), and of Hu et al. 2022 for
adapters.
"""
HUGE = len(_SIZES) - 1
LORA_RANK = 16  # rank of the adapters of huge encoders


def size_class(parameters: int) -> int:
    """0 for a small encoder (22 million parameters), 1 base (110), 2 large (435), 3 above a billion."""
    return next(number for number, (most, _) in enumerate(_SIZES) if parameters <= most)


def adapter_rank(parameters: int, lora: int | None) -> int:
    """Rank of the adapters of an encoder of this size, 0 for none; ``lora`` is the member's setting, None for auto."""
    return (LORA_RANK if size_class(parameters) == HUGE else 0) if lora is None else lora


def for_size(plan: TrainingPlan, parameters: int, lora: int | None = None) -> TrainingPlan:
    """Adapt a plan for small encoders to an encoder of this size: lower rates, layer-wise decay, a warm-up."""
    size = HUGE if adapter_rank(parameters, lora) else min(size_class(parameters), HUGE - 1)
    changes = _SIZES[size][1]
    if not changes:
        return plan
    lower = {key: min(getattr(plan, key), value) for key, value in changes.items()}
    schedule = plan.schedule
    if schedule.shape != "triangular":  # begins with a warm-up of its own
        schedule = replace(schedule, warmup=max(schedule.warmup, 0.1))
    return replace(plan, **lower, schedule=schedule)
