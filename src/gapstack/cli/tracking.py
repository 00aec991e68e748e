"""Runs in a tracking service, MLflow or Weights & Biases: settings, learning curves, scores, identity.

    with tracking("mlflow", recipe) as tracker:
        finished = run(recipe, train, test, on_fold=partial(log_fold, tracker))
        log_results(tracker, finished, score_run(finished))

The services' own variables (``MLFLOW_TRACKING_URI``, ``WANDB_PROJECT``, ...) decide where the run goes. The trackers of
accelerate are not used: they cannot mark a run as failed, nor log a curve at steps of its own.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from gapstack.comparison.entries import learning_curves
from gapstack.comparison.results import PartScores
from gapstack.errors import RemoteError
from gapstack.evaluation import METRICS
from gapstack.registry import import_extra
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Recipe
from gapstack.runs.results import Run, run_identity
from gapstack.types import Floats


class _MLflow:
    """A run in MLflow; ``address`` says where it is."""

    title, failure = "MLflow", "MlflowException"

    def __init__(self, mlflow: Any, name: str) -> None:
        self._mlflow, self._id = mlflow, mlflow.start_run(run_name=name).info.run_id
        # a database's address may contain a password
        place = re.sub(r"//[^/@]*@", "//", mlflow.get_tracking_uri())
        self.address = f"MLflow run {self._id} in {place}"

    def settings(self, values: Mapping[str, str]) -> None:
        self._mlflow.log_params({self._name(name): value for name, value in values.items()})

    def curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        """Add values (k,) of a training at these updates (k,); NaNs are left out."""
        now = int(time.time() * 1000)
        metrics = [
            self._mlflow.entities.Metric(self._name(f"{name}/{key}"), float(value), now, int(update))
            for key, column in values.items()
            for update, value in zip(updates, column, strict=True)
            if np.isfinite(value)
        ]
        self._mlflow.MlflowClient().log_batch(self._id, metrics)

    def scores(self, values: Mapping[str, float]) -> None:
        self._mlflow.log_metrics({self._name(name): value for name, value in values.items()})

    def close(self, *, finished: bool) -> None:
        """End the run, as failed unless it is finished."""
        self._mlflow.end_run("FINISHED" if finished else "FAILED")

    @staticmethod
    def _name(name: str) -> str:
        """A name without the characters that MLflow refuses."""
        return re.sub(r"[^/\w. :-]", "_", name)


class _WeightsAndBiases:
    """A run in Weights & Biases, with the methods of :class:`_MLflow`."""

    title, failure = "Weights & Biases", "Error"

    def __init__(self, wandb: Any, name: str) -> None:
        # printed lines are not sent
        self._run = wandb.init(name=name, settings=wandb.Settings(console="off", quiet=True))
        offline = self._run.offline
        self.address = f"wandb sync {self._run.settings.sync_dir}" if offline else f"W&B run {self._run.url}"

    def settings(self, values: Mapping[str, str]) -> None:
        self._run.config.update(dict(values))

    def curve(self, name: str, updates: Floats, values: Mapping[str, Floats]) -> None:
        axis = f"{name}/update"  # an axis for each training, since W&B's own steps only increase
        self._run.define_metric(f"{name}/*", step_metric=axis)
        for row, update in enumerate(updates):
            line = {f"{name}/{key}": float(column[row]) for key, column in values.items()}
            known = {key: value for key, value in line.items() if np.isfinite(value)}
            self._run.log({axis: int(update)} | known)

    def scores(self, values: Mapping[str, float]) -> None:
        self._run.summary.update(dict(values))

    def close(self, *, finished: bool) -> None:
        self._run.finish(exit_code=0 if finished else 1)


Tracker = _MLflow | _WeightsAndBiases


@contextmanager
def tracking(service: str, recipe: Recipe) -> Iterator[Tracker]:
    """Track a run in mlflow or wandb while the block lasts; with an error, the service's run ends as failed."""
    kind = _MLflow if service == "mlflow" else _WeightsAndBiases
    module = import_extra(service, service)
    failure = getattr(module, kind.failure)
    try:
        tracker = kind(module, recipe.name)
        try:
            parts = {
                key: {part.label: {"name": part.name, "settings": part.settings} for part in found}
                for key, found in (("members", recipe.members), ("stackers", recipe.stackers))
            }
            tracker.settings(_flat(asdict(recipe) | parts))
            yield tracker
        except BaseException:
            with suppress(failure):  # the first error is the one to show
                tracker.close(finished=False)
            raise
        tracker.close(finished=True)
    except failure as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RemoteError(
            f"{kind.title} refused the run ({reason}); finished folds are kept: fix this or leave --log out, and run "
            "again"
        ) from error


def log_fold(tracker: Tracker, folder: RunFolder, label: str, fold: int) -> None:
    """Send the learning curves of a finished fold, if its member is fine-tuned."""
    for number, curve in enumerate(learning_curves(folder, label, [fold]), 1):
        losses = {"loss": curve.training, "validation": curve.validation}
        tracker.curve(f"{label}/fold-{fold}/training-{number}", curve.updates, losses)


def log_results(tracker: Tracker, run: Run, parts: Sequence[PartScores]) -> None:
    """Send the scores of a finished run, and the identity of each of its results."""
    identity = run_identity(run.folder)
    results = {one["label"]: {**one["identity"], "versions": one["versions"]} for one in identity["results"]}
    tracker.settings(_flat({"identity": {**identity["shared"], **results}}))
    # stack/held_out/logloss, and with _low and _high the bounds of its interval
    named: dict[str, float | None] = {}
    for part in parts:
        for label, scores in part.systems.items():
            place = f"{label}/{part.name.replace(' ', '_')}"
            named |= {f"{place}/{metric}": scores.value(metric) for metric in METRICS}
            for metric, interval in part.intervals.get(label, {}).items():
                named |= {f"{place}/{metric}_low": interval.low, f"{place}/{metric}_high": interval.high}
    tracker.scores({name: value for name, value in named.items() if value is not None and np.isfinite(value)})


def _flat(table: Mapping[str, Any]) -> dict[str, str]:
    """Values of nested tables as text, by path: ``members/probert/settings/training/epochs``."""
    (values,) = pd.json_normalize(dict(table), sep="/").to_dict("records")
    return {
        str(key): value if isinstance(value, str) else json.dumps(value, default=str)
        for key, value in values.items()
    }
