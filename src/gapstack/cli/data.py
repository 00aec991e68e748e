"""Where the data are, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import DataOption, show

app = typer.Typer(help="Where the data are, and how to get them.", no_args_is_help=True)


@app.command("status")
def data_status_command(
    data: DataOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing; exit status 1 without GAP.")] = False,
) -> None:
    """Show where each data set is found, whether it is intact, its licence and its home."""
    from gapstack.corpus.sources import SPLITS, status

    lines = status(Path(data) if data else None)
    if not quiet:
        for line in lines:
            dataset = line.dataset
            state = "not found" + (" (gap data fetch)" if line.fetchable else "")
            if line.location:
                rows = "" if line.rows is None else f", {line.rows:,} rows"
                intact = {None: "", True: ", checksum ok", False: ", NOT the published bytes"}[line.intact]
                state = f"{line.location.path} ({line.location.origin}{rows}{intact})"
            show(f"{dataset.name}: {state}")
            show(f"    {dataset.licence}; {dataset.upstream}")
    gap = {f"gap-{split}" for split in SPLITS}
    raise typer.Exit(
        0 if all(line.location for line in lines if line.dataset.name in gap) or not quiet else 1
    )


@app.command("fetch")
def data_fetch_command(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets to download. Default: all.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Download again what is there.")] = False,
) -> None:
    """Download data sets into the cache and check them."""
    from gapstack.corpus.sources import fetch

    for path in fetch(names or None, again=again):
        show(str(path))
