"""Runs: execute a recipe, predict new rows, list and show what was run."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gapstack.cli import complete
from gapstack.cli.common import (
    DataOption,
    Executor,
    JsonOption,
    LabelsOption,
    OnError,
    OnErrorOption,
    log_note,
    print_line,
    print_result,
    quarantine_for,
    refuse_unknown_run,
    report_quarantine,
    spare_imports,
    stdout,
    width,
)
from gapstack.cli.streams import input_file, is_stream, output_file
from gapstack.errors import DataError, Place

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.runs import Recipe, Run


app = typer.Typer()


class Service(StrEnum):
    """Where a run is logged."""

    MLFLOW = "mlflow"
    WANDB = "wandb"


ExecutorOption = Annotated[
    Executor, typer.Option(help="Where folds are fitted: processes of this machine, or a Ray cluster.")
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Folds fitted at once; they share the cores.")]


@app.command("run")
def run_command(
    recipe: Annotated[
        str,
        typer.Argument(
            help="A recipe's name (see `gap recipes`), a .toml file, or the folder of a run to finish or repair.",
            autocompletion=complete.recipes,
        ),
    ] = "quickstart",
    data: DataOption = None,
    labels: LabelsOption = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of all members: folder, hub name, or minilm. Layers go to its depth. Default: the recipe's."
        ),
    ] = None,
    parser: Annotated[
        str | None, typer.Option(help="spaCy pipeline: name or folder. Default: en_gapstack.")
    ] = None,
    augment: Annotated[
        list[str] | None,
        typer.Option(help="Train all members on augmented copies too: swap_gender, anonymise_0, ..."),
    ] = None,
    average: Annotated[
        list[str] | None,
        typer.Option(
            help="Test-time augmentations that all members average over: original, swap_gender, ..."
        ),
    ] = None,
    members: Annotated[
        str | None,
        typer.Option(help="Only these members of the recipe: a,b. The run's name then says so."),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Your own labelled rows (GAP TSV) in the place of the recipe's; repeatable."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(help="Your own rows to hold out and predict, labelled or not; repeatable."),
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Number of folds instead of the recipe's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the folds instead of the recipe's.")] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Epochs of every training instead of the recipe's: a quick trial."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run instead of the recipe's.")] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print what would be trained, the time, memory and disk space needed, and missing inputs.",
        ),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard an earlier run of this name.")] = False,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard files for fine-tuned members.")
    ] = False,
    log: Annotated[
        Service | None,
        typer.Option("--log", help="Send settings, learning curves and scores there; extras mlflow, wandb."),
    ] = None,
    on_error: OnErrorOption = OnError.STOP,
    as_json: JsonOption = False,
) -> None:
    """Cross-validate a recipe's members, stack them, write a submission and print the comparison."""
    started = time.perf_counter()
    plan = load_recipe(recipe, encoder, parser=parser, augment=augment, average=average)
    if members is not None:
        plan = plan.restricted([label.strip() for label in members.split(",") if label.strip()])
    plan = plan.on_files(train or (), test or ())
    plan = plan.revised(labels=labels, folds=folds, seed=seed, name=name)
    if epochs is not None:
        plan = plan.with_epochs(epochs)
    if plan.note:
        log_note(plan.note)
    if dry_run:
        _print_plan(plan, data, as_json)
        return
    from gapstack.cli.tracking import tracking
    from gapstack.comparison.results import (  # after the recipe is checked: it brings torch along
        run_table,
        score_run,
    )
    from gapstack.runs.recipe import corpora

    quarantine = quarantine_for(on_error)
    plan, train_rows, test_rows = corpora(plan, data, quarantine)
    report_quarantine(quarantine)
    with tracking(log.value, plan) if log else nullcontext() as tracker:
        finished = execute(
            plan,
            train_rows,
            test_rows,
            executor,
            workers,
            fresh=fresh,
            tensorboard=tensorboard,
            stored=Path(recipe) if Path(recipe).is_dir() and name is None else None,
            on_fold=tracker.fold if tracker else None,
        )
        parts = score_run(finished)
        if tracker:
            tracker.finish(finished, parts)
    if tracker:
        log_note(f"logged: {tracker.address}")
    print_result(run_table(finished, parts, parameters=as_json), as_json)
    if as_json:
        return
    done = f"{finished.reused} of {len(finished.members) * finished.recipe.folds} folds were already done"
    print()
    print_line(f"submission: {finished.submission}")
    print_line(f"run folder: {finished.folder.root} ({done})")
    print(f"total: {time.perf_counter() - started:.0f} s")


@app.command("predict")
def predict_command(
    run_name: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A finished run (name or folder), RUN:MEMBER, or a saved member's or stack's folder.",
            autocompletion=complete.runs,
        ),
    ],
    input_path: Annotated[
        Path,
        typer.Option(
            "--input",
            help="Rows to predict: GAP or Kaggle TSV (.gz, .xz too).",
            parser=input_file,
            metavar="FILE",
        ),
    ],
    output_path: Annotated[
        Path,
        typer.Option("--output", help="Submission CSV to write.", parser=output_file, metavar="FILE"),
    ],
    on_error: OnErrorOption = OnError.STOP,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Predict unlabelled rows, in the order of the input.

    Files may be of any length; a killed command resumes when repeated, with any number of workers.
    """
    started = time.perf_counter()
    refuse_unknown_run(run_name)
    spare_imports(run_name)
    from gapstack.runs.predict import predict_file

    quarantine = quarantine_for(on_error)
    count = predict_file(
        run_name, input_path, output_path, quarantine=quarantine, workers=workers, executor=executor.value
    )
    report_quarantine(quarantine)
    seconds = time.perf_counter() - started
    if is_stream(output_path):
        return
    if as_json:
        print(json.dumps({"output": str(output_path), "rows": count, "seconds": seconds}))
    else:
        print_line(f"{output_path}: {count:,} rows in {seconds:.0f} s")


@app.command("runs")
def runs_command(data: DataOption = None, as_json: JsonOption = False) -> None:
    """List local runs as a leaderboard: the scores of each run's stack, and its progress."""
    from gapstack.cli.tables import standings_table
    from gapstack.comparison.results import standings
    from gapstack.runs.folder import home

    found = standings(data)
    print_result(standings_table(found), as_json)
    if not found:
        log_note(f"No runs in {home() / 'models'}; start one with: gap run")


@app.command("show")
def show_command(
    run_name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run, finished or not: its name or folder.", autocompletion=complete.runs
        ),
    ],
    data: DataOption = None,
    identity: Annotated[
        bool,
        typer.Option("--identity", help="What each result was computed from: rows, labels, code, versions."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a run's leaderboard: the stack first, then its members by logloss, with intervals."""
    from gapstack.runs.recipe import require_run

    folder, _ = require_run(run_name)
    if identity:
        from gapstack.cli.tables import run_identity

        found = run_identity(folder)
        print(json.dumps(found.json(), indent=2) if as_json else found.text(width()))
        return
    from gapstack.comparison.results import run_table, score_run
    from gapstack.runs.results import stored_run

    run = stored_run(folder, data)
    print_result(run_table(run, score_run(run), parameters=as_json), as_json)
    done, every = run.reused, len(run.recipe.members) * run.recipe.folds
    if done < every:
        log_note(f"{done} of {every} folds are finished. {folder.remedy}")
    log_note(f"run folder: {folder.root}; what it was computed from: gap show {run_name} --identity")


def _print_plan(recipe: Recipe, data: str | None, as_json: bool) -> None:
    """Print what a run would train, and what is missing for it."""
    from gapstack.cli.tables import plan_table
    from gapstack.runs.estimate import duration, plan_run

    plan = plan_run(recipe, data)
    if not plan.missing:
        recipe.refuse_contaminated()
    table = plan_table(plan)
    if as_json:
        expected = {"seconds": plan.seconds, "memory": plan.memory, "disk": plan.disk}
        record = {**table.json(), **expected, "missing": list(plan.missing), "note": recipe.note}
        print(json.dumps(record, indent=2))
        return
    space = f"{plan.memory / 1e9:.1f} GB of memory, {plan.disk / 1e9:.1f} GB of disk space"
    print_line(f"{recipe.name}: about {duration(plan.seconds)}, {space}, by estimate")
    print()
    table.print(stdout)
    print()
    for line in plan.missing:
        print_line(f"missing: {line}")
    print_line("Nothing was trained" if plan.missing else "Nothing is missing; nothing was trained")


def load_recipe(name: str, encoder: str | None = None, **settings: Any) -> Recipe:
    """Load a recipe, put it on another encoder, and override settings that are not None in members that have them."""
    from gapstack.runs import Recipe

    recipe = Recipe.load(name)
    if encoder is not None:
        from gapstack.runs.rescale import on_encoder

        recipe, lines = on_encoder(recipe, encoder)
        for line in lines:
            log_note(line)
    for setting, value in settings.items():
        if value is not None:
            recipe = recipe.override(setting, value)
    return recipe


def execute(
    recipe: Recipe,
    train: Corpus,
    test: Corpus,
    executor: Executor,
    workers: int,
    *,
    stored: Path | None = None,
    **options: Any,
) -> Run:
    """Execute a recipe; ``stored`` is the folder of the run that it was read from, if any."""
    from gapstack.runs import run
    from gapstack.runs.executors import create_executor

    root = None
    if stored is not None:
        root = stored.resolve().parents[1]
        if root / "models" / recipe.name != stored.resolve():
            raise DataError(
                f"this folder would be resumed as run '{recipe.name}'",
                place=Place(stored),
                expected="a folder models/NAME with the run's name, and the data it was run on",
                remedy="Restore the folder's name, or give its data with --data",
            )
    return run(
        recipe,
        train,
        test,
        root=root,
        executor=create_executor(executor.value, workers),
        **options,
    )
