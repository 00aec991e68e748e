"""Search of settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli import complete
from gapstack.cli.common import DataOption, JsonOption, LabelsOption, log_note, print_line

app = typer.Typer()


@app.command("tune")
def tune_command(
    recipe: Annotated[
        str, typer.Argument(help="A recipe's name, or a .toml file.", autocompletion=complete.recipes)
    ],
    member: Annotated[str, typer.Argument(help="Label of one of its members.")],
    trials: Annotated[
        int, typer.Option(min=1, help="Trials in all, earlier ones of this search included.")
    ] = 20,
    ranges: Annotated[
        Path | None,
        typer.Option(
            "--ranges", help="TOML table of what to search: rounds = { low = 100, high = 800, log = true }."
        ),
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(
            help="Without --ranges: only these settings, a,b. Default: numbers, switches, named values."
        ),
    ] = None,
    data: DataOption = None,
    labels: LabelsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search a member's settings on out-of-fold logloss, and print the best as part of a recipe (extra tune).

    The held-out split is never used. A killed search resumes when the command is repeated.
    """
    from gapstack.runs import Recipe
    from gapstack.runs.recipe import corpora
    from gapstack.runs.tune import derived_space, read_space, tune

    if ranges and settings:
        raise typer.BadParameter("--ranges already names the settings", param_hint="--settings")
    plan = Recipe.load(recipe).revised(labels=labels)
    (part,) = plan.restricted([member]).members
    only = [name.strip() for name in (settings or "").split(",") if name.strip()]
    space = read_space(ranges, part) if ranges else derived_space(part, only)
    plan, train, _ = corpora(plan, data)
    tuning = tune(plan, member, train, space, trials=trials)
    best, (first, *_) = tuning.best, tuning.trials
    log_note(f"trials: {tuning.journal}")
    if as_json:
        record = {
            "best": asdict(best),
            "part": asdict(tuning.part),
            "trials": [asdict(one) for one in tuning.trials],
        }
        print(json.dumps(record, indent=2))
        return
    from gapstack.cli.descriptions import part_text

    result = f"out-of-fold logloss {best.logloss:.4f}, the best of {len(tuning.trials)} trials"
    before = f"; {first.logloss:.4f} in the first" if first.logloss is not None else ""
    print_line(f"# {member} of {plan.name}, {train.name}, {train.label_set} labels: {result}{before}")
    print(part_text(tuning.part), end="")
