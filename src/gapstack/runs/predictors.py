"""Reading any predictor: a saved member or stack, a run or one of its systems, or a file of answers.

This stands in ``runs``, the lowest room that knows runs beside members.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.corpus.corpus import one_hot
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import sha256
from gapstack.members import store
from gapstack.members.predictor import Predictor
from gapstack.resolvers.clusters import Clusters, read_clusters
from gapstack.runs import hub
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import find_run, home
from gapstack.scoring import read_predictions
from gapstack.types import Probabilities

PROBABILITIES = (".csv", ".csv.gz", ".csv.xz")
CLUSTERS = (".jsonl", ".jsonl.gz", ".jsonl.xz")


SHIPPED = "gapstack-small"
"""The model that answers where none is named: recipe ``small``, fitted on all of GAP by ``scripts/build_small.py``."""


def shipped_model() -> Path:
    """Folder of :data:`SHIPPED`, in the package as a wheel has it, or in a checkout's ``models``.

    Raises
    ------
    DataNotFoundError
        If it is at neither place.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package / SHIPPED, package.parents[1] / "models" / SHIPPED)
    for place in places:
        if store.is_saved(place):
            return place
    raise DataNotFoundError(
        f"no model is named and {SHIPPED} is at none of {', '.join(map(str, places))}. Name a saved member, a run or "
        "a stack, or build it with scripts/build_small.py"
    )


class PredictionFile(Predictor):
    """Base of files with what somebody else's system says of stored rows, known by their ids.

    What its makers trained on is not known here.
    """

    stored = True

    def __init__(self, path: Path):
        self.path = Path(path)

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the file."""
        return {"file": f"{self.path.name} {sha256(self.path)}"}

    def save(self, folder: Path) -> None:
        """Copy the file."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.path, Path(folder) / self.path.name)


class FileOfProbabilities(PredictionFile):
    """A CSV of probabilities (ID,A,B,NEITHER)."""

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Read the rows of ``corpus``; DataError for decisions without probabilities, or other ids."""
        probabilities = read_predictions(self.path, corpus).probabilities
        if probabilities is None:
            raise DataError(
                "decisions, no probabilities", place=Place(self.path), expected="a submission CSV"
            )
        return probabilities


class FileOfClusters(PredictionFile):
    """A JSONL of a resolver's clusters (:mod:`gapstack.resolvers.clusters`).

    The pronoun's cluster decides as in ``gap clusters-to-gap``: the name that it has is the answer, with certainty;
    both names, none of them, and no clusters for a row all count as NEITHER.
    """

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Decide each row with certainty; DataError for clusters of other texts."""
        decided = self._clusters(corpus).decide(corpus)
        one = decided[:, Label.A] != decided[:, Label.B]
        return one_hot(np.where(one, np.where(decided[:, Label.A], Label.A, Label.B), Label.NEITHER))

    def remark(self, corpus: Corpus) -> str:
        """Which resolver, how many rows it covers, and in how many both names are in the pronoun's cluster."""
        clusters = self._clusters(corpus)
        covered, both = clusters.covers(corpus).sum(), clusters.decide(corpus).all(axis=1).sum()
        return (
            f"is what {clusters.name} decided: clusters of {covered:,} of {len(corpus):,} rows, both "
            f"names in {both:,} of them; both, none and saying nothing count as neither"
        )

    def _clusters(self, corpus: Corpus) -> Clusters:
        return read_clusters(self.path, corpus)


def prediction_file(path: Path) -> PredictionFile:
    """Give the predictor of a file by its suffix, of :data:`PROBABILITIES` or :data:`CLUSTERS`; else DataError."""
    if path.name.endswith(PROBABILITIES):
        return FileOfProbabilities(path)
    if path.name.endswith(CLUSTERS):
        return FileOfClusters(path)
    raise DataError(
        "no file of answers by its name", place=Place(path), expected=", ".join((*PROBABILITIES, *CLUSTERS))
    )


def save(predictor: Predictor, folder: str | Path) -> None:
    """Write a predictor into ``folder``; :func:`load` reads it. Raises as the predictor's own ``save``."""
    predictor.save(Path(folder))


def load(name: str | Path | None = None, *, keep: bool = False) -> Predictor:
    """Read a predictor: a saved member's folder, ``RUN`` or ``RUN:MEMBER``, a file of answers, or ``owner/name``.

    The last is a repository of the Hub with a saved member or a run (``owner/name:MEMBER``; of a revision,
    ``owner/name@REVISION``). Without a name it is the model that comes with gapstack, :data:`SHIPPED`. ``keep`` holds
    a run's fitted members in memory, for who predicts many times.

    Raises
    ------
    DataNotFoundError
        If there is nothing of this name.
    DataError, MismatchError
        If it is damaged, not finished, or no predictor, or would not predict as it did.
    """
    path = shipped_model() if name is None else Path(name)
    if store.is_saved(path):
        return store.load(path)
    run = find_run(str(name))
    if run is not None:
        run_folder, label = run
        fitted = FittedRun(run_folder, [label] if label else (), keep=keep)
        return fitted.systems[label] if label else fitted
    if path.is_file():
        return prediction_file(path)
    repository, _, label = str(name).partition(":")
    if hub.is_repository(repository) and not path.exists():
        folder = str(hub.fetch(repository))
        return load(f"{folder}:{label}" if label else folder, keep=keep)
    raise DataNotFoundError(
        f"{name} is no run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}"
    )
