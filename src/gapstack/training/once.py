"""Shared first stages: train once and cache the weights."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import filelock
from safetensors.torch import load_file, save
from torch import nn

from gapstack.cache import intact_files, store
from gapstack.files import cache_root
from gapstack.training.checkpoint_context import CheckpointContext
from gapstack.training.data import Data
from gapstack.training.fingerprint import identity
from gapstack.training.loop import train
from gapstack.training.objective import Objective, cross_entropy
from gapstack.training.plan import TrainingPlan


def train_once(
    model: nn.Module,
    data: Data,
    plan: TrainingPlan | Sequence[TrainingPlan],
    *,
    objective: Objective = cross_entropy,
) -> None:
    """Train a model in place as :func:`~gapstack.training.train` does, or load the weights of an earlier call.

    The cache key is :func:`~gapstack.training.fingerprint.identity`, so folds whose first stage has the same seed and
    rows share one training. Of several concurrent processes one trains and the others wait. An interrupted call
    resumes.
    """
    plans = (plan,) if isinstance(plan, TrainingPlan) else tuple(plan)
    key = identity(model, data, plans, objective=objective)
    folder = cache_root() / "trained"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f".{key}.lock"):
        stored = intact_files(folder, ".safetensors", label=f"{key}-")
        if not stored:
            context = CheckpointContext(folder / "unfinished")
            train(model, data, plans, objective=objective, context=context)
            weights = {name: tensor.cpu().clone() for name, tensor in model.state_dict().items()}
            stored = [store(folder, save(weights), ".safetensors", label=f"{key}-")]
            shutil.rmtree(context.subfolder(key).folder, ignore_errors=True)
    model.load_state_dict(load_file(stored[0]))
    model.eval()
