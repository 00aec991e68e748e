"""What a run would train, and its rough cost: 6 x parameters x word pieces for training, 2 x for a forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from gapstack.data.sources import DATASETS, SPLITS
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.encoding.encoder_files import EMBEDDED, is_available, is_embedded
from gapstack.encoding.encoders import encoder_size
from gapstack.errors import DataNotFoundError, GapstackError
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.member import Member
from gapstack.members.prompted import Prompted
from gapstack.members.store import READS
from gapstack.processes import fastest_dtype
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.results import finished
from gapstack.training.devices import processes
from gapstack.training.parameters import ENCODER

CHARACTERS_PER_PIECE, SPECIAL_PIECES = 4.5, 2
"""Of GAP in BERT's uncased vocabulary."""
GPU_SPEED, CORE_SPEED = 1e14, {torch.bfloat16: 1e11, torch.float32: 2.5e10}
"""Operations per second that a GPU, and each core of a CPU by its fastest type, are assumed to reach."""
_CHARACTERS = 427  # of a row of GAP development
_OTHER_SECONDS, _HEAD_SECONDS = 0.5, 3.0  # of a fold of a member without an encoder, or with a frozen one
_STORED_BYTES, _TRAINED_BYTES, _LOADED_BYTES = 2, 16, 4  # per parameter
_INDEPENDENT = ("parser", "clusters", "teacher", "extra", "blocks")


@dataclass
class MemberPlan:
    """A member's encoder and its parameters (None if unknown), models, seconds, and bytes of a fit and on the disk.

    Of a language model, the requests, their tokens, and the price of these.
    """

    label: str
    models: int
    encoder: str | None = None
    parameters: int | None = None
    seconds: float = 0.0
    memory: float = 0.0
    disk: float = 0.0
    requests: int = 0
    tokens: int = 0
    price: float = 0.0


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
    def total(self) -> MemberPlan:
        """All members in one process: sums, and the most memory that one of them needs."""
        added = ("models", "seconds", "disk", "requests", "tokens", "price")
        sums = {key: sum(getattr(member, key) for member in self.members) for key in added}
        return MemberPlan("all members", memory=max(member.memory for member in self.members), **sums)

    def table(self) -> Table:
        """Table of the members: encoder, parameters, models of all folds, memory, disk space and hours."""
        columns = [
            *(Column("encoder", "encoder"), Column("parameters", "parameters"), Column("models", "models")),
            *(Column("memory", "memory GB", 1), Column("disk", "disk GB", 1), Column("hours", "hours", 2)),
        ]
        if self.total.requests:
            columns += [
                Column("requests", "requests"),
                Column("tokens", "tokens"),
                Column("price", "price", 2),
            ]
        rows: list[tuple[str, dict[str, Cell]]] = []
        for member in (*self.members, self.total):
            cells: dict[str, Cell] = {"encoder": member.encoder, "models": member.models}
            cells["parameters"] = None if member.parameters is None else f"{member.parameters / 1e6:.1f} M"
            cells |= {"memory": member.memory / 1e9 or None, "disk": member.disk / 1e9 or None}
            cells |= {"requests": member.requests or None, "tokens": member.tokens or None}
            cells |= {"hours": member.seconds / 3600 or None, "price": member.price or None}
            rows.append((member.label, cells))
        recipe, (trained, count), (held, held_count) = self.recipe, self.train, self.test
        stackers = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
        caption = (
            f"Trained on {trained}: {count:,} rows, {recipe.labels} labels, {recipe.folds} folds by page, seed "
            f"{recipe.seed}; held out {held}: {held_count:,} rows; stack: {stackers}. Hours are those of an earlier "
            "run of this name if there is one, otherwise a rough estimate: 6 operations for each parameter and word "
            f"piece of training (2 for prediction) at the usual speed of {self.device}. Early stopping may take less; "
            "parses, a first stage on other corpora and the stack are not included. A frozen encoder runs once over "
            "all rows, however many members read it; the first counts it."
        )
        title = f"{recipe.name}: {recipe.title}"
        return Table(columns, [Section("", rows)], title=title, caption=caption, name_title="member")


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
    device, speed = _device()
    try:
        measured = finished(RunFolder(home() / "models" / recipe.name), recipe)
    except GapstackError:  # a damaged record
        measured = {}
    plans: list[MemberPlan] = []
    read: set[str | None] = set()  # frozen encoders, each of which runs once
    for part in recipe.members:
        member = create(part.name, **part.settings)
        missing += _missing_inputs(member)
        plan = _plan(part.label, member, recipe.folds, rows[0][1], rows[1][1], pieces / speed, read)
        if isinstance(member, Prompted):
            plan.requests, plan.tokens, plan.price = member.cost(
                rows[0][1], rows[1][1], recipe.folds, characters
            )
        if jobs := measured.get(part.label):
            plan.seconds = float(np.mean([job["seconds"] for job in jobs]) * recipe.folds)
        plans.append(plan)
    return RunPlan(recipe, *rows, tuple(plans), tuple(dict.fromkeys(missing)), device)


def _plan(
    label: str,
    member: Member,
    folds: int,
    train: int,
    test: int,
    seconds_per_parameter: float,
    read: set[str | None],
) -> MemberPlan:
    """Plan a member, given the seconds of an operation on each piece of a row; adds a frozen encoder to ``read``."""
    plan = MemberPlan(label, folds * getattr(member, "seeds", 1), seconds=folds * _OTHER_SECONDS)
    if "encoder" not in member.get_params():
        return plan
    encoder: str | None = member.get_params()["encoder"]
    size = encoder_size(encoder)
    plan.encoder, plan.seconds = EMBEDDED if is_embedded(encoder) else Path(str(encoder)).name, 0.0
    if size is None:
        return plan
    plan.parameters, plan.memory = size.parameters, _LOADED_BYTES * size.parameters
    cost = size.per_piece * seconds_per_parameter
    phases = member.plans() if isinstance(member, FineTuned) else []
    if epochs := sum(phase.epochs for phase in phases if ENCODER not in phase.frozen):
        plan.seconds = cost * (6 * epochs * train * (folds - 1) + 2 * (train + folds * test))
        plan.memory, plan.disk = _TRAINED_BYTES * size.parameters, folds * _STORED_BYTES * size.parameters
    else:
        plan.seconds = folds * _HEAD_SECONDS + (0 if encoder in read else cost * 2 * (train + test))
        read.add(encoder)
    return plan


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


def _device() -> tuple[str, float]:
    """Name of the device, and the operations per second that it is assumed to reach."""
    device = processes().device
    if device.type != "cpu":
        return f"a {device.type.upper()} device", GPU_SPEED
    dtype, cores = fastest_dtype(device), torch.get_num_threads()
    return f"{cores} CPU threads in {str(dtype).removeprefix('torch.')}", cores * CORE_SPEED[dtype]
