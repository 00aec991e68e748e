"""Saved members and runs on the Hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli import complete
from gapstack.cli.common import DataOption, JsonOption, print_line
from gapstack.errors import DataError

app = typer.Typer()


@app.command("push")
def push_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A finished run (name or folder), or a saved member's folder.",
            autocompletion=complete.runs,
        ),
    ],
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Repository of the Hub.")],
    data: DataOption = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Share a run or a saved member on the Hub, with a model card; gapstack.load("OWNER/NAME") reads it.

    Needs a token: hf auth login, or HF_TOKEN.
    """
    from gapstack.cli.model_card import member_card, run_card
    from gapstack.members.store import is_saved, saved_record
    from gapstack.runs.hub import is_repository, push
    from gapstack.runs.recipe import require_run

    if not is_repository(repository) or "@" in repository:
        raise typer.BadParameter("expected OWNER/NAME", param_hint="OWNER/NAME")
    root = Path(what)
    if is_saved(root):
        card = member_card(repository, saved_record(root))
    else:
        from gapstack.comparison.results import score_run
        from gapstack.runs.predictors import FittedRun
        from gapstack.runs.results import stored_run

        folder, member = require_run(what)
        if member:
            raise DataError(f"{what} is a member of a run", expected="the run, with all that it reads")
        fitted, root = FittedRun(folder), folder.root  # checks that it is finished, sound and of this code
        scores = score_run(stored_run(folder, data))
        card = run_card(repository, fitted.recipe, folder.manifest()["versions"], scores)
    address = push(root, repository, card, private=private)
    print_line(json.dumps({"repository": repository, "address": address}) if as_json else address)
