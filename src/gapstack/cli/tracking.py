"""Runs in a tracking service, MLflow or Weights & Biases: settings, learning curves, scores, identity.

    with tracking("mlflow", recipe) as tracker:
        finished = run(recipe, train, test, on_fold=tracker.fold)
        tracker.finish(finished, score_run(finished))

The services' own variables (``MLFLOW_TRACKING_URI``, ``WANDB_PROJECT``, ...) decide where the run goes. The trackers of
accelerate are not used: they cannot mark a run as failed, nor log a curve at steps of its own.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from gapstack.cli.tables import run_identity
from gapstack.comparison.learning_curves import learning_curves
from gapstack.comparison.results import PartScores
from gapstack.errors import ExtraError, RemoteError
from gapstack.evaluation import METRICS
from gapstack.runs import Recipe, Run, RunFolder
from gapstack.types import Floats


class Tracker(ABC):
    """Sends a run to a service; :meth:`fold` is a callback of :func:`gapstack.runs.run`.

    Names have slashes. ``failures`` are the service's exceptions, and ``address`` says where the run is.
    """

    title: str
    failures: tuple[type[Exception], ...]
    address: str

    @abstractmethod
    def _begin(self, name: str) -> None: ...

    @abstractmethod
    def _settings(self, values: Mapping[str, str]) -> None: ...

    @abstractmethod
    def _curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        """Send values (k,) of a training at these updates (k,); NaN for missing ones."""

    @abstractmethod
    def _scores(self, values: Mapping[str, float]) -> None: ...

    @abstractmethod
    def _close(self, finished: bool) -> None: ...

    def fold(self, folder: RunFolder, label: str, fold: int) -> None:
        """Send the learning curves of a finished fold, if its member is fine-tuned."""
        for number, curve in enumerate(learning_curves(folder, label, [fold]), 1):
            losses = {"loss": curve.training, "validation": curve.validation}
            self._curve(f"{label}/fold-{fold}/training-{number}", curve.updates, losses)

    def finish(self, run: Run, parts: Sequence[PartScores]) -> None:
        """Send the scores of a finished run, and the identity of each of its results."""
        identity = run_identity(run.folder)
        results = {
            one["label"]: {**one["identity"], "versions": one["versions"]} for one in identity["results"]
        }
        self._settings(_flat({"identity": {**identity["shared"], **results}}))
        self._scores(scores_by_name(parts))


class _MLflow(Tracker):
    title = "MLflow"

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError:
            raise ExtraError(self.title, "mlflow") from None
        self._mlflow, self.failures = mlflow, (mlflow.MlflowException,)

    def _begin(self, name: str) -> None:
        self._id = self._mlflow.start_run(run_name=name).info.run_id
        # a database's address may contain a password
        place = re.sub(r"//[^/@]*@", "//", self._mlflow.get_tracking_uri())
        self.address = f"MLflow run {self._id} in {place}"

    def _settings(self, values: Mapping[str, str]) -> None:
        self._mlflow.log_params({self._name(name): value for name, value in values.items()})

    def _curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        now = int(time.time() * 1000)
        metrics = [
            self._mlflow.entities.Metric(self._name(f"{name}/{key}"), float(value), now, int(update))
            for key, column in values.items()
            for update, value in zip(updates, column, strict=True)
            if np.isfinite(value)
        ]
        self._mlflow.MlflowClient().log_batch(self._id, metrics)

    def _scores(self, values: Mapping[str, float]) -> None:
        self._mlflow.log_metrics({self._name(name): value for name, value in values.items()})

    def _close(self, finished: bool) -> None:
        self._mlflow.end_run("FINISHED" if finished else "FAILED")

    @staticmethod
    def _name(name: str) -> str:
        """A name without the characters that MLflow refuses."""
        return re.sub(r"[^/\w. :-]", "_", name)


class _WeightsAndBiases(Tracker):
    title = "Weights & Biases"

    def __init__(self) -> None:
        try:
            import wandb
        except ImportError:
            raise ExtraError(self.title, "wandb") from None
        self._wandb, self.failures = wandb, (wandb.Error,)

    def _begin(self, name: str) -> None:
        # printed lines are not sent
        self._run = self._wandb.init(name=name, settings=self._wandb.Settings(console="off", quiet=True))
        offline = self._run.offline
        self.address = f"wandb sync {self._run.settings.sync_dir}" if offline else f"W&B run {self._run.url}"

    def _settings(self, values: Mapping[str, str]) -> None:
        self._run.config.update(dict(values))

    def _curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        axis = f"{name}/update"  # an axis for each training, since W&B's own steps only increase
        self._run.define_metric(f"{name}/*", step_metric=axis)
        for row, update in enumerate(updates):
            line = {f"{name}/{key}": float(column[row]) for key, column in values.items()}
            known = {key: value for key, value in line.items() if np.isfinite(value)}
            self._run.log({axis: int(update)} | known)

    def _scores(self, values: Mapping[str, float]) -> None:
        self._run.summary.update(dict(values))

    def _close(self, finished: bool) -> None:
        self._run.finish(exit_code=0 if finished else 1)


SERVICES: Mapping[str, type[Tracker]] = {"mlflow": _MLflow, "wandb": _WeightsAndBiases}


@contextmanager
def tracking(service: str, recipe: Recipe) -> Iterator[Tracker]:
    """Track a run while the block lasts; with an error, the service's run ends as failed.

    Raises ExtraError if the service is not installed, RemoteError if it refuses what it is sent.
    """
    tracker = SERVICES[service]()
    try:
        tracker._begin(recipe.name)
        try:
            parts = {
                kind: {part.label: {"name": part.name, "settings": part.settings} for part in found}
                for kind, found in (("members", recipe.members), ("stackers", recipe.stackers))
            }
            tracker._settings(_flat(asdict(recipe) | parts))
            yield tracker
        except BaseException:
            with suppress(*tracker.failures):  # the first error is the one to show
                tracker._close(finished=False)
            raise
        tracker._close(finished=True)
    except tracker.failures as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RemoteError(
            f"{tracker.title} refused the run ({reason}); finished folds are kept: fix this or leave --log out, and "
            "run again"
        ) from error


def scores_by_name(parts: Sequence[PartScores]) -> dict[str, float]:
    """All scores of a run and the bounds of their intervals: ``stack/held_out/logloss``, ``..._low``, ``..._high``."""
    named: dict[str, float | None] = {}
    for part in parts:
        for label, scores in part.systems.items():
            place = f"{label}/{part.name.replace(' ', '_')}"
            named |= {f"{place}/{metric}": scores.value(metric) for metric in METRICS}
            for metric, interval in part.intervals.get(label, {}).items():
                named |= {f"{place}/{metric}_low": interval.low, f"{place}/{metric}_high": interval.high}
    return {name: value for name, value in named.items() if value is not None and np.isfinite(value)}


def _flat(table: Mapping[str, Any], within: str = "") -> dict[str, str]:
    """Values of nested tables as text, by path: ``members/probert/settings/training/epochs``."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{within}{key}/")
        else:
            flat[f"{within}{key}"] = value if isinstance(value, str) else json.dumps(value, default=str)
    return flat
