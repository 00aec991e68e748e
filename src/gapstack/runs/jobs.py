"""One member on one fold: the unit of work of a run."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.errors import MismatchError
from gapstack.members import create
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

    def run(self, folder: RunFolder) -> None:
        """Execute the job and write its result to ``folder`` atomically; a killed training resumes.

        Raises
        ------
        MismatchError
            If something that decides the result changes in the meantime.
        """
        started = time.perf_counter()
        identity = self.identity
        key = self._key(identity)
        fitted_rows, held_rows = self.folds.split(self.fold)
        held = self.train.take(held_rows)
        place = folder.unfinished(self.part.label, self.fold) / key
        with checkpoint_context(
            place, checkpoint_seconds=self.checkpoint_seconds, tensorboard=self.tensorboard
        ):
            member = create(self.part.name, **self.part.settings).fit(self.train.take(fitted_rows))
        held_probabilities, test_probabilities = member.predict_proba(held), member.predict_proba(self.test)
        seconds = time.perf_counter() - started
        changed = changes(identity, self.identity)
        if changed:
            raise MismatchError(
                f"{' and '.join(changed)} changed while {self.name} was running, so that its result is of "
                "neither; run again"
            )
        record = {
            **{"key": key, "seconds": seconds, "fold": self.fold, "parameters": member.parameters()},
            **{"identity": identity, "versions": versions()},
        }
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
