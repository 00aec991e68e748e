"""Trainings that many models begin with, done once: the result is kept in the cache by what decides it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import filelock
from safetensors.torch import load_file, save_file
from torch import nn

from gapstack.files import atomic_path, cache_root
from gapstack.training.data import Data
from gapstack.training.loop import Objective, cross_entropy, identity, train
from gapstack.training.plan import TrainingPlan
from gapstack.training.workplace import Workplace


def train_once(
    model: nn.Module,
    data: Data,
    plan: TrainingPlan | Sequence[TrainingPlan],
    *,
    objective: Objective = cross_entropy,
) -> None:
    """Train a model in place as :func:`~gapstack.training.train` does, or take up what an earlier call learned.

    The key is all that decides the result: plans, rows, targets, loss and the weights at the start. Folds whose members
    begin alike, with the same seed, on rows that no fold holds back, so share one training. Of several processes
    that ask at once, one trains and the others wait. A call that is killed goes on where it was.
    """
    plans = (plan,) if isinstance(plan, TrainingPlan) else tuple(plan)
    key = identity(model, data, plans, objective=objective)
    folder = cache_root() / "trained"
    result = folder / f"{key}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f".{key}.lock"):
        if not result.is_file():
            place = Workplace(folder / "unfinished")
            train(model, data, plans, objective=objective, place=place)
            learned = {name: tensor.cpu().clone() for name, tensor in model.state_dict().items()}
            with atomic_path(result) as temporary:
                save_file(learned, temporary)
            shutil.rmtree(place.of(key).folder, ignore_errors=True)
    model.load_state_dict(load_file(result))
    model.eval()
