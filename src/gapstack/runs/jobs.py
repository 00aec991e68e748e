"""One member on one fold, or on all of them where it learns them together: the units of work of a run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.errors import MismatchError
from gapstack.members import Member, create
from gapstack.members.inputs import Identity, changes
from gapstack.members.store import save
from gapstack.runs.folder import RunFolder, write_probabilities
from gapstack.runs.identity import key_of, of_part, of_rows
from gapstack.runs.recipe import Part
from gapstack.runs.versions import versions
from gapstack.sealed import seal
from gapstack.training.checkpoint_context import checkpoint_context
from gapstack.training.checkpoints import NAME as CHECKPOINT


@dataclass(frozen=True)
class Job:
    """Fit ``part`` on all folds but ``fold``, then predict that fold and ``test``.

    ``checkpoint_seconds`` and ``tensorboard`` go to the :class:`~gapstack.training.CheckpointContext` of the fit; they
    do not affect the result.
    """

    part: Part
    fold: int
    folds: Folds
    train: Corpus
    test: Corpus
    checkpoint_seconds: float = 120.0
    tensorboard: bool = False

    @property
    def name(self) -> str:
        """Name for display."""
        return f"{self.part.label}, fold {self.fold}"

    @property
    def identity(self) -> Identity:
        """Everything that decides the result, except the number of the fold."""
        return of_rows(self.train, self.test, self.folds) | of_part(self.part)

    @property
    def key(self) -> str:
        """Hash of everything that decides the result."""
        return self._key(self.identity)

    def _key(self, identity: Identity) -> str:
        return key_of(identity, self.fold)

    def is_done(self, folder: RunFolder) -> bool:
        """Whether ``folder`` holds a result of this key."""
        record = folder.job(self.part.label, self.fold)
        return record is not None and record["key"] == self.key

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Itself; see :class:`Together`."""
        return (self,)

    def run(self, folder: RunFolder) -> None:
        """Execute the job and write its result to ``folder`` atomically; a killed training resumes.

        Raises
        ------
        MismatchError
            If something that decides the result changes in the meantime.
        """
        started, identity = time.perf_counter(), self.identity
        with self.checkpoints(folder, identity):
            member = self.member().fit(self.rows(self.fold))
        self.finish(folder, member, identity, time.perf_counter() - started)

    def member(self) -> Member:
        """A new, unfitted member."""
        return create(self.part.name, **self.part.settings)

    def rows(self, fold: int) -> Corpus:
        """Rows to fit on when ``fold`` is held out."""
        return self.train.take(self.folds.split(fold)[0])

    def checkpoints(self, folder: RunFolder, identity: Identity) -> AbstractContextManager[None]:
        """Let what is trained within leave its checkpoints in this job's place."""
        return checkpoint_context(
            self._place(folder, identity),
            checkpoint_seconds=self.checkpoint_seconds,
            tensorboard=self.tensorboard,
        )

    def _place(self, folder: RunFolder, identity: Identity) -> Path:
        return folder.unfinished(self.part.label, self.fold) / self._key(identity)

    def finish(self, folder: RunFolder, member: Member, identity: Identity, seconds: float) -> None:
        """Let ``member``, fitted in ``seconds`` while ``identity`` held, predict, and write the result.

        Raises
        ------
        MismatchError
            If the identity is another one now.
        """
        started = time.perf_counter()
        held = self.train.take(self.folds.split(self.fold)[1])
        held_probabilities, test_probabilities = member.predict_proba(held), member.predict_proba(self.test)
        seconds += time.perf_counter() - started
        changed = changes(identity, self.identity)
        if changed:
            raise MismatchError(
                f"{' and '.join(changed)} changed while {self.name} was running, so that its result is of "
                "neither; run again"
            )
        record = {
            **{"key": self._key(identity), "seconds": seconds, "fold": self.fold},
            **{"parameters": member.parameters(), "identity": identity, "versions": versions()},
        }
        place = self._place(folder, identity)
        with folder.finishing(self.part.label, self.fold) as done:
            write_probabilities(done / "held.parquet", held.ids, held_probabilities)
            write_probabilities(done / "test.parquet", self.test.ids, test_probabilities)
            save(member, self.part.name, done / "member")
            seal(done / "job.json", record, beside=True)
            for checkpoint in place.rglob(CHECKPOINT):
                checkpoint.unlink()
            if place.is_dir():  # evaluations during training
                place.replace(done / "training")  # for information only: no digest
        shutil.rmtree(place.parent, ignore_errors=True)


@dataclass(frozen=True)
class Together:
    """The unfinished folds of a member that learns all folds at once.

    It learns all of them whichever are unfinished, so that a fold that is repeated has the same result.
    """

    jobs: tuple[Job, ...]

    @property
    def part(self) -> Part:
        """The member, as the recipe names it."""
        return self.jobs[0].part

    @property
    def name(self) -> str:
        """Name for display."""
        return f"{self.part.label}, all folds"

    def is_done(self, folder: RunFolder) -> bool:
        """Whether ``folder`` holds all results."""
        return all(job.is_done(folder) for job in self.jobs)

    def run(self, folder: RunFolder) -> None:
        """As :meth:`Job.run`; the time of learning is divided evenly."""
        started, first = time.perf_counter(), self.jobs[0]
        identity = first.identity
        with first.checkpoints(folder, identity):
            members = first.member().fit_each([first.rows(fold) for fold in range(first.folds.k)])
        seconds = (time.perf_counter() - started) / len(self.jobs)
        for job in self.jobs:
            job.finish(folder, members[job.fold], identity, seconds)


def tasks(jobs: Sequence[Job]) -> list[Job | Together]:
    """The jobs, those of a member that learns its folds together as one; they stay in their order."""
    grouped: list[Job | Together] = []
    for _, group in groupby(jobs, lambda job: job.part.label):
        own = tuple(group)
        grouped += [Together(own)] if own[0].member().LEARNS_TOGETHER else own
    return grouped
