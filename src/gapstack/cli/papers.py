"""Tables of papers next to our figures."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import (
    DataOption,
    EncoderOption,
    Executor,
    JsonOption,
    ParserOption,
    refuse_unknown_run,
    report_written,
    stdout,
)
from gapstack.cli.runs import ExecutorOption, WorkersOption, execute, load_recipe

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
    """Print a paper's tables next to our figures.

    webster2019 (the shared task's overview) first runs or resumes the recipe `families`, with --ablations three small
    ones; dawkins2021 (formerly sowinobias) trains the members of the recipe `sowinobias` with each of three seeds.
    """
    from gapstack.data.sources import data_folder
    from gapstack.display.render import print_parts
    from gapstack.papers import ablations as findings
    from gapstack.papers import dawkins2021, rudinger2018, webster2018, webster2019
    from gapstack.papers.report import PaperReport
    from gapstack.runs.recipe import corpora, gap_data

    if runs and paper is not Paper.RUDINGER2018:
        raise typer.BadParameter("only with rudinger2018", param_hint="--run")
    if ablations and paper not in (Paper.WEBSTER2019, Paper.SHARED_TASK):
        raise typer.BadParameter("only with webster2019", param_hint="--ablations")
    report: PaperReport
    folder = data_folder(data)
    if ablations:
        plans = [load_recipe(name, encoder, parser=parser) for name in findings.RECIPES]
        report = findings.report(
            [execute(*corpora(plan, data), executor, workers) for plan in plans], encoder, folder
        )
    elif paper in (Paper.WEBSTER2019, Paper.SHARED_TASK):
        plan = load_recipe(webster2019.RECIPE, encoder, parser=parser)
        report = webster2019.report(execute(*corpora(plan, data), executor, workers), folder)
    elif paper is Paper.RUDINGER2018:
        for name in runs or ():
            refuse_unknown_run(name)
        report = rudinger2018.reproduce(gap_data(data), runs or (), folder=folder, parser=parser)
    elif paper in (Paper.DAWKINS2021, Paper.SOWINOBIAS):
        plan = load_recipe(dawkins2021.RECIPE, encoder)
        report = dawkins2021.reproduce(*corpora(plan, data), folder)
    else:
        report = webster2018.reproduce(gap_data(data), encoder, parser, red=red)
    if as_json:
        print(json.dumps(report.json(), indent=2))
    else:
        print_parts(report.parts, stdout)
    if output:
        for path in report.write(output):
            report_written(path)
