"""What a training is known by: its checkpoints and cached weights count only as long as this stays the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from torch import nn

from gapstack.files import fingerprint
from gapstack.training.data import Data, Objective, cross_entropy
from gapstack.training.devices import compute_dtype, processes, rng_states
from gapstack.training.plan import TrainingPlan
from gapstack.versions import source_digest, versions


def identity(
    model: nn.Module,
    data: Data,
    plans: Sequence[TrainingPlan],
    validation: Data | None = None,
    objective: Objective = cross_entropy,
) -> str:
    """Hash of everything that decides the result.

    That is plans, data, initial weights; what the model's parts are and do, and the loss, by this package's code;
    precision and number of processes.
    """
    weights = hashlib.blake2b(digest_size=8)
    for name, tensor in model.state_dict().items():
        weights.update(f"{name} {tuple(tensor.shape)}".encode())
        weights.update(tensor.detach().cpu().contiguous().numpy().data)
    if draws_on(plans):
        for state in rng_states().values():
            weights.update(state.numpy().data)
    rows = [data.fingerprint, validation.fingerprint if validation else None]
    kinds = sorted({type(part) for part in model.modules()}, key=lambda kind: kind.__qualname__)
    state = processes()
    return fingerprint(
        [(plan.as_dict(), str(compute_dtype(plan.precision, state.device))) for plan in plans],
        rows,
        objective.__qualname__,
        weights.hexdigest(),
        [(name, type(part).__qualname__, _plain(part)) for name, part in model.named_modules()],
        [source_digest(kind, "gapstack") for kind in kinds],
        versions(),
        state.num_processes,
    )


def _plain(part: nn.Module) -> dict[str, str]:
    """What a part of a model holds beside tensors and parts, such as its dropout rate; not where it came from."""
    kinds = (bool, int, float, str)
    held = {name: value for name, value in vars(part).items() if name not in {"training", "name_or_path"}}
    return {
        name: repr(value)
        for name, value in sorted(held.items())
        if all(isinstance(each, kinds) for each in (value if isinstance(value, tuple) else (value,)))
    }


def draws_on(plans: Sequence[TrainingPlan]) -> bool:
    """Whether a phase draws from the caller's generator."""
    return any(plan.dropout_rng == "running" for plan in plans)
