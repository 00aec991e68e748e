"""Published tables next to our figures."""

from pathlib import Path
from typing import Literal

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.cli.runs import execute, load_recipe

app = typer.Typer()


@common.command(app, "gap reproduce webster2018", "gap reproduce webster2019 --ablations")
def reproduce_command(
    paper: Literal["webster2018", "webster2019", "dawkins2021", "rudinger2018"] = Argument(
        help="Paper whose tables are reproduced."
    ),
    data: common.DataOption = None,
    encoder: common.EncoderOption = None,
    parser: common.ParserOption = None,
    workers: common.WorkersOption = 1,
    executor: common.ExecutorOption = "loky",
    red: Path | None = common.input_option(
        "webster2018: annotated red.tsv of an earlier --output (table 12)."
    ),
    runs: list[str] | None = Option(
        None, "--run", help="rudinger2018: another target of gap audit.", autocompletion=common.complete_run
    ),
    ablations: bool = Option(False, "--ablations", help="webster2019: the overview's findings, measured."),
    output: Path | None = common.output_folder_option("Folder for the tables and plots as files."),
    as_json: common.JsonOption = False,
) -> None:
    """Print a paper's tables next to our figures.

    webster2019 (the shared task's overview) first runs or resumes the recipe `families`, with --ablations those of
    single findings; dawkins2021 trains word vectors and, with each of three seeds, members over them.
    """
    from gapstack.data.gap_data import load_gap
    from gapstack.papers import ablations as findings
    from gapstack.papers import dawkins2021, rudinger2018, webster2018, webster2019
    from gapstack.runs.folder import DEFAULT
    from gapstack.runs.recipe import corpora

    if runs and paper != "rudinger2018":
        raise typer.BadParameter("only with rudinger2018", param_hint="--run")
    if ablations and paper != "webster2019":
        raise typer.BadParameter("only with webster2019", param_hint="--ablations")
    if ablations:
        plans = [load_recipe(name, encoder, parser=parser) for name in findings.RECIPES]
        finished = [execute(*corpora(plan), workers, executor) for plan in plans]
        report = findings.report(finished, encoder)
    elif paper == "webster2019":
        plan = load_recipe(webster2019.RECIPE, encoder, parser=parser)
        report = webster2019.report(execute(*corpora(plan), workers, executor))
    elif paper == "rudinger2018":
        for name in runs or ():
            common.refuse_unknown_run(name)
        report = rudinger2018.reproduce(load_gap(), (DEFAULT, *(runs or ())), parser=parser)
    elif paper == "dawkins2021":
        report = dawkins2021.reproduce(*corpora(load_recipe(str(dawkins2021.RECIPE), encoder)))
    else:
        report = webster2018.reproduce(load_gap(), encoder, parser, red=red)
    common.print_report(report, as_json, output)
