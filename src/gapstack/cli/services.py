"""Runs and saved members elsewhere: on the Hub with model cards, in TensorBoard, MLflow or Weights & Biases."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, RemoteError, first_line
from gapstack.registry import import_extra

if TYPE_CHECKING:
    from gapstack.comparison.results import PartScores
    from gapstack.runs.folder import RunFolder
    from gapstack.runs.recipe import Recipe
    from gapstack.runs.stored_results import Run

app = typer.Typer()

PROJECT = "gapstack"  # experiment in MLflow, and project in Weights & Biases


@common.command(app, "gap push quickstart owner/name")
def push_command(
    what: str = Argument(
        help="A finished run (name or folder), or a saved member's folder.",
        autocompletion=common.complete_run,
    ),
    repository: str = Argument(metavar="OWNER/NAME", help="Repository of the Hub."),
    data: common.DataOption = None,
    private: bool = Option(False, "--private", help="Make a new repository private."),
    as_json: common.JsonOption = False,
) -> None:
    """Share a run or a saved member on the Hub, with a model card; gapstack.load("OWNER/NAME") reads it.

    Needs a token: hf auth login, or HF_TOKEN.
    """
    from gapstack.members.saved import is_saved, saved_record
    from gapstack.runs.folder import is_repository, push
    from gapstack.runs.recipe import require_run

    if not is_repository(repository) or "@" in repository:
        raise typer.BadParameter("expected OWNER/NAME", param_hint="OWNER/NAME")
    root = Path(what)
    if is_saved(root):
        card = _member_card(repository, saved_record(root))
    else:
        from gapstack.comparison.results import score_run
        from gapstack.runs.predictors import FittedRun
        from gapstack.runs.stored_results import stored_run

        folder, member = require_run(what)
        if member:
            raise DataError(f"{what} is a member of a run", expected="the run, with all that it reads")
        fitted, root = FittedRun(folder).check(), folder.root  # checks that it is finished and sound
        scores = score_run(stored_run(folder))
        card = _run_card(repository, fitted.recipe, folder.manifest()["versions"], scores)
    address = push(root, repository, card, private=private)
    common.print_line(json.dumps({"repository": repository, "address": address}) if as_json else address)


def _member_card(repository: str, record: Mapping[str, Any]) -> str:
    facts = {
        "Settings": [f"`{json.dumps(record['parameters'], sort_keys=True)}`"],
        "Reads": list(record["reads"].values()),
        "Never to be scored on": record["contaminated_by"],
    }
    return _card(repository, f"A fitted member of gapstack, `{record['name']}`.", facts)


def _run_card(
    repository: str, recipe: Recipe, versions: Mapping[str, str], parts: Sequence[PartScores]
) -> str:
    from gapstack.display.report import scores_table
    from gapstack.evaluation import metrics_in

    facts = {
        "Members": [f"`{part.label}`" for part in recipe.members],
        "Trained on": [recipe.trained_on, f"{recipe.labels} labels", f"{recipe.folds} folds"],
        "Never to be scored on": sorted(set().union(*recipe.contaminated_by().values())),
        "Fitted with": [f"{name} {version}" for name, version in versions.items()],
    }
    about = f"A run of gapstack, recipe `{recipe.name}`{f': {recipe.title}' if recipe.title else ''}."
    sections = {part.heading: list(part.systems.items()) for part in parts}
    tables = scores_table(sections, metrics=metrics_in("overview"))
    return _card(repository, about, facts, tables.markdown())


def _card(repository: str, about: str, facts: Mapping[str, Sequence[str]], scores: str = "") -> str:
    from jinja2 import Environment, PackageLoader

    markdown = Environment(
        loader=PackageLoader("gapstack.cli", "."), trim_blocks=True, keep_trailing_newline=True
    )
    template = markdown.get_template("card.md.j2")
    return template.render(repository=repository, about=about, facts=facts, scores=scores)


@contextmanager
def tracking(service: str, recipe: Recipe) -> Iterator[Any]:
    """Yield accelerate's tracker of a new run; with an error in the block, the service's run ends as failed.

    The services' own variables (``MLFLOW_TRACKING_URI``, ``WANDB_MODE``, ...) decide where a run goes.
    """
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

    from gapstack.runs.folder import home
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
    from gapstack.comparison.entries import learning_curves

    for number, curve in enumerate(learning_curves(folder, label, [fold]), 1):
        place = f"{label}/fold-{fold}/training-{number}"
        for update, loss, validation in zip(curve.updates, curve.training, curve.validation, strict=True):
            values = {f"{place}/update": update, f"{place}/loss": loss, f"{place}/validation": validation}
            # the steps of Weights & Biases only increase, over all trainings
            tracker.log(_finite(values), step=None if tracker.name == "wandb" else int(update))


def log_results(tracker: Any, run: Run, parts: Sequence[PartScores]) -> None:
    """Send the scores of a finished run, and the identity of each of its results."""
    from gapstack.evaluation import METRICS
    from gapstack.runs.stored_results import run_identity

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
    return {_name(key): float(one) for key, one in values.items() if one is not None and isfinite(one)}


def _name(name: str) -> str:
    """A name without the characters that MLflow refuses."""
    return re.sub(r"[^/\w. :-]", "_", name)


def _flat(table: Mapping[str, Any]) -> dict[str, str]:
    """Values of nested tables as text, by path: ``members/probert/settings/training/epochs``."""
    import pandas as pd

    (values,) = pd.json_normalize(dict(table), sep="/").to_dict("records")
    return {
        _name(str(key)): value if isinstance(value, str) else json.dumps(value, default=str)
        for key, value in values.items()
    }
