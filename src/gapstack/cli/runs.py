"""Runs: execute a recipe, predict new rows, compare with a paper's tables."""

from __future__ import annotations

import json
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gapstack.cli.common import (
    DataOption,
    EncoderOption,
    JsonOption,
    LabelsOption,
    OnError,
    OnErrorOption,
    ParserOption,
    quarantine_for,
    refuse_unknown_run,
    report_quarantine,
    say,
    show,
    stdout,
)
from gapstack.corpus.cells import Quarantine
from gapstack.errors import DataError, Place

if TYPE_CHECKING:
    from gapstack.runs import Recipe, Run


app = typer.Typer()


class Paper(StrEnum):
    """Papers whose tables can be reproduced."""

    WEBSTER2018 = "webster2018"
    WEBSTER2019 = "webster2019"
    SHARED_TASK = "shared_task"
    DAWKINS2021 = "dawkins2021"
    RUDINGER2018 = "rudinger2018"
    SOWINOBIAS = "sowinobias"
    """Former name of dawkins2021."""


class Executor(StrEnum):
    """Where the jobs of a run are executed."""

    LOCAL = "local"
    RAY = "ray"


ExecutorOption = Annotated[
    Executor, typer.Option(help="Where folds are fitted: processes of this machine, or a Ray cluster.")
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Folds fitted at once; they share the cores.")]


@app.command("run")
def run_command(
    recipe: Annotated[
        str,
        typer.Argument(
            help="A recipe's name (see `gap recipes`), a .toml file, or the folder of a run to finish or mend."
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
            "--dry-run", help="Print what would be trained, in which time and memory, and what is missing."
        ),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard an earlier run of this name.")] = False,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard files beside fine-tuned members.")
    ] = False,
    on_error: OnErrorOption = OnError.STOP,
    as_json: JsonOption = False,
) -> None:
    """Cross-validate a recipe's members, stack them, write a submission and print the comparison."""
    started = time.perf_counter()
    plan = _recipe(recipe, encoder, parser=parser, augment=augment, average=average)
    plan = plan.revised(labels=labels, folds=folds, seed=seed, name=name)
    if epochs is not None:
        plan = plan.with_epochs(epochs)
    if plan.note:
        say(plan.note)
    if dry_run:
        _print_plan(plan, data, as_json)
        return
    from gapstack.comparison.results import score_run  # after the recipe is checked: it brings torch along
    from gapstack.report.comparison import comparison

    finished = _run(
        plan,
        data,
        quarantine_for(on_error),
        executor,
        workers,
        fresh=fresh,
        tensorboard=tensorboard,
        stored=Path(recipe) if Path(recipe).is_dir() and name is None else None,
    )
    table = comparison(finished, score_run(finished), parameters=as_json)
    if as_json:
        print(json.dumps(table.json(), indent=2))
        return
    table.print(stdout)
    done = f"{finished.reused} of {len(finished.members) * finished.recipe.folds} folds were already done"
    print()
    show(f"submission: {finished.submission}")
    show(f"run folder: {finished.folder.root} ({done})")
    print(f"total: {time.perf_counter() - started:.0f} s")


@app.command("recipes")
def recipes_command() -> None:
    """List the recipes that come with the package."""
    from gapstack.runs import Recipe, available

    for recipe in map(Recipe.load, available()):
        members = ", ".join(part.label for part in recipe.members)
        print(f"{recipe.name:14} {recipe.title}\n{'':14} {members}")


@app.command("members")
def members_command(
    name: Annotated[str | None, typer.Argument(help="A member, to see its settings.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List all members, or one member's settings: type, range, default, published value."""
    from gapstack.members import MEMBERS
    from gapstack.report.members import member_record, member_text, members_record, members_text

    if name is None:
        print(json.dumps(members_record(), indent=2) if as_json else members_text())
        return
    MEMBERS.entry(name)
    print(json.dumps(member_record(name), indent=2) if as_json else member_text(name))


@app.command("predict")
def predict_command(
    run_name: Annotated[
        str, typer.Argument(metavar="RUN", help="A finished run: its name or folder; RUN:MEMBER.")
    ],
    input_path: Annotated[
        Path, typer.Option("--input", help="Rows to predict: GAP or Kaggle TSV (.gz, .xz too).")
    ],
    output_path: Annotated[Path, typer.Option("--output", help="Submission CSV to write.")],
    on_error: OnErrorOption = OnError.STOP,
) -> None:
    """Predict unlabelled rows with a finished run, in the order of the input.

    Files may be of any length; a killed command resumes when it is given again.
    """
    from gapstack.runs.recipe import require_run

    started = time.perf_counter()
    folder, member = require_run(run_name)
    from gapstack.runs.predict import predict_file  # after the run is found: it brings torch along

    quarantine = quarantine_for(on_error)
    count = predict_file(folder, input_path, output_path, member, quarantine=quarantine)
    report_quarantine(quarantine)
    show(f"{output_path}: {count:,} rows in {time.perf_counter() - started:.0f} s")


@app.command("show")
def show_command(
    run_name: Annotated[
        str, typer.Argument(metavar="RUN", help="A run, finished or not: its name or folder.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Show the identity of each result of a run: rows, labels, folds, encoder, parser, code, versions."""
    from gapstack.report.identity import run_identity
    from gapstack.runs.recipe import require_run

    identity = run_identity(require_run(run_name)[0])
    print(json.dumps(identity.json(), indent=2) if as_json else identity.text())


@app.command("reproduce")
def reproduce_command(
    paper: Annotated[Paper, typer.Argument(help="Paper whose tables are reproduced.")],
    data: DataOption = None,
    encoder: EncoderOption = None,
    parser: ParserOption = None,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    red: Annotated[
        Path | None,
        typer.Option(
            "--red", help="webster2018: the red.tsv of an earlier --output, annotated, for table 12."
        ),
    ] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            help="rudinger2018: also a run, RUN:MEMBER, a saved member or a folder of answers; repeatable.",
        ),
    ] = None,
    ablations: Annotated[
        bool, typer.Option("--ablations", help="webster2019: the overview's findings, measured.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for the tables and plots as files.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a paper's tables beside our figures.

    webster2019 (the shared task's overview) first executes or resumes the run `families`, with --ablations three small
    ones; dawkins2021 (formerly sowinobias) trains the members of the recipe `sowinobias` with each of three seeds.
    """
    from gapstack.reproduce import ablations as findings
    from gapstack.reproduce import dawkins2021, rudinger2018, webster2018, webster2019
    from gapstack.reproduce.beside_paper import Tables
    from gapstack.runs.corpora import corpora

    if runs and paper is not Paper.RUDINGER2018:
        raise typer.BadParameter("only with rudinger2018", param_hint="--run")
    if ablations and paper not in (Paper.WEBSTER2019, Paper.SHARED_TASK):
        raise typer.BadParameter("only with webster2019", param_hint="--ablations")
    report: webster2018.Report | Tables | dawkins2021.Report
    folder = Path(data) if data and data != "sample" else None
    if ablations:
        plans = [_recipe(name, encoder, parser=parser) for name in findings.RECIPES]
        report = findings.report(
            [_run(plan, data, None, executor, workers) for plan in plans], encoder, folder
        )
    elif paper in (Paper.WEBSTER2019, Paper.SHARED_TASK):
        plan = _recipe(webster2019.RECIPE, encoder, parser=parser)
        report = webster2019.report(_run(plan, data, None, executor, workers), folder)
    elif paper is Paper.RUDINGER2018:
        for name in runs or ():
            refuse_unknown_run(name)
        from gapstack.corpus.sources import load_gap, load_sample

        gap = load_sample("The sample was asked for") if data == "sample" else load_gap(folder)
        report = rudinger2018.reproduce(gap, runs or (), folder=folder, parser=parser)
    elif paper in (Paper.DAWKINS2021, Paper.SOWINOBIAS):
        plan = _recipe(dawkins2021.RECIPE, encoder)
        report = dawkins2021.reproduce(*corpora(plan, data), folder)
    else:
        from gapstack.corpus.sources import load_gap, load_sample

        sample = data == "sample"
        gap = load_sample("The sample was asked for") if sample else load_gap(Path(data) if data else None)
        report = webster2018.reproduce(gap, encoder, parser, red=red)
    print(json.dumps(report.json(), indent=2) if as_json else report.text())
    if output:
        for path in report.write(output):
            say(f"wrote {path}")


def _print_plan(recipe: Recipe, data: str | None, as_json: bool) -> None:
    """Print what a run would train, and what is missing for it."""
    from gapstack.report.plan import plan_table
    from gapstack.runs.estimate import plan_run

    plan = plan_run(recipe, data)
    table = plan_table(plan)
    if as_json:
        print(json.dumps({**table.json(), "missing": list(plan.missing), "note": recipe.note}, indent=2))
        return
    table.print(stdout)
    print()
    for line in plan.missing:
        show(f"missing: {line}")
    show("Nothing was trained" if plan.missing else "Nothing is missing; nothing was trained")


def _recipe(name: str, encoder: str | None = None, **settings: Any) -> Recipe:
    """Load a recipe, put it on another encoder, and override settings that are not None in members that have them."""
    from gapstack.runs import Recipe

    recipe = Recipe.load(name)
    if encoder is not None:
        from gapstack.runs.rescale import on_encoder

        recipe, lines = on_encoder(recipe, encoder)
        for line in lines:
            say(line)
    for setting, value in settings.items():
        if value is not None:
            recipe = recipe.override(setting, value)
    return recipe


def _run(
    recipe: Recipe,
    data: str | None,
    quarantine: Quarantine | None,
    executor: Executor,
    workers: int,
    *,
    fresh: bool = False,
    tensorboard: bool = False,
    stored: Path | None = None,
) -> Run:
    """Execute a recipe; ``stored`` is the folder of the run that it was read from, if any."""
    from gapstack.runs import run
    from gapstack.runs.corpora import corpora
    from gapstack.runs.executors import create_executor

    recipe, train, test = corpora(recipe, data, quarantine)
    report_quarantine(quarantine)
    root = None
    if stored is not None:
        root = stored.resolve().parents[1]
        if root / "models" / recipe.name != stored.resolve():
            raise DataError(
                f"the run that lies here would go on as {recipe.name}",
                place=Place(stored),
                expected="a folder models/NAME with the run's name, and the data that it was run on",
                remedy="Put the folder back, or name its data with --data",
            )
    return run(
        recipe,
        train,
        test,
        root=root,
        fresh=fresh,
        executor=create_executor(executor.value, workers),
        tensorboard=tensorboard,
    )
