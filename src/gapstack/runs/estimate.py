"""What a run would train, and its rough cost: 6 x parameters x word pieces for training, 2 x for a forward pass."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from gapstack.data.datasets import DATASETS
from gapstack.data.sources import SPLITS
from gapstack.encoding.encoders import EMBEDDED, encoder_size, is_available, is_embedded
from gapstack.errors import DataNotFoundError, GapstackError
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.member import Member
from gapstack.members.store import READS
from gapstack.processes import fastest_dtype
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.results import finished
from gapstack.training.devices import processes
from gapstack.training.parameters import ENCODER

CHARACTERS_PER_PIECE, SPECIAL_PIECES = 4.5, 2
"""Of GAP in BERT's uncased vocabulary."""
UTILISATION = 0.5
"""Share of the speed of matrix products that training is assumed to reach."""
_CHARACTERS = 427  # of a row of GAP development
_OTHER_SECONDS, _HEAD_SECONDS = 0.5, 3.0  # of a fold of a member without an encoder, or with a frozen one
_STORED_BYTES, _TRAINED_BYTES, _LOADED_BYTES = 2, 16, 4  # per parameter
_INDEPENDENT = ("parser", "clusters", "teacher", "extra", "blocks")


@dataclass(frozen=True)
class MemberPlan:
    """A member's encoder and its parameters (None if unknown), models, seconds, and bytes of a fit and on the disk."""

    label: str
    models: int
    encoder: str | None = None
    parameters: int | None = None
    seconds: float = 0.0
    memory: float = 0.0
    disk: float = 0.0


@dataclass(frozen=True)
class RunPlan:
    """A run that has not been started: rows (name and number), members, missing inputs, and the device."""

    recipe: Recipe
    train: tuple[str, int]
    test: tuple[str, int]
    members: tuple[MemberPlan, ...]
    missing: tuple[str, ...]
    device: str

    @property
    def seconds(self) -> float:
        """Expected seconds of all members in one process."""
        return sum(member.seconds for member in self.members)

    @property
    def memory(self) -> float:
        """The most bytes that a fit needs."""
        return max(member.memory for member in self.members)

    @property
    def disk(self) -> float:
        """Bytes that the run stores."""
        return sum(member.disk for member in self.members)


def duration(seconds: float) -> str:
    """Return a duration in words: ``3 hours``."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def plan_run(recipe: Recipe, data: str | None = None) -> RunPlan:
    """Estimate a run of ``recipe`` and list missing inputs; nothing is trained, and only GAP itself is downloaded."""
    missing: list[str] = []
    try:
        recipe, train, test = corpora(recipe, data)
        rows = (train.name, len(train)), (test.name, len(test))
        characters = float(np.mean([len(example.text) for example in [*train, *test]]))
    except DataNotFoundError as error:
        missing.append(str(error))
        rows, characters = (_published_rows(recipe.train), _published_rows(recipe.test)), _CHARACTERS
    pieces = characters / CHARACTERS_PER_PIECE + SPECIAL_PIECES
    device, rate = _device_speed()
    try:
        measured = finished(RunFolder(home() / "models" / recipe.name), recipe)
    except GapstackError:  # a damaged record
        measured = {}
    plans: list[MemberPlan] = []
    seen: set[str | None] = set()  # frozen encoders, each of which runs once
    for part in recipe.members:
        member = create(part.name, **part.settings)
        missing += _missing_inputs(member)
        plan = _plan(
            part.label, member, recipe.folds, rows[0][1], rows[1][1], pieces / (rate * UTILISATION), seen
        )
        if jobs := measured.get(part.label):
            plan = replace(plan, seconds=float(np.mean([job["seconds"] for job in jobs]) * recipe.folds))
        plans.append(plan)
    return RunPlan(recipe, *rows, tuple(plans), tuple(dict.fromkeys(missing)), device)


def _plan(
    label: str,
    member: Member,
    folds: int,
    train: int,
    test: int,
    seconds_per_parameter: float,
    seen: set[str | None],
) -> MemberPlan:
    """Plan a member, given the seconds of an operation on each piece of a row; adds a frozen encoder to ``seen``."""
    models = folds * getattr(member, "seeds", 1)
    if "encoder" not in member.get_params():
        return MemberPlan(label, models, seconds=folds * _OTHER_SECONDS)
    encoder: str | None = member.get_params()["encoder"]
    name, size = EMBEDDED if is_embedded(encoder) else Path(str(encoder)).name, encoder_size(encoder)
    if size is None:
        return MemberPlan(label, models, name)
    plans = member.plans() if isinstance(member, FineTuned) else []
    tuned = [plan for plan in plans if ENCODER not in plan.frozen]
    cost = size.layers * size.layer * seconds_per_parameter
    if tuned:
        epochs = sum(plan.epochs for plan in tuned)
        seconds = cost * (6 * epochs * train * (folds - 1) + 2 * (train + folds * test))
        memory, disk = _TRAINED_BYTES * size.parameters, folds * _STORED_BYTES * size.parameters
    else:
        seconds = folds * _HEAD_SECONDS + (0 if encoder in seen else cost * 2 * (train + test))
        memory, disk = _LOADED_BYTES * size.parameters, 0
        seen.add(encoder)
    return MemberPlan(label, models, name, size.parameters, seconds, float(memory), float(disk))


def _published_rows(splits: Sequence[str]) -> tuple[str, int]:
    """Name and published number of rows of splits that are not on this machine."""
    names = [f"gap-{name}" if name in SPLITS else name for name in splits]
    return "+".join(names), sum(DATASETS[name].rows or 0 for name in names if name in DATASETS)


def _missing_inputs(member: Member) -> list[str]:
    """Describe inputs of a member that are not on this machine."""
    settings, missing = member.get_params(), []
    if is_available(settings.get("encoder")):
        read = member.reads()
    else:
        missing.append(
            f"encoder {settings['encoder']}: neither a folder nor in the hub's cache; a run would download it"
        )
        # what else it reads may depend on the encoder, but not through these settings
        read = {key: value for key, value in settings.items() if key in _INDEPENDENT}
    for setting, value in read.items():
        if setting in READS and value is not False:
            try:
                READS[setting](value)
            except GapstackError as error:
                missing.append(str(error))
    return missing


def _device_speed() -> tuple[str, float]:
    """Name of the device, and its operations per second in a large matrix product, in this thread's time on a CPU."""
    device = processes().device
    clock = time.thread_time if device.type == "cpu" else time.perf_counter
    dtype = fastest_dtype(device)
    left, right = (torch.ones(*shape, dtype=dtype, device=device) for shape in ((1024, 1024), (1024, 4096)))
    seconds = []
    for _ in range(4):
        started = clock()
        float((left @ right)[0, 0])  # waits for the device; the first product warms up
        seconds.append(clock() - started)
    threads = f", {torch.get_num_threads()} threads" if device.type == "cpu" else ""
    name = f"{device.type}{threads}, {str(dtype).removeprefix('torch.')}"
    return name, 2 * 1024 * 1024 * 4096 / min(seconds)
