"""What a run would train, and its rough cost, on this machine and on two GPUs.

Operations: 6 x parameters x word pieces of training (4 x with adapters, whose encoder needs no gradients of its own
weights), 2 x for a forward pass. Hours: operations, divided by a share of the device's published peak; on a GPU at
least the time in which the processor can start the operations of each update.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gapstack.data.extra import load
from gapstack.data.sources import DATASETS, SPLITS
from gapstack.data.teacher import load_teacher
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.encoding.encoder_files import EMBEDDED, is_available, is_embedded
from gapstack.encoding.encoders import EncoderSize, encoder_size
from gapstack.errors import DataNotFoundError, GapstackError
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.frozen_head import FrozenHead
from gapstack.members.member import Member
from gapstack.members.model_servers import is_address
from gapstack.members.prompted import Prompted
from gapstack.members.soft_labels import DistilledMember
from gapstack.members.store import READS
from gapstack.processes import fastest_dtype
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.results import finished
from gapstack.training.devices import processes
from gapstack.training.parameters import ENCODER
from gapstack.training.plan import adapter_rank

CHARACTERS_PER_PIECE, SPECIAL_PIECES = 4.5, 2  # of GAP in BERT's uncased vocabulary
GPUS = {"H100": 989e12, "RTX 4090": 165e12}
"""Peak operations per second in bfloat16 without sparsity, as NVIDIA publishes them (H100 SXM)."""
UTILISATION = 0.3
"""Share of the peak in forward passes and in large batches; measured on an H100 (docs/lab/scale.md)."""
_LAUNCH_SECONDS = 3.8e-3  # of one layer in one update, forward and backward; likewise
CORE_SPEED = {torch.bfloat16: 1e11, torch.float32: 2.5e10}
"""Operations per second that each core of a CPU is assumed to reach, by its fastest type."""
_CHARACTERS = 427  # of a row of GAP development
_OTHER_SECONDS, _HEAD_SECONDS = 0.5, 3.0  # of a fold of a member without an encoder, or with a frozen one
_UPDATE_SECONDS = 3e-3  # of a head over a frozen encoder
# bytes of a parameter: stored, in a checkpoint, trained (with gradient and two moments), loaded, loaded on a GPU
_STORED, _SAVED, _TRAINED, _LOADED, _HALF = 2, 16, 16, 4, 2
_ACTIVATIONS = 34  # bytes of a piece in each layer, times the width (Korthikanti et al. 2022, section 4.1)
_SUMMED = ("models", "operations", "launching", "other", "seconds", "disk", "requests", "tokens", "price")


@dataclass
class MemberPlan:
    """A member's encoder and its parameters (None if unknown), models, cost, and bytes of a fit and on the disk.

    ``seconds`` are those on this machine, of which ``other`` are spent outside the encoder's ``operations``; on a GPU
    these take at least ``launching`` seconds. Of a language model, the requests, their tokens, and the price of these.
    """

    label: str
    models: int
    encoder: str | None = None
    parameters: int | None = None
    operations: float = 0.0
    launching: float = 0.0
    other: float = 0.0
    seconds: float = 0.0
    memory: float = 0.0
    disk: float = 0.0
    requests: int = 0
    tokens: int = 0
    price: float = 0.0

    def hours_on(self, gpu: str) -> float:
        """Hours on one of :data:`GPUS`."""
        return (max(self.operations / (GPUS[gpu] * UTILISATION), self.launching) + self.other) / 3600

    def cells(self) -> dict[str, Cell]:
        """Cells of the table of :class:`RunPlan`."""
        return {
            "encoder": self.encoder,
            "parameters": None if self.parameters is None else f"{self.parameters / 1e6:.1f} M",
            "models": self.models,
            "memory": self.memory / 1e9 or None,
            "disk": self.disk / 1e9 or None,
            "hours": self.seconds / 3600 or None,
            **{gpu: self.hours_on(gpu) or None for gpu in GPUS},
            "requests": self.requests or None,
            "tokens": self.tokens or None,
            "price": self.price or None,
        }


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
        sums = {key: sum(getattr(member, key) for member in self.members) for key in _SUMMED}
        return MemberPlan("all members", memory=max(member.memory for member in self.members), **sums)

    def table(self) -> Table:
        """Table of the members: encoder, parameters, models of all folds, memory, disk space, and hours by device."""
        titles = {"memory": ("memory GB", 1), "disk": ("disk GB", 1), "hours": ("hours here", 2)}
        columns = [
            Column(key, *titles.get(key, (key, 2)))
            for key in self.total.cells()
            if self.total.requests or key not in ("requests", "tokens", "price")
        ]
        rows = [(member.label, member.cells()) for member in (*self.members, self.total)]
        recipe, (trained, count), (held, held_count) = self.recipe, self.train, self.test
        stackers = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
        caption = (
            f"Trained on {trained}: {count:,} rows, {recipe.labels} labels, {recipe.folds} folds by page, seed "
            f"{recipe.seed}; held out {held}: {held_count:,} rows; stack: {stackers}. Hours here are those of an "
            f"earlier run of this name if there is one, otherwise for {self.device}; those of {' and '.join(GPUS)} "
            f"are for {UTILISATION:.0%} of their published bfloat16 peak, and at least "
            f"{1000 * _LAUNCH_SECONDS:.1f} ms for a layer in an update. 6 operations for each parameter and word "
            "piece of training (4 with adapters), 2 of prediction. Parses and the stack are not included. A frozen "
            "encoder runs once over all rows, however many members read it; the first counts it. An update of a head "
            f"counts {1000 * _UPDATE_SECONDS:.0f} ms here, in all epochs: early stopping takes fewer. "
            "Memory is that of weights, gradients, optimizer and the activations of one batch; disk space that of "
            "fitted members and a checkpoint."
        )
        title = f"{recipe.name}: {recipe.title}"
        return Table(columns, [Section("", rows)], title=title, caption=caption, name_title="member")


def plan_run(recipe: Recipe) -> RunPlan:
    """Estimate a run of ``recipe`` and list missing inputs; nothing is trained, and only GAP itself is downloaded."""
    missing, left_out = list[str](), list[str]()
    try:
        recipe, train, test = corpora(recipe)
        recipe, left_out = recipe.with_available_resolvers(train)
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
        counts = rows[0][1], rows[1][1]
        plan = _plan(part.label, member, recipe.folds, counts, pieces, read)
        if isinstance(member, Prompted):
            plan.requests, plan.tokens, plan.price = member.cost(*counts, recipe.folds, characters)
            size = None if is_address(member.model) else encoder_size(member.model)
            if size is not None:
                plan.encoder, plan.parameters = Path(member.model).name, size.parameters
                plan.operations, plan.memory = 2 * size.per_piece * plan.tokens, _HALF * size.parameters
        launching = plan.launching if processes().device.type == "cuda" else 0.0
        plan.seconds = max(plan.operations / speed, launching) + plan.other
        if jobs := measured.get(part.label):
            plan.seconds = float(np.mean([job["seconds"] for job in jobs]) * recipe.folds)
        plans.append(plan)
    missing += left_out
    return RunPlan(recipe, *rows, tuple(plans), tuple(dict.fromkeys(missing)), device)


def _plan(
    label: str, member: Member, folds: int, rows: tuple[int, int], pieces: float, read: set[str | None]
) -> MemberPlan:
    """Plan a member for numbers of training and held-out rows; adds a frozen encoder to ``read``."""
    plan, settings = MemberPlan(label, folds * getattr(member, "seeds", 1)), member.get_params()
    if "encoder" not in settings:
        plan.other = folds * _OTHER_SECONDS
        return plan
    names = [settings["encoder"], *filter(None, [settings.get("second_encoder")])]
    plan.encoder = ", ".join(EMBEDDED if is_embedded(name) else Path(str(name)).name for name in names)
    sizes = [size for name in names if (size := encoder_size(name)) is not None]
    if len(sizes) < len(names):
        return plan
    plan.parameters = sum(size.parameters for size in sizes)
    plan.memory = _LOADED * plan.parameters
    train, test = rows
    size, phases = sizes[0], _phases(member, folds, train) if isinstance(member, FineTuned) else []
    plan.other = plan.models * _head_updates(member, train * (folds - 1) // folds) * _UPDATE_SECONDS
    if phases and isinstance(member, FineTuned):
        copies = 1 + getattr(member, "answer_forms", 0)
        has_adapters = adapter_rank(size.parameters, member.lora) > 0
        weights = size.parameters * (_HALF if has_adapters else _TRAINED)
        passes = (4 if has_adapters else 6) * sum(rows for rows, _ in phases) + 2 * copies * (
            train + folds * test
        )
        plan.operations = size.per_piece * pieces * passes
        plan.launching = size.layers * _LAUNCH_SECONDS * sum(rows / batch for rows, batch in phases)
        plan.memory = weights + _activations(member, size, pieces)
        plan.disk = 0.0 if has_adapters else (folds * _STORED + _SAVED) * _learned(member, size)
    else:
        plan.other = max(plan.other, folds * _HEAD_SECONDS)
        for name, each in zip(names, sizes, strict=True):
            if name not in read:
                passes = 2 * (train + test + _taught_rows(member)) * (1 + len(_copies(member)))
                plan.operations += each.per_piece * pieces * passes
            read.add(name)
    return plan


def _head_updates(member: Member, rows: int) -> int:
    """Updates of one model's head over a frozen encoder, in all epochs, for a number of training rows."""
    if isinstance(member, FineTuned):
        plans = [plan for plan in member.plans() if ENCODER in plan.frozen]
    else:
        plans = [member.plan()] if isinstance(member, FrozenHead) else []
    return sum(plan.epochs * -(-rows * (1 + len(_copies(member))) // plan.batch_size) for plan in plans)


def _copies(member: Member) -> Sequence[Any]:
    """Anonymised or augmented copies of each row that a member learns."""
    return (*getattr(member, "copies", ()), *member.augment)


def _learned(member: FineTuned, size: EncoderSize) -> float:
    """Parameters of the encoder's layers that any phase trains, and of its embeddings (layer 0)."""
    plans = [*member.plans(), *(member.first_plans() if member.extra or member.teacher else ())]
    frozen = [set(plan.frozen) for plan in plans if ENCODER not in plan.frozen]
    tuned = set(range(size.layers + 1)) - set[Any].intersection(*frozen)
    layers = len(tuned - {0}) * size.per_piece / size.layers
    return layers + (size.parameters - size.per_piece if 0 in tuned else 0)


def _phases(member: FineTuned, folds: int, train: int) -> list[tuple[int, int]]:
    """Phases that train the encoder: rows that pass through it, in all epochs and folds, and their batch size."""
    forms = 1 + getattr(member, "forms", 0)
    phases = [(plan, (folds - 1) * train) for plan in member.plans()]
    if taught := _taught_rows(member):
        phases += [(plan, taught) for plan in member.first_plans()]
    return [
        (forms * rows * plan.epochs, plan.batch_size) for plan, rows in phases if ENCODER not in plan.frozen
    ]


def _activations(member: FineTuned, size: EncoderSize, pieces: float) -> float:
    """Bytes of the activations of one batch."""
    plan = max(member.plans(), key=lambda plan: plan.batch_size)
    kept = _HALF if plan.checkpointing else _ACTIVATIONS
    return plan.batch_size * pieces * kept * size.width * size.layers


def _taught_rows(member: Member) -> int:
    """Rows of a member's extra corpora and teacher; 0 if they are missing, which is printed."""
    if not isinstance(member, DistilledMember):
        return 0
    try:
        extra = sum(len(load(name).corpus) for name in member.extra)
        return extra + (len(load_teacher(member.teacher).corpus) if member.teacher else 0)
    except DataNotFoundError:
        return 0


def _published_rows(splits: Sequence[str]) -> tuple[str, int]:
    """Name and published number of rows of splits that are not on this machine."""
    names = [f"gap-{name}" if name in SPLITS else name for name in splits]
    return "+".join(names), sum(DATASETS[name].rows or 0 for name in names if name in DATASETS)


def _missing_inputs(member: Member) -> list[str]:
    """Describe inputs of a member that are not on this machine."""
    settings = member.get_params()
    missing = [
        f"encoder {name}: neither a folder nor in the hub's cache; a run would download it"
        for name in (settings.get("encoder"), settings.get("second_encoder"))
        if not is_available(name)
    ]
    if missing:  # what else a member reads may depend on its encoder, but not through these settings
        independent = {"parser", "clusters", "teacher", "extra", "blocks"}
        read = {key: value for key, value in settings.items() if key in independent}
    else:
        read = member.reads()
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
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        peak = next((peak for gpu, peak in GPUS.items() if gpu in name), min(GPUS.values()))
        return name, peak * UTILISATION
    dtype, cores = fastest_dtype(device), torch.get_num_threads()
    return f"{cores} CPU threads in {str(dtype).removeprefix('torch.')}", cores * CORE_SPEED[dtype]
