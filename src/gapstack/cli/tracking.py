"""Runs in TensorBoard, MLflow or Weights & Biases: settings, learning curves, scores and identity.

The services' own variables (``MLFLOW_TRACKING_URI``, ``WANDB_MODE``, ...) decide where a run goes.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from gapstack.comparison.entries import learning_curves
from gapstack.comparison.results import PartScores
from gapstack.errors import RemoteError, first_line
from gapstack.evaluation import METRICS
from gapstack.registry import import_extra
from gapstack.runs.folder import RunFolder, home
from gapstack.runs.recipe import Recipe
from gapstack.runs.results import Run, run_identity

PROJECT = "gapstack"  # experiment in MLflow, and project in Weights & Biases


@contextmanager
def tracking(service: str, recipe: Recipe) -> Iterator[Any]:
    """Yield accelerate's tracker of a new run; with an error in the block, the service's run ends as failed."""
    tracker, failure, fail = _tracker(service, import_extra(service, service), recipe.name)
    try:
        tracker.start()
        try:
            parts = {
                key: {part.label: {"name": part.name, "settings": part.settings} for part in found}
                for key, found in (("members", recipe.members), ("stackers", recipe.stackers))
            }
            tracker.store_init_configuration(_flat(asdict(recipe) | parts))
            yield tracker
        except BaseException:
            with suppress(failure):  # the first error is the one to show
                fail()
            raise
        tracker.finish()
    except failure as error:
        raise RemoteError(
            f"{service} refused the run ({first_line(error)}); finished folds are kept: fix this or leave --log out, "
            "and run again"
        ) from error


def _tracker(service: str, module: Any, name: str) -> tuple[Any, type[Exception], Callable[[], object]]:
    """A service's tracker, the class of its errors, and what marks its run as failed."""
    from accelerate import tracking  # slow to import

    from gapstack.training.devices import processes

    processes()  # accelerate's logger needs its state
    if service == "mlflow":
        tracker = tracking.MLflowTracker(PROJECT, run_name=name)
        return tracker, module.MlflowException, lambda: module.end_run("FAILED")
    if service == "wandb":
        quiet = module.Settings(console="off", quiet=True)  # printed lines are not sent
        tracker = tracking.WandBTracker(os.environ.get("WANDB_PROJECT", PROJECT), name=name, settings=quiet)
        return tracker, module.Error, lambda: module.finish(exit_code=1)
    tracker = tracking.TensorBoardTracker(name, str(home() / "tensorboard"))
    return tracker, OSError, tracker.finish


def log_fold(tracker: Any, folder: RunFolder, label: str, fold: int) -> None:
    """Send the learning curves of a finished fold, if its member is fine-tuned."""
    for number, curve in enumerate(learning_curves(folder, label, [fold]), 1):
        place = f"{label}/fold-{fold}/training-{number}"
        for update, loss, validation in zip(curve.updates, curve.training, curve.validation, strict=True):
            values = {f"{place}/update": update, f"{place}/loss": loss, f"{place}/validation": validation}
            # the steps of Weights & Biases only increase, over all trainings
            tracker.log(_finite(values), step=None if tracker.name == "wandb" else int(update))


def log_results(tracker: Any, run: Run, parts: Sequence[PartScores]) -> None:
    """Send the scores of a finished run, and the identity of each of its results."""
    identity = run_identity(run.folder)
    results = {one["label"]: {**one["identity"], "versions": one["versions"]} for one in identity["results"]}
    tracker.store_init_configuration(_flat({"identity": {**identity["shared"], **results}}))
    # stack/held_out/logloss, and with _low and _high the bounds of its interval
    named: dict[str, float | None] = {}
    for part in parts:
        for label, scores in part.systems.items():
            place = f"{label}/{part.name.replace(' ', '_')}"
            named |= {f"{place}/{metric}": scores.value(metric) for metric in METRICS}
            for metric, interval in part.intervals.get(label, {}).items():
                named |= {f"{place}/{metric}_low": interval.low, f"{place}/{metric}_high": interval.high}
    tracker.log(_finite(named))


def _finite(values: Mapping[str, float | None]) -> dict[str, float]:
    return {_name(key): float(one) for key, one in values.items() if one is not None and np.isfinite(one)}


def _name(name: str) -> str:
    """A name without the characters that MLflow refuses."""
    return re.sub(r"[^/\w. :-]", "_", name)


def _flat(table: Mapping[str, Any]) -> dict[str, str]:
    """Values of nested tables as text, by path: ``members/probert/settings/training/epochs``."""
    (values,) = pd.json_normalize(dict(table), sep="/").to_dict("records")
    return {
        _name(str(key)): value if isinstance(value, str) else json.dumps(value, default=str)
        for key, value in values.items()
    }
