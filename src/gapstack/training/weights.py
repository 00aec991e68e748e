"""Mixed precision: float32 master weights for the updates, copies in another precision for the passes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gapstack.training.checkpoints import Tensors
from gapstack.training.parameters import ENCODER, groups
from gapstack.training.plan import TrainingPlan


class Weights:
    """A model's float32 master weights, and the encoder's copies in another precision.

    Parameters
    ----------
    model : torch.nn.Module
        Changed in place: until :meth:`close` its encoder holds the copies.
    dtype : torch.dtype
        Of the copies; with float32 there are none.
    """

    def __init__(self, model: nn.Module, dtype: torch.dtype):
        self._model = model
        named = dict(model.named_parameters())
        self._copies: dict[str, nn.Parameter] = {}
        if dtype != torch.float32:
            self._copies = {name: p for name, p in named.items() if name.startswith(f"{ENCODER}.")}
        self.masters = {
            name: nn.Parameter(p.detach().clone(), requires_grad=p.requires_grad)
            if name in self._copies
            else p
            for name, p in named.items()
        }
        cast(model, dtype)
        self._learning = [
            (copy, self.masters[name]) for name, copy in self._copies.items() if copy.requires_grad
        ]

    @property
    def learning(self) -> list[nn.Parameter]:
        """The trainable float32 parameters."""
        return [master for master in self.masters.values() if master.requires_grad]

    def collect(self) -> None:
        """Add the copies' gradients to those of the float32 weights, and clear them."""
        for copy, master in self._learning:
            if copy.grad is not None:
                if master.grad is None:
                    master.grad = copy.grad.float()
                else:
                    master.grad += copy.grad
                copy.grad = None

    def drop_gradients(self) -> None:
        """Forget what was collected, and what was not yet."""
        for parameter in (*self._model.parameters(), *self.masters.values()):
            parameter.grad = None

    @torch.no_grad()
    def publish(self) -> None:
        """Update the copies from the float32 weights."""
        for copy, master in self._learning:
            copy.copy_(master)

    @torch.no_grad()
    def close(self) -> None:
        """Put the float32 weights back into the model and clear the gradients."""
        for name, copy in self._copies.items():
            copy.data = self.masters[name].data
        self.drop_gradients()


def cast(model: nn.Module, dtype: torch.dtype) -> None:
    """Cast the parameters of the model's encoder to ``dtype`` in place.

    Buffers stay as they are: rotary angles and the like lose too much in bfloat16.
    """
    for name, parameter in model.named_parameters():
        if name.startswith(f"{ENCODER}.") and parameter.dtype != dtype:
            parameter.data = parameter.data.to(dtype)


class Optimizer:
    """AdamW over the trainable float32 weights: learning rates by layer, gradient clipping, several processes.

    Parameters
    ----------
    model : torch.nn.Module
    weights : Weights
    plan : TrainingPlan
    """

    def __init__(self, model: nn.Module, weights: Weights, plan: TrainingPlan):
        self._weights, self._max_norm = weights, plan.max_norm
        self._learning = weights.learning
        self._adam = torch.optim.AdamW(
            groups(model, weights.masters, plan),
            betas=(plan.beta1, plan.beta2),
            eps=plan.epsilon,
            fused=self._learning[0].device.type in {"cpu", "cuda"},
        )

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
        """Update the weights at ``factor`` times the peak learning rates, and then the copies."""
        if self._max_norm is not None:
            nn.utils.clip_grad_norm_(self._learning, self._max_norm)
        for group in self._adam.param_groups:
            group["lr"] = group["peak"] * factor
        self._adam.step()
        self._adam.zero_grad()
        self._weights.publish()

    def state(self) -> Tensors:
        """Moments and step counts, by ``<moment>:<parameter name>``."""
        return {
            f"{key}:{name}": value
            for name, master in self._weights.masters.items()
            for key, value in self._adam.state.get(master, {}).items()
        }

    def restore(self, state: Tensors) -> None:
        """Inverse of :meth:`state`."""
        for key, tensor in state.items():
            moment, _, name = key.partition(":")
            self._adam.state[self._weights.masters[name]][moment] = tensor
