"""Search of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.cli.runs import listed

if TYPE_CHECKING:
    from gapstack.runs.recipe import Part

app = typer.Typer()


@app.command("tune")
def tune_command(
    recipe: str = Argument(
        ..., help="A recipe's name, or a .toml file.", autocompletion=common.complete_recipe
    ),
    member: str = Argument(..., help="Label of one of its members."),
    trials: int = Option(20, min=1, help="Trials in all, earlier ones of this search included."),
    ranges: Path | None = Option(
        None, "--ranges", help="TOML table of what to search: rounds = { low = 100, high = 800, log = true }."
    ),
    settings: str | None = Option(
        None, help="Without --ranges: only these settings, a,b. Default: numbers, switches, named values."
    ),
    data: common.DataOption = None,
    labels: common.LabelsOption = None,
    as_json: common.JsonOption = False,
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
    space = read_space(ranges, part) if ranges else derived_space(part, listed(settings or ""))
    plan, train, _ = corpora(plan, data)
    tuning = tune(plan, member, train, space, trials=trials)
    best, (first, *_) = tuning.best, tuning.trials
    common.log_note(f"trials: {tuning.journal}")
    if as_json:
        common.print_json(
            {
                "best": asdict(best),
                "part": asdict(tuning.part),
                "trials": [asdict(one) for one in tuning.trials],
            }
        )
        return
    result = f"out-of-fold logloss {best.logloss:.4f}, the best of {len(tuning.trials)} trials"
    before = f"; {first.logloss:.4f} in the first" if first.logloss is not None else ""
    common.print_line(f"# {member} of {plan.name}, {train.name}, {train.label_set} labels: {result}{before}")
    print(part_text(tuning.part), end="")


def part_text(part: Part) -> str:
    """TOML of a member, ready to be pasted into a recipe; settings that are not set are left out."""
    lines = ["[[members]]", f"name = {_toml(part.name)}"]
    if part.label != part.name:
        lines.append(f"label = {_toml(part.label)}")
    lines += ["", "[members.settings]"]
    lines += [f"{key} = {_toml(value)}" for key, value in part.settings.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML, which writes all but tables as JSON does."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
