"""Runs: carry a recipe out, answer new rows by it, set its figures beside a paper's."""

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
    say,
    show,
    stdout,
    tell,
)
from gapstack.corpus.readers import read_gap, write_submission
from gapstack.corpus.tables import Quarantine

if TYPE_CHECKING:
    from gapstack.runs import Recipe, Run


app = typer.Typer()


class Paper(StrEnum):
    """Papers whose tables can be reproduced."""

    WEBSTER2018 = "webster2018"
    SHARED_TASK = "shared_task"
    SOWINOBIAS = "sowinobias"


class Executor(StrEnum):
    """Who does the jobs of a run."""

    LOCAL = "local"
    RAY = "ray"


ExecutorOption = Annotated[
    Executor, typer.Option(help="Who does the folds: processes of this machine, or a Ray cluster.")
]
WorkersOption = Annotated[int, typer.Option(min=1, help="Folds to do at once; they share the cores out.")]


@app.command("run")
def run_command(
    recipe: Annotated[
        str, typer.Argument(help="A recipe's name (see `gap recipes`) or a .toml file.")
    ] = "quickstart",
    data: DataOption = None,
    labels: LabelsOption = None,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder: local folder or hub name. Default: MiniLM.")
    ] = None,
    parser: Annotated[
        str | None, typer.Option(help="spaCy pipeline: name or folder. Default: en_gapstack.")
    ] = None,
    augment: Annotated[
        list[str] | None,
        typer.Option(help="Let all members learn from copies too: swap_gender, anonymise_0, ..."),
    ] = None,
    average: Annotated[
        list[str] | None,
        typer.Option(help="Let all members average over tellings: original, swap_gender, ..."),
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Number of folds instead of the recipe's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the folds instead of the recipe's.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run instead of the recipe's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away an earlier run of this name.")] = False,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard files beside fine-tuned members.")
    ] = False,
    on_error: OnErrorOption = OnError.STOP,
    as_json: JsonOption = False,
) -> None:
    """Cross-validate a recipe's members, stack them, write a submission and print the comparison."""
    from gapstack.report.comparison import comparison

    started = time.perf_counter()
    plan = _recipe(recipe, encoder=encoder, parser=parser, augment=augment, average=average)
    plan = plan.revised(labels=labels, folds=folds, seed=seed, name=name)
    finished = _run(
        plan, data, quarantine_for(on_error), executor, workers, fresh=fresh, tensorboard=tensorboard
    )
    table = comparison(finished, parameters=as_json)
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
def members_command(as_json: JsonOption = False) -> None:
    """List the members: what each is called, its paper and what it needs."""
    from gapstack.members import MEMBERS

    if as_json:
        rows = {name: {"paper": entry.paper, "needs": entry.needs} for name, entry in MEMBERS.items()}
        print(json.dumps(rows, indent=2))
        return
    for name, entry in MEMBERS.items():
        print(f"{name:20} {entry.paper}\n{'':20} needs {entry.needs}")


@app.command("predict")
def predict_command(
    run_name: Annotated[
        str, typer.Argument(metavar="RUN", help="A finished run: its name or folder; RUN:MEMBER.")
    ],
    input_path: Annotated[
        Path, typer.Option("--input", help="Rows to answer: GAP or Kaggle TSV (.gz, .xz too).")
    ],
    output_path: Annotated[Path, typer.Option("--output", help="Submission CSV to write.")],
    on_error: OnErrorOption = OnError.STOP,
) -> None:
    """Answer unlabelled rows by a finished run; ids come out in the input's order."""
    from gapstack.runs import RunFolder, home, predict
    from gapstack.runs.folder import find_run

    started = time.perf_counter()
    folder, member = find_run(run_name) or (RunFolder(home() / "models" / run_name), "")
    quarantine = quarantine_for(on_error)
    rows = read_gap(input_path, quarantine=quarantine)
    tell(quarantine)
    write_submission(output_path, rows.ids, predict(folder, rows, member, say=say))
    show(f"{output_path}: {len(rows):,} rows in {time.perf_counter() - started:.0f} s")


@app.command("reproduce")
def reproduce_command(
    paper: Annotated[Paper, typer.Argument(help="Whose tables to set beside ours.")],
    data: DataOption = None,
    encoder: EncoderOption = None,
    parser: ParserOption = None,
    executor: ExecutorOption = Executor.LOCAL,
    workers: WorkersOption = 1,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for the tables and plots as files.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a paper's tables beside what this system measures.

    For shared_task that is the run `families`, for sowinobias the run of that name and its audit; they are done, or
    taken up, first.
    """
    from gapstack.report import shared_task, sowinobias, webster2018

    report: webster2018.Report | shared_task.Report | sowinobias.Report
    if paper is Paper.SHARED_TASK:
        plan = _recipe(shared_task.RECIPE, encoder=encoder, parser=parser)
        report = shared_task.report(_run(plan, data, None, executor, workers))
    elif paper is Paper.SOWINOBIAS:
        plan = _recipe(sowinobias.RECIPE, vectors=f"encoder:{encoder}" if encoder else None)
        finished = _run(plan, data, None, executor, workers)
        report = sowinobias.report(finished, Path(data) if data else None, say)
    else:
        from gapstack.corpus.sources import load_gap, load_sample

        sample = data == "sample"
        gap = load_sample("The sample was asked for") if sample else load_gap(Path(data) if data else None)
        report = webster2018.reproduce(gap, encoder, parser)
    print(json.dumps(report.json(), indent=2) if as_json else report.text())
    if output:
        for path in report.write(output):
            say(f"wrote {path}")


def _recipe(name: str, **settings: Any) -> Recipe:
    """A recipe with the settings asked for, those that are not None, in every member that has them."""
    from gapstack.runs import Recipe

    recipe = Recipe.load(name)
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
) -> Run:
    """Carry a recipe out on the data asked for."""
    from gapstack.runs import run
    from gapstack.runs.data import corpora
    from gapstack.runs.executors import create_executor

    recipe, train, test = corpora(recipe, data, quarantine)
    tell(quarantine)
    who = create_executor(executor.value, workers)
    return run(recipe, train, test, fresh=fresh, executor=who, tensorboard=tensorboard, say=say)
