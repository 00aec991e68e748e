"""Where the data are, and how to get them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gapstack.cli import complete
from gapstack.cli.common import DataOption, JsonOption, log_note, print_line

if TYPE_CHECKING:
    from gapstack.data.sources import Status

app = typer.Typer(help="Where the data are, and how to get them.", no_args_is_help=True)


@app.command("status")
def data_status_command(
    data: DataOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing; exit status 1 without GAP.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show where each data set is found, whether it is intact, its licence and its home."""
    from gapstack.data.sources import SPLITS, status

    lines = status(Path(data) if data else None)
    if as_json:
        print(json.dumps([_record(line) for line in lines], indent=2))
    elif not quiet:
        for line in lines:
            dataset = line.dataset
            state = "not found" + (f" (gap data fetch {dataset.name})" if line.fetchable else "")
            if line.location:
                rows = "" if line.rows is None else f", {line.rows:,} rows"
                intact = {None: "", True: ", checksum ok", False: ", NOT the published bytes"}[line.intact]
                state = f"{line.location.path} ({line.location.origin}{rows}{intact})"
            print_line(f"{dataset.name}: {state}")
            print_line(f"    {dataset.licence}; {dataset.upstream}")
    gap = {f"gap-{split}" for split in SPLITS}
    raise typer.Exit(
        0 if all(line.location for line in lines if line.dataset.name in gap) or not quiet else 1
    )


@app.command("fetch")
def data_fetch_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data sets to download. Default: all that can be and do not come with gapstack.",
            autocompletion=complete.datasets,
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Download again what is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Download data sets into the cache and check them; files that are there and intact are kept."""
    from gapstack.data.datasets import DATASETS
    from gapstack.data.sources import fetch, fetchable, require_dataset

    datasets = [require_dataset(name) for name in names or fetchable()]
    records = []
    for dataset in datasets:
        (path,) = fetch([dataset.name], again=again)
        records.append({"name": dataset.name, "path": str(path), "licence": dataset.licence})
        if not as_json:
            print_line(f"{dataset.name}: {path}")
            print_line(f"    {dataset.licence}; {dataset.upstream}")
    if as_json:
        print(json.dumps(records, indent=2))
    if not names:
        others = [name for name, one in DATASETS.items() if not one.files and not one.embedded]
        log_note(f"No public file: {', '.join(others)}. gap data status says where they come from.")


def _record(line: Status) -> dict[str, Any]:
    return {
        "name": line.dataset.name,
        "path": str(line.location.path) if line.location else None,
        "origin": line.location.origin if line.location else None,
        "rows": line.rows,
        "intact": line.intact,
        "licence": line.dataset.licence,
        "upstream": line.dataset.upstream,
        "fetchable": line.fetchable,
    }
