"""One member on one fold: the unit of work that is done once and never repeated."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.files import fingerprint, write_json
from gapstack.members import create
from gapstack.members.store import save
from gapstack.runs.code import code_fingerprint
from gapstack.runs.folder import RunFolder, write_probabilities
from gapstack.runs.recipe import Part
from gapstack.training.checkpoint_context import checkpoint_context
from gapstack.training.checkpoints import NAME as CHECKPOINT


@dataclass(frozen=True)
class Job:
    """Fit ``part`` on all folds but ``fold``, then give probabilities of that fold and of ``test``.

    ``checkpoint_seconds`` and ``tensorboard`` go to the :class:`~gapstack.training.CheckpointContext` of the fit; they
    decide nothing.
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
        """What to call it on a screen."""
        return f"{self.part.label}, fold {self.fold}"

    @property
    def key(self) -> str:
        """Hash of everything that decides the result."""
        corpora = (self.train.fingerprint, self.train.label_fingerprint, self.test.fingerprint)
        how = (self.part.name, self.part.settings, self.fold, self.folds.fingerprint)
        return fingerprint(code_fingerprint(self.part.name), *corpora, *how)

    def is_done(self, folder: RunFolder) -> bool:
        """Whether ``folder`` holds this very result."""
        record = folder.job(self.part.label, self.fold)
        return record is not None and record["key"] == self.key

    def run(self, folder: RunFolder) -> None:
        """Do the work and leave it in ``folder``, whole; a training that was killed goes on where it was."""
        started = time.perf_counter()
        fitted_rows, held_rows = self.folds.split(self.fold)
        held = self.train.take(held_rows)
        place = folder.unfinished(self.part.label, self.fold) / self.key
        with checkpoint_context(
            place, checkpoint_seconds=self.checkpoint_seconds, tensorboard=self.tensorboard
        ):
            member = create(self.part.name, **self.part.settings).fit(self.train.take(fitted_rows))
        held_probabilities, test_probabilities = member.predict_proba(held), member.predict_proba(self.test)
        seconds = time.perf_counter() - started
        record = {"key": self.key, "seconds": seconds, "fold": self.fold, "parameters": member.parameters()}
        with folder.finishing(self.part.label, self.fold) as done:
            write_probabilities(done / "held.parquet", held.ids, held_probabilities)
            write_probabilities(done / "test.parquet", self.test.ids, test_probabilities)
            save(member, self.part.name, done / "member")
            for checkpoint in place.rglob(CHECKPOINT):
                checkpoint.unlink()
            if place.is_dir():  # the evaluations of a training on its way
                place.replace(done / "training")
            write_json(done / "job.json", record)
        shutil.rmtree(place.parent, ignore_errors=True)
