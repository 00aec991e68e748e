"""Runs in a tracking service, MLflow or Weights & Biases: settings, learning curves, scores, identity.

    with tracking("mlflow", recipe) as tracker:
        finished = run(recipe, train, test, on_fold=tracker.fold)
        tracker.finish(finished, score_run(finished))

The services' own variables (``MLFLOW_TRACKING_URI``, ``WANDB_PROJECT``, ...) say where the run goes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from gapstack.comparison.learning_curves import learning_curves
from gapstack.comparison.results import PartScores
from gapstack.errors import ExtraError, RemoteError
from gapstack.registry import Entry, Registry
from gapstack.report.identity import run_identity
from gapstack.runs import Recipe, Run, RunFolder
from gapstack.scoring import METRICS
from gapstack.types import Floats


class Service(Protocol):
    """What a tracking service takes of one run; names have slashes.

    ``failures`` are the exceptions by which it refuses, ``address`` says where the run is to be seen once it has begun.
    """

    failures: tuple[type[Exception], ...]
    address: str

    def begin(self, name: str) -> None:
        """Begin a run."""

    def settings(self, values: Mapping[str, str]) -> None:
        """Add what decides the run."""

    def curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        """Add the values (k,) of a training after these updates (k,); NaN where there is none."""

    def scores(self, values: Mapping[str, float]) -> None:
        """Add final scores."""

    def close(self, finished: bool) -> None:
        """End the run, as finished or as failed."""


class MLflow:
    """A run of MLflow's, in the experiment that is set."""

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError:
            raise ExtraError("MLflow", "mlflow") from None
        self._mlflow = mlflow
        self.failures: tuple[type[Exception], ...] = (mlflow.MlflowException,)
        self.address = ""

    def begin(self, name: str) -> None:
        """Begin a run."""
        self._id = self._mlflow.start_run(run_name=name).info.run_id
        # a database's address may hold a password
        place = re.sub(r"//[^/@]*@", "//", self._mlflow.get_tracking_uri())
        self.address = f"MLflow run {self._id} in {place}"

    def settings(self, values: Mapping[str, str]) -> None:
        """Add parameters."""
        self._mlflow.log_params({_allowed(name): value for name, value in values.items()})

    def curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        """Add metrics by step."""
        now = int(time.time() * 1000)
        metrics = [
            self._mlflow.entities.Metric(_allowed(f"{name}/{key}"), float(value), now, int(update))
            for key, column in values.items()
            for update, value in zip(updates, column, strict=True)
            if np.isfinite(value)
        ]
        self._mlflow.MlflowClient().log_batch(self._id, metrics)

    def scores(self, values: Mapping[str, float]) -> None:
        """Add metrics."""
        self._mlflow.log_metrics({_allowed(name): value for name, value in values.items()})

    def close(self, finished: bool) -> None:
        """End the run."""
        self._mlflow.end_run("FINISHED" if finished else "FAILED")


def _allowed(name: str) -> str:
    """A name without the characters that MLflow refuses."""
    return re.sub(r"[^/\w. :-]", "_", name)


class WeightsAndBiases:
    """A run of Weights & Biases', in the project that is set; offline with ``WANDB_MODE=offline``."""

    def __init__(self) -> None:
        try:
            import wandb
        except ImportError:
            raise ExtraError("Weights & Biases", "wandb") from None
        self._wandb = wandb
        self.failures: tuple[type[Exception], ...] = (wandb.Error,)
        self.address = ""

    def begin(self, name: str) -> None:
        """Begin a run."""
        # what a command prints is not sent
        self._run = self._wandb.init(name=name, settings=self._wandb.Settings(console="off", quiet=True))
        offline = self._run.offline
        self.address = f"wandb sync {self._run.settings.sync_dir}" if offline else f"W&B run {self._run.url}"

    def settings(self, values: Mapping[str, str]) -> None:
        """Add to the configuration."""
        self._run.config.update(dict(values))

    def curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        """Add a history with an axis of its own, since W&B's steps only rise."""
        axis = f"{name}/update"
        self._run.define_metric(f"{name}/*", step_metric=axis)
        for row, update in enumerate(updates):
            line = {f"{name}/{key}": float(column[row]) for key, column in values.items()}
            self._run.log(
                {axis: int(update)} | {key: value for key, value in line.items() if np.isfinite(value)}
            )

    def scores(self, values: Mapping[str, float]) -> None:
        """Add to the summary."""
        self._run.summary.update(dict(values))

    def close(self, finished: bool) -> None:
        """End the run, and wait until it is sent."""
        self._run.finish(exit_code=0 if finished else 1)


SERVICES: Registry[type[Service]] = Registry(
    "tracking service",
    {
        "mlflow": Entry(MLflow, "MLflow", needs="the extra mlflow"),
        "wandb": Entry(WeightsAndBiases, "Weights & Biases", needs="the extra wandb"),
    },
)


class Tracker:
    """What a run sends: the callback of :func:`gapstack.runs.run`, and the end.

    Parameters
    ----------
    service : Service
        That has begun.
    """

    def __init__(self, service: Service):
        self._service = service
        self.address = service.address

    def fold(self, folder: RunFolder, label: str, fold: int) -> None:
        """Send the evaluations of each training of a finished fold; there are some if its member is fine-tuned."""
        for number, curve in enumerate(learning_curves(folder, label, [fold]), 1):
            losses = {"loss": curve.training, "validation": curve.validation}
            self._service.curve(f"{label}/fold-{fold}/training-{number}", curve.updates, losses)

    def finish(self, run: Run, parts: Sequence[PartScores]) -> None:
        """Send the scores of a finished run, and what each of its results was computed from."""
        identity = run_identity(run.folder)
        of_results = {
            result.label: {**result.identity, "versions": result.versions} for result in identity.results
        }
        self._service.settings(_flat({"identity": {**identity.shared, **of_results}}))
        self._service.scores(scores_by_name(parts))


@contextmanager
def tracking(service: str, recipe: Recipe) -> Iterator[Tracker]:
    """Track a run while the block lasts; with an error, the service's run ends as failed.

    Raises
    ------
    UnknownNameError
        If there is no such service.
    ExtraError
        If it is not installed.
    RemoteError
        If it does not take what it is sent.
    """
    tracked = SERVICES[service]()
    try:
        tracked.begin(recipe.name)
        try:
            tracked.settings(_settings(recipe))
            yield Tracker(tracked)
        except BaseException:
            with suppress(*tracked.failures):  # or the first error would be lost
                tracked.close(finished=False)
            raise
        tracked.close(finished=True)
    except tracked.failures as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RemoteError(
            f"{SERVICES.entry(service).about} does not take the run ({reason}); finished folds are kept: mend that or "
            "leave --log out, and run again"
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


def _settings(recipe: Recipe) -> dict[str, str]:
    """A recipe by names: ``folds``, ``members/probert/settings/training/epochs``."""
    table = {**asdict(recipe), **{kind: {} for kind in ("members", "stackers")}}
    for kind in ("members", "stackers"):
        for part in getattr(recipe, kind):
            table[kind][part.label] = {"name": part.name, "settings": part.settings}
    return _flat(table)


def _flat(table: Mapping[str, Any], within: str = "") -> dict[str, str]:
    """Values of nested tables as text, by path."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{within}{key}/")
        else:
            flat[f"{within}{key}"] = value if isinstance(value, str) else json.dumps(value, default=str)
    return flat
