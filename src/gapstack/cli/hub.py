"""Saved members and runs on the Hub, with model cards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError

if TYPE_CHECKING:
    from gapstack.comparison.results import PartScores
    from gapstack.runs.recipe import Recipe

app = typer.Typer()

_METRICS = ("logloss", "f1_overall", "f1_masculine", "f1_feminine", "bias")


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
    from gapstack.members.store import is_saved, saved_record
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
        from gapstack.runs.results import stored_run

        folder, member = require_run(what)
        if member:
            raise DataError(f"{what} is a member of a run", expected="the run, with all that it reads")
        fitted, root = FittedRun(folder).check(), folder.root  # checks that it is finished and sound
        scores = score_run(stored_run(folder, data))
        card = _run_card(repository, fitted.recipe, folder.manifest()["versions"], scores)
    address = push(root, repository, card, private=private)
    common.print_line(json.dumps({"repository": repository, "address": address}) if as_json else address)


def _member_card(repository: str, record: Mapping[str, Any]) -> str:
    facts = {
        "Settings": [f"`{json.dumps(record['parameters'], sort_keys=True)}`"],
        "Reads": list(record["reads"].values()),
        "Never to be scored on": record["not_for"],
    }
    return _card(repository, f"A fitted member of gapstack, `{record['name']}`.", facts)


def _run_card(
    repository: str, recipe: Recipe, versions: Mapping[str, str], parts: Sequence[PartScores]
) -> str:
    from gapstack.display.report import scores_table

    facts = {
        "Members": [f"`{part.label}`" for part in recipe.members],
        "Trained on": [recipe.trained_on, f"{recipe.labels} labels", f"{recipe.folds} folds"],
        "Never to be scored on": sorted(set().union(*recipe.contaminated_by().values())),
        "Fitted with": [f"{name} {version}" for name, version in versions.items()],
    }
    about = f"A run of gapstack, recipe `{recipe.name}`{f': {recipe.title}' if recipe.title else ''}."
    tables = scores_table({part.heading: list(part.systems.items()) for part in parts}, metrics=_METRICS)
    return _card(repository, about, facts, tables.markdown())


def _card(repository: str, about: str, facts: Mapping[str, Sequence[str]], scores: str = "") -> str:
    from jinja2 import Environment, PackageLoader

    markdown = Environment(
        loader=PackageLoader("gapstack.cli", "."), trim_blocks=True, keep_trailing_newline=True
    )
    template = markdown.get_template("card.md.j2")
    return template.render(repository=repository, about=about, facts=facts, scores=scores)
