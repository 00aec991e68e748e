"""What a run would train, and what it would take, estimated without training anything."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from gapstack.corpus import Corpus
from gapstack.corpus.datasets import DATASETS
from gapstack.corpus.sources import SPLITS
from gapstack.encoding.encoders import EMBEDDED, is_at_hand, is_embedded
from gapstack.encoding.sizes import encoder_size
from gapstack.errors import DataNotFoundError, GapstackError
from gapstack.members import create
from gapstack.members.inputs import READS
from gapstack.members.member import Member
from gapstack.members.work import RowCounts, Work
from gapstack.precision import fastest_dtype
from gapstack.runs.corpora import corpora
from gapstack.runs.recipe import Recipe
from gapstack.training.devices import processes

CHARACTERS_PER_PIECE, SPECIAL_PIECES = 4.5, 2
"""Of GAP and stage 2 in BERT's uncased vocabulary."""
REACHED = 0.5
"""Share of the machine's rate in products of matrices that training is assumed to reach."""
_CHARACTERS = 427  # of a row of GAP development
_SECONDS = 0.3
BRIEF = 5.0
"""Seconds that a fold of a member without an encoder is taken to last: cues less, trees more."""


@dataclass(frozen=True)
class MemberPlan:
    """A member: its encoder (None: it has none), parameters of that (None: not known), and its work.

    ``work`` is None where it cannot be estimated, or is that of seconds; ``seconds`` likewise.
    """

    label: str
    encoder: str | None
    parameters: int | None
    models: int
    work: Work | None
    seconds: float | None


@dataclass(frozen=True)
class RunPlan:
    """A run that has not been started. ``rate`` is in operations a second, measured on ``machine``."""

    recipe: Recipe
    train: tuple[str, int]
    test: tuple[str, int]
    pieces: float
    members: tuple[MemberPlan, ...]
    missing: tuple[str, ...]
    machine: str
    rate: float

    def fold_seconds(self, label: str) -> float:
        """Expected seconds of one fold of a member; :data:`BRIEF` where that cannot be estimated."""
        return self._seconds(label, "fold") or BRIEF

    def shared_seconds(self, label: str) -> float:
        """Expected seconds of what a member computes once for all folds."""
        return self._seconds(label, "shared") or BRIEF / 10

    def memory(self, labels: Collection[str] = ()) -> float:
        """Most bytes that a member's fit takes, of those of ``labels`` (by default all); 0 if none can be estimated."""
        works = [member.work for member in self.members if not labels or member.label in labels]
        return max((work.memory for work in works if work), default=0.0)

    def seconds(self, folds: Mapping[str, int] | None = None) -> float:
        """Expected seconds of so many folds of each member, by default of all."""
        folds = folds or {member.label: self.recipe.folds for member in self.members}
        return sum(
            self.shared_seconds(label) + n * self.fold_seconds(label) for label, n in folds.items() if n
        )

    def _seconds(self, label: str, part: str) -> float:
        (work,) = (member.work for member in self.members if member.label == label)
        return getattr(work, part) / (self.rate * REACHED) if work else 0.0


def say_cost(seconds: float, memory: float) -> str:
    """About how long and how much memory, in words."""
    for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if seconds >= 2 * size or size == 1:
            long = f"about {seconds / size:.0f} {unit}"
            break
    return long + (f" and {memory / 1e9:.1f} GB of memory" if memory else "")


def plan_run(recipe: Recipe, data: str | None = None) -> RunPlan:
    """Estimate a run of ``recipe``: sizes of its encoders, operations, memory, and what is not at hand.

    Nothing is trained, encoded or downloaded but GAP itself, as always; parts that are missing are named, and their
    published numbers are used.
    """
    missing: list[str] = []
    try:
        recipe, train, test = corpora(recipe, data)
        rows = (train.name, len(train)), (test.name, len(test))
        characters = _length(train, test)
    except DataNotFoundError as error:
        missing.append(str(error))
        rows, characters = (_published(recipe.train), _published(recipe.test)), _CHARACTERS
    for part in recipe.members:
        missing += _not_at_hand(create(part.name, **part.settings))
    return _plan(recipe, rows, characters, missing)


def plan_of(recipe: Recipe, train: Corpus, test: Corpus) -> RunPlan:
    """Estimate a run of ``recipe`` on these rows, whose parts are all at hand."""
    return _plan(recipe, ((train.name, len(train)), (test.name, len(test))), _length(train, test), ())


def _length(train: Corpus, test: Corpus) -> float:
    return float(np.mean([len(example.text) for example in [*train, *test]]))


def _plan(
    recipe: Recipe, rows: tuple[tuple[str, int], tuple[str, int]], characters: float, missing: Iterable[str]
) -> RunPlan:
    (_, fitted), (_, held) = rows
    pieces = characters / CHARACTERS_PER_PIECE + SPECIAL_PIECES
    share = (recipe.folds - 1) / recipe.folds
    counts = RowCounts(fitted * share, fitted * (1 - share) + held, fitted + held, pieces)
    machine, rate = _machine()
    members = []
    for part in recipe.members:
        member = create(part.name, **part.settings)
        encoder = getattr(member, "encoder", None)
        has_encoder = "encoder" in member.get_params()
        size = encoder_size(encoder) if has_encoder else None
        work = member.work(size, counts) if size else None
        seconds = None if work is None else (work.shared + recipe.folds * work.fold) / (rate * REACHED)
        name = (EMBEDDED if is_embedded(encoder) else Path(str(encoder)).name) if has_encoder else None
        models = recipe.folds * (work.models if work else 1)
        members.append(MemberPlan(part.label, name, size.parameters if size else None, models, work, seconds))
    return RunPlan(recipe, *rows, pieces, tuple(members), tuple(dict.fromkeys(missing)), machine, rate)


def _published(splits: tuple[str, ...]) -> tuple[str, int]:
    """Name and number of rows of splits that are not at hand."""
    names = [f"gap-{name}" if name in SPLITS else name for name in splits]
    return "+".join(names), sum(DATASETS[name].rows or 0 for name in names if name in DATASETS)


def _not_at_hand(member: Member) -> list[str]:
    """What a member reads that is not there, in words."""
    settings = member.get_params()
    missing = []
    if is_at_hand(settings.get("encoder")):
        read = member.reads()
    else:
        missing.append(
            f"encoder {settings['encoder']}: neither a folder nor in the hub's cache; a run would download it"
        )
        # what a member reads may depend on its encoder; these settings say it by themselves
        read = {
            key: settings[key]
            for key in ("parser", "clusters", "teacher", "extra", "blocks")
            if key in settings
        }
    for setting, resolve in READS.items():
        if read.get(setting, False) is not False:
            try:
                resolve(read[setting])
            except GapstackError as error:
                missing.append(str(error))
    return missing


def _machine() -> tuple[str, float]:
    """Name of the device, and its rate in products of matrices as large as a layer's, measured in a moment."""
    device = processes().device
    dtype = fastest_dtype(device)
    left, right = (torch.ones(*shape, dtype=dtype, device=device) for shape in ((1024, 1024), (1024, 4096)))
    took: list[float] = []
    started = time.perf_counter()
    while len(took) < 2 or time.perf_counter() - started < _SECONDS:
        before = time.perf_counter()
        float((left @ right)[0, 0])  # waits for the device; the first product warms up
        took.append(time.perf_counter() - before)
    # the fastest: the others waited for whatever else the machine does
    operations, seconds = 2 * 1024 * 1024 * 4096, min(took)
    threads = f", {torch.get_num_threads()} threads" if device.type == "cpu" else ""
    return f"{device.type}{threads}, {str(dtype).removeprefix('torch.')}", operations / seconds
