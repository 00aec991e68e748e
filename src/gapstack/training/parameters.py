"""A model's parameters: freezing, learning rates by layer, mixed precision, and the optimiser."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gapstack.encoding.encoders import layers_of
from gapstack.errors import MemberError
from gapstack.training.devices import Tensors
from gapstack.training.plan import TrainingPlan

ENCODER = "encoder"  # attribute of a model that holds its pre-trained part
_ADAPTER = ".lora_"  # in the names of adapters' parameters
_SCALER = "scaler"


def layers(model: nn.Module) -> dict[str, tuple[int, ...]]:
    """Layers that use each encoder parameter, by its name; see :func:`~gapstack.encoding.encoders.layers_of`."""
    names = [name for name, _ in model.named_parameters() if name.startswith(f"{ENCODER}.")]
    config = getattr(getattr(model, ENCODER, None), "config", None)
    return layers_of(names, getattr(config, "num_hidden_layers", None))


def freeze(model: nn.Module, frozen: Sequence[int | str]) -> None:
    """Freeze the parts that ``frozen`` names (see :class:`TrainingPlan`) and unfreeze all others."""
    users, named = layers(model), dict(model.named_parameters())
    for part in frozen:
        if not any(part in users.get(name, ()) or f"{name}.".startswith(f"{part}.") for name in named):
            tops = ", ".join(dict.fromkeys(name.split(".")[0] for name in named))
            raise MemberError(
                f"training plan: frozen names {part!r}, but the model has no such parameters; it has {tops} "
                f"and layers 0 to {max(map(max, users.values()), default=0)}"
            )
    prefixes = tuple(f"{part}." for part in frozen)
    has_adapters = any(_ADAPTER in name for name in users)
    frozen_names = {
        name
        for name in named
        if f"{name}.".startswith(prefixes)
        or (name in users and (set(users[name]) <= set(frozen) or (has_adapters and _ADAPTER not in name)))
    }
    if frozen_names == named.keys():
        raise MemberError(
            f"training plan: frozen names {list(frozen)}, which leaves nothing to learn; name fewer parts"
        )
    for name, parameter in named.items():
        parameter.requires_grad_(name not in frozen_names)


def trained_names(model: nn.Module, plans: Iterable[TrainingPlan]) -> set[str]:
    """Names of the parameters that any of the plans changes."""
    names: set[str] = set()
    for plan in plans:
        freeze(model, plan.frozen)
        names |= {name for name, p in model.named_parameters() if p.requires_grad}
    return names


def groups(model: nn.Module, masters: dict[str, nn.Parameter], plan: TrainingPlan) -> list[dict[str, Any]]:
    """AdamW's parameter groups by learning rate and weight decay; ``peak`` is the rate before the schedule."""
    layer = {name: users[-1] for name, users in layers(model).items()}
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


def keep_activations(model: nn.Module, kept: bool) -> None:
    """Let the encoder keep all activations for the backward pass, or recompute them; MemberError if it cannot."""
    encoder: Any = getattr(model, ENCODER, None)
    if not kept:
        if not getattr(encoder, "supports_gradient_checkpointing", False):
            raise MemberError(
                "training plan: this encoder does not support checkpointing; set checkpointing = false"
            )
        encoder.config.use_cache = False
        # reentrant checkpointing loses gradients where the embeddings are frozen
        encoder.activation_checkpointing_enable({"use_reentrant": False})
    elif any(getattr(module, "gradient_checkpointing", False) for module in model.modules()):
        encoder.activation_checkpointing_disable()


def cast(model: nn.Module, dtype: torch.dtype) -> None:
    """Cast the parameters of the model's encoder to ``dtype`` in place, but not its buffers (such as rotary angles)."""
    for name, parameter in model.named_parameters():
        if name.startswith(f"{ENCODER}.") and parameter.dtype != dtype:
            parameter.data = parameter.data.to(dtype)


class Weights:
    """A model's float32 master weights; until :meth:`close` its encoder computes with copies in ``dtype``."""

    def __init__(self, model: nn.Module, dtype: torch.dtype):
        self._model = model
        self.masters = dict(model.named_parameters())
        self._copies: list[tuple[nn.Parameter, nn.Parameter]] = []
        for name, copy in self.masters.items():
            if name.startswith(f"{ENCODER}.") and copy.dtype == torch.float32 != dtype:
                master = nn.Parameter(copy.detach().clone(), requires_grad=copy.requires_grad)
                self.masters[name] = master
                self._copies.append((copy, master))
        cast(model, dtype)
        self.dtype = dtype
        self._learning = [pair for pair in self._copies if pair[0].requires_grad]

    @torch.no_grad()
    def collect(self) -> None:
        """Add the copies' gradients to those of the float32 weights, and clear them."""
        pairs = [pair for pair in self._learning if pair[0].grad is not None]
        first = [(copy, master) for copy, master in pairs if master.grad is None]
        more = [(copy, master) for copy, master in pairs if master.grad is not None]
        for _, master in first:
            master.grad = torch.empty_like(master)
        for add, chosen in ((torch._foreach_copy_, first), (torch._foreach_add_, more)):
            if chosen:
                grads: Any = [[part.grad for part in parts] for parts in zip(*chosen, strict=True)]
                add(grads[1], grads[0])
        for copy, _ in pairs:
            copy.grad = None

    def drop_gradients(self) -> None:
        """Clear all gradients."""
        for parameter in (*self._model.parameters(), *self.masters.values()):
            parameter.grad = None

    @torch.no_grad()
    def publish(self) -> None:
        """Update the copies from the float32 weights."""
        if self._learning:
            copies, masters = map(list, zip(*self._learning, strict=True))
            torch._foreach_copy_(copies, masters)

    @torch.no_grad()
    def close(self) -> None:
        """Put the float32 weights back into the model and clear all gradients."""
        for copy, master in self._copies:
            copy.data = master.data
        self.drop_gradients()


class Optimizer:
    """AdamW over the trainable float32 weights: learning rates by layer, gradient clipping, several processes."""

    def __init__(self, model: nn.Module, weights: Weights, plan: TrainingPlan):
        self._weights, self._max_norm = weights, plan.max_norm
        self._learning = [master for master in weights.masters.values() if master.requires_grad]
        self._adam = torch.optim.AdamW(
            groups(model, weights.masters, plan),
            betas=(plan.beta1, plan.beta2),
            eps=plan.epsilon,
            fused=self._learning[0].device.type in {"cpu", "cuda"},
        )
        # float16 has too few exponents for small gradients
        self._scaler = torch.amp.GradScaler(
            self._learning[0].device.type, enabled=weights.dtype == torch.float16
        )

    def backward(self, loss: Tensor) -> None:
        """Compute gradients, in float16 those of a multiple of the loss."""
        self._scaler.scale(loss).backward()

    def add_up(self, loss: Tensor) -> Tensor:
        """Replace gradients by their sums over all processes, and return the sum of ``loss``, ()."""
        from accelerate.utils import reduce

        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self._learning]
        flat = torch.cat([loss.reshape(1), *(gradient.flatten() for gradient in gradients)])
        total, *parts = reduce(flat, reduction="sum").split([1, *(g.numel() for g in gradients)])
        for parameter, part in zip(self._learning, parts, strict=True):
            parameter.grad = part.view_as(parameter)
        return total.reshape(())

    def step(self, factor: float) -> None:
        """Update weights at ``factor`` times the peak rates, then copies; none if float16 gradients overflow."""
        self._scaler.unscale_(self._adam)
        if self._max_norm is not None:
            nn.utils.clip_grad_norm_(self._learning, self._max_norm)
        for group in self._adam.param_groups:
            group["lr"] = group["peak"] * factor
        self._scaler.step(self._adam)
        self._scaler.update()
        self._adam.zero_grad()
        self._weights.publish()

    def state(self) -> Tensors:
        """Moments and step counts, by ``<moment>:<parameter name>``, and the scale of the loss."""
        scale = {f"{_SCALER}:{key}": torch.tensor(value) for key, value in self._scaler.state_dict().items()}
        return scale | {
            f"{key}:{name}": value
            for name, master in self._weights.masters.items()
            for key, value in self._adam.state.get(master, {}).items()
        }

    def restore(self, state: Tensors) -> None:
        """Inverse of :meth:`state`."""
        scale: dict[str, float] = {}
        for key, tensor in state.items():
            moment, _, name = key.partition(":")
            if moment == _SCALER:
                scale[name] = tensor.item()
                continue
            self._adam.state[self._weights.masters[name]][moment] = tensor
        if scale:
            self._scaler.load_state_dict(scale)
