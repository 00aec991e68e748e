"""Plan of a run: what it would train, what is missing, and how long an earlier run of the same name took."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapstack.data.gap_data import SPLITS
from gapstack.data.sources import DATASETS
from gapstack.display.render import Column, Section, Table
from gapstack.encoding.encoder_files import EMBEDDED, is_available, is_embedded
from gapstack.errors import DataNotFoundError, GapstackError
from gapstack.members import create
from gapstack.members.member import Member
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.stored_results import finished_jobs


@dataclass(frozen=True)
class MemberPlan:
    """A member, the encoders that it reads, its number of trainings, and their seconds in an earlier run or None."""

    label: str
    encoders: tuple[str, ...]
    trainings: int
    """Number of models over all folds and seeds."""
    seconds: float | None


@dataclass(frozen=True)
class RunPlan:
    """A run that has not been started: rows (name and number), members, and missing inputs."""

    recipe: Recipe
    train: tuple[str, int]
    test: tuple[str, int]
    members: tuple[MemberPlan, ...]
    missing: tuple[str, ...]

    @property
    def trainings(self) -> int:
        """Number of trainings of all members."""
        return sum(member.trainings for member in self.members)

    @property
    def seconds(self) -> float | None:
        """Seconds of all members in an earlier run; None if one of them has not been run."""
        seconds = [member.seconds for member in self.members]
        return None if None in seconds else sum(each for each in seconds if each is not None)

    def table(self) -> Table:
        """Table of the members: encoders, trainings, and the seconds of an earlier run."""
        columns = [
            Column("encoder", "encoder"),
            Column("trainings", "trainings"),
            Column("seconds", "seconds before", 0),
        ]
        rows = [
            (
                member.label,
                {
                    "encoder": ", ".join(member.encoders) or None,
                    "trainings": member.trainings,
                    "seconds": member.seconds,
                },
            )
            for member in self.members
        ]
        rows.append(("all members", {"trainings": self.trainings, "seconds": self.seconds}))
        recipe, (trained, count), (held, held_count) = self.recipe, self.train, self.test
        stackers = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
        caption = (
            f"Trained on {trained}: {count:,} rows, {recipe.labels} labels, {recipe.folds} folds by page, seed "
            f"{recipe.seed}; held out {held}: {held_count:,} rows; stack: {stackers}. A training is one model of one "
            "fold. Seconds are those of an earlier run of this name, parses and the stack not included."
        )
        title = f"{recipe.name}: {recipe.title}"
        return Table(columns, [Section("", rows)], title=title, caption=caption, name_title="member")


def plan_run(recipe: Recipe) -> RunPlan:
    """Count trainings of ``recipe`` and list missing inputs; nothing is trained, and only GAP itself is downloaded."""
    missing, left_out = list[str](), list[str]()
    try:
        recipe, train, test = corpora(recipe)
        recipe, left_out = recipe.with_available_resolvers(train)
        rows = (train.name, len(train)), (test.name, len(test))
    except DataNotFoundError as error:
        missing.append(str(error))
        rows = _published_rows(recipe.train), _published_rows(recipe.test)
    try:
        jobs = finished_jobs(RunFolder(home() / "models" / recipe.name), recipe)
    except GapstackError:  # a damaged record has no seconds
        jobs = {}
    plans: list[MemberPlan] = []
    for part in recipe.members:
        member = create(part.name, **part.settings)
        missing += _missing_inputs(member)
        seconds = [job["seconds"] for job in jobs.get(part.label, ())]
        plans.append(
            MemberPlan(
                part.label,
                tuple(_display_name(name) for name in _encoders(member)),
                recipe.folds * getattr(member, "seeds", 1),
                float(np.mean(seconds)) * recipe.folds if seconds else None,
            )
        )
    missing += left_out
    return RunPlan(recipe, *rows, tuple(plans), tuple(dict.fromkeys(missing)))


def _encoders(member: Member) -> list[str | None]:
    """Encoders that a member's settings name; None for the embedded one."""
    reads = Member.reads(member).items()
    return [read.value for name, read in reads if read.kind.is_encoder and (read.value or name == "encoder")]


def _display_name(encoder: str | None) -> str:
    return EMBEDDED if encoder is None or is_embedded(encoder) else Path(encoder).name


def _published_rows(splits: Sequence[str]) -> tuple[str, int]:
    """Name and published number of rows of splits that are not on this machine."""
    names = [f"gap-{name}" if name in SPLITS else name for name in splits]
    return "+".join(names), sum(DATASETS[name].rows or 0 for name in names if name in DATASETS)


def _missing_inputs(member: Member) -> list[str]:
    """Missing inputs of a member, a sentence each."""
    missing = [
        f"encoder {name}: neither a folder nor in the hub's cache; a run would download it"
        for name in _encoders(member)
        if not is_available(name)
    ]
    # the encoder may decide which other inputs are read: without it, all that the settings name are checked
    declared = [read for read in Member.reads(member).values() if not read.kind.is_encoder]
    for read in declared if missing else member.reads().values():
        try:
            read.digest()
        except GapstackError as error:
            missing.append(str(error))
    return missing
