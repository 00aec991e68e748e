"""Which parameters learn, and how fast: freezing and learning rates by layer."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from torch import nn

from gapstack.errors import MemberError
from gapstack.training.plan import TrainingPlan

ENCODER = "encoder"
"""Attribute of a model that holds its pre-trained part."""
# How transformers' model families name their stacks: encoder.layer.3 (BERT), transformer.layer.3 (DistilBERT),
# layers.3 (ModernBERT), h.3 (GPT-2), block.3 (T5)
_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")


def layers(model: nn.Module) -> dict[str, int]:
    """Layer of every parameter of the model's encoder, by the parameter's name.

    0 for embeddings and whatever else comes before the stack, 1 for its first layer, and the last layer's number
    for what follows the stack (final norms, poolers).
    """
    names = [name for name, _ in model.named_parameters() if name.startswith(f"{ENCODER}.")]
    found = [_LAYER.search(name) for name in names]
    stacked = [place for place, match in enumerate(found) if match]
    if not stacked:
        return dict.fromkeys(names, 0)
    last = max(int(match[1]) for match in found if match) + 1
    return {
        name: int(match[1]) + 1 if match else 0 if "embed" in name or place < stacked[0] else last
        for place, (name, match) in enumerate(zip(names, found, strict=True))
    }


def freeze(model: nn.Module, frozen: tuple[int | str, ...]) -> None:
    """Let everything learn but what ``frozen`` names (see :class:`TrainingPlan`).

    Raises
    ------
    MemberError
        If a part of ``frozen`` names nothing, or nothing is left to learn.
    """
    layer = layers(model)
    stopped: set[str] = set()
    for part in frozen:
        if isinstance(part, int):
            named = {name for name, number in layer.items() if number == part}
        else:
            named = {name for name, _ in model.named_parameters() if f"{name}.".startswith(f"{part}.")}
        if not named:
            tops = ", ".join(dict.fromkeys(name.split(".")[0] for name, _ in model.named_parameters()))
            raise MemberError(
                f"training plan: frozen names {part!r}, but the model has no such parameters; it has {tops} "
                f"and layers 0 to {max(layer.values(), default=0)}"
            )
        stopped |= named
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in stopped)
    if all(name in stopped for name, _ in model.named_parameters()):
        raise MemberError(f"training plan: frozen names {list(frozen)}, which leaves nothing to learn")


def groups(model: nn.Module, masters: dict[str, nn.Parameter], plan: TrainingPlan) -> list[dict[str, Any]]:
    """Parameter groups of AdamW for the parameters that learn: one for each rate, with and without decay.

    ``masters`` are the tensors to update, by the names of the parameters that they stand for. Each group's
    ``peak`` is its learning rate before the schedule.
    """
    layer = layers(model)
    last = max(layer.values(), default=0)
    members: dict[tuple[float, float], list[nn.Parameter]] = defaultdict(list)
    for name, master in masters.items():
        if master.requires_grad:
            rate = (
                plan.encoder_rate * plan.layer_decay ** (last - layer[name])
                if name in layer
                else plan.head_rate
            )
            members[rate, plan.weight_decay if master.ndim > 1 else 0.0].append(master)
    return [
        {"params": parameters, "peak": rate, "lr": rate, "weight_decay": decay}
        for (rate, decay), parameters in members.items()
    ]
