"""Freezing, and learning rates by layer."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from torch import nn

from gapstack.errors import MemberError
from gapstack.training.plan import TrainingPlan

ENCODER = "encoder"
"""Attribute of a model that holds its pre-trained part."""
# Layers in transformers' model families: encoder.layer.3 (BERT), transformer.layer.3 (DistilBERT), layers.3
# (ModernBERT), h.3 (GPT-2), block.3 (T5)
_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")


def layers(model: nn.Module) -> dict[str, int]:
    """Map the name of each encoder parameter to its layer.

    0 is for embeddings and whatever else precedes the stack, 1 for its first layer; parameters after the stack
    (final norms, poolers) belong to the last layer.
    """
    names = [name for name, _ in model.named_parameters() if name.startswith(f"{ENCODER}.")]
    matches = [_LAYER.search(name) for name in names]
    stacked = [index for index, match in enumerate(matches) if match]
    if not stacked:
        return dict.fromkeys(names, 0)
    last = max(int(match[1]) for match in matches if match) + 1
    return {
        name: int(match[1]) + 1 if match else 0 if "embed" in name or index < stacked[0] else last
        for index, (name, match) in enumerate(zip(names, matches, strict=True))
    }


def freeze(model: nn.Module, frozen: tuple[int | str, ...]) -> None:
    """Freeze the parts that ``frozen`` names (see :class:`TrainingPlan`) and unfreeze all others.

    Raises
    ------
    MemberError
        If a part of ``frozen`` matches no parameter, or all parameters would be frozen.
    """
    layer = layers(model)
    frozen_names: set[str] = set()
    for part in frozen:
        if isinstance(part, int):
            matches = {name for name, number in layer.items() if number == part}
        else:
            matches = {name for name, _ in model.named_parameters() if f"{name}.".startswith(f"{part}.")}
        if not matches:
            tops = ", ".join(dict.fromkeys(name.split(".")[0] for name, _ in model.named_parameters()))
            raise MemberError(
                f"training plan: frozen names {part!r}, but the model has no such parameters; it has {tops} "
                f"and layers 0 to {max(layer.values(), default=0)}"
            )
        frozen_names |= matches
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in frozen_names)
    if all(name in frozen_names for name, _ in model.named_parameters()):
        raise MemberError(f"training plan: frozen names {list(frozen)}, which leaves nothing to learn")


def groups(model: nn.Module, masters: dict[str, nn.Parameter], plan: TrainingPlan) -> list[dict[str, Any]]:
    """Make AdamW's parameter groups: one for each learning rate, with and without weight decay.

    ``masters`` are the tensors to update, by parameter name; those without ``requires_grad`` are left out. Each
    group's ``peak`` is its learning rate before the schedule.
    """
    layer = layers(model)
    last = max(layer.values(), default=0)
    members: dict[tuple[float, float], list[nn.Parameter]] = defaultdict(list)
    for name, master in masters.items():
        if master.requires_grad:
            lr = plan.encoder_lr * plan.layer_decay ** (last - layer[name]) if name in layer else plan.head_lr
            members[lr, plan.weight_decay if plan.decay_vectors or master.ndim > 1 else 0.0].append(master)
    return [
        {"params": parameters, "peak": lr, "lr": lr, "weight_decay": decay}
        for (lr, decay), parameters in members.items()
    ]
