"""Tables of papers next to our figures."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.cli.runs import execute, load_recipe

app = typer.Typer()


Paper = Literal["webster2018", "webster2019", "shared_task", "dawkins2021", "rudinger2018", "sowinobias"]
"""Papers whose tables can be reproduced; shared_task and sowinobias are former names."""


@app.command("reproduce")
def reproduce_command(
    paper: Paper = Argument(..., help="Paper whose tables are reproduced."),
    data: common.DataOption = None,
    encoder: common.EncoderOption = None,
    parser: common.ParserOption = None,
    executor: common.ExecutorOption = "local",
    workers: common.WorkersOption = 1,
    red: Path | None = Option(None, help="webster2018: annotated red.tsv of an earlier --output (table 12)."),
    runs: list[str] | None = Option(
        None, "--run", help="rudinger2018: also a run, RUN:MEMBER, member or folder of answers."
    ),
    ablations: bool = Option(False, "--ablations", help="webster2019: the overview's findings, measured."),
    output: Path | None = Option(None, help="Folder for the tables and plots as files."),
    as_json: common.JsonOption = False,
) -> None:
    """Print a paper's tables next to our figures.

    webster2019 (the shared task's overview) first runs or resumes the recipe `families`, with --ablations three small
    ones; dawkins2021 (formerly sowinobias) trains the members of the recipe `sowinobias` with each of three seeds.
    """
    from gapstack.data.sources import data_folder
    from gapstack.papers import ablations as findings
    from gapstack.papers import dawkins2021, rudinger2018, webster2018, webster2019
    from gapstack.papers.report import PaperReport
    from gapstack.runs.recipe import corpora, gap_data

    if runs and paper != "rudinger2018":
        raise typer.BadParameter("only with rudinger2018", param_hint="--run")
    if ablations and paper not in ("webster2019", "shared_task"):
        raise typer.BadParameter("only with webster2019", param_hint="--ablations")
    report: PaperReport
    folder = data_folder(data)
    if ablations:
        plans = [load_recipe(name, encoder, parser=parser) for name in findings.RECIPES]
        finished = [execute(*corpora(plan, data), executor, workers) for plan in plans]
        report = findings.report(finished, encoder, folder)
    elif paper in ("webster2019", "shared_task"):
        plan = load_recipe(webster2019.RECIPE, encoder, parser=parser)
        report = webster2019.report(execute(*corpora(plan, data), executor, workers), folder)
    elif paper == "rudinger2018":
        for name in runs or ():
            common.refuse_unknown_run(name)
        report = rudinger2018.reproduce(gap_data(data), runs or (), folder=folder, parser=parser)
    elif paper in ("dawkins2021", "sowinobias"):
        report = dawkins2021.reproduce(*corpora(load_recipe(dawkins2021.RECIPE, encoder), data), folder)
    else:
        report = webster2018.reproduce(gap_data(data), encoder, parser, red=red)
    common.print_result(as_json, lambda: report.parts, lambda: report.data)
    if output:
        common.report_written(*report.write(output))
