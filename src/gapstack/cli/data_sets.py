"""Data sets, and rows like GAP's from running text."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, counted

if TYPE_CHECKING:
    from gapstack.display.render import Table
    from gapstack.language.mining import Mined

app = typer.Typer()
data_app = typer.Typer(
    help="Where the data are, and how to get them.", no_args_is_help=True, cls=common.Group
)


class GoldCorpus(StrEnum):
    """Corpora whose clusters give labels."""

    LITBANK = "litbank"
    GUM = "gum"


@common.command(app, "gap mine pages.jsonl --output mined.tsv", "gap mine --corpus gum --output gum.tsv")
def mine_command(
    output: Path = common.output_option("GAP TSV to write.", "--output", "-o", default=...),
    files: list[Path] | None = Argument(
        None,
        metavar="FILES",
        parser=common.input_file,
        help="Plain text (a page a file), or .jsonl with text, id and url of a page a line.",
    ),
    corpus: list[GoldCorpus] | None = Option(None, help="Not files, but a corpus with clusters, for labels."),
    balance: bool = Option(True, "--balance/--all", help="Equal genders and patterns 6:1:1, or all rows."),
    per_page: int = Option(
        1, min=0, help="Rows of a pronoun form (he, him, ...) from a page at most; 0: all."
    ),
    words: int = Option(100, min=1, help="Tokens of a snippet at most."),
    seed: int = Option(0, help="Seed of the choice of balanced rows."),
    parser: common.ParserOption = None,
    data: common.DataOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Extract rows like GAP's from running text, by the patterns of Webster et al. 2018.

    FinalPro, MedialPro and InitialPro: two names and a singular gendered pronoun, with no third person between.
    """
    from gapstack.data.gap_files import write_gap
    from gapstack.data.gender import first_names
    from gapstack.data.page_files import corpus_pages, count_pages, read_pages
    from gapstack.language.mining import balanced, mine

    if bool(files) == bool(corpus):
        raise DataError("expected either files or --corpus")
    paths = files or []
    pages = chain(
        chain.from_iterable(read_pages(path) for path in paths),
        chain.from_iterable(corpus_pages(name) for name in corpus or ()),
    )
    total = sum(map(count_pages, paths))
    extracted = mine(pages, first_names().genders, parser, per_page=per_page, words=words, total=total)
    result = balanced(extracted, seed) if balance else extracted
    if not result.rows:
        raise DataError(
            f"no row is left of {len(extracted.rows):,} from {counted(extracted.pages, 'page')}",
            expected="both genders in a pattern" if extracted.rows else "pages with two names and a pronoun",
            remedy="Give more pages" + (", or --all" if extracted.rows else ""),
        )
    write_gap(output, result.corpus)
    if not common.is_stream(output):
        common.print_table(_mining_table(extracted, result), as_json)
    common.report_written(output)


def _mining_table(extracted: Mined, result: Mined) -> Table:
    """Rows before and after balancing, by pattern and gender, and the latter by label where they have labels."""
    from gapstack.data import Gender
    from gapstack.display.render import Cell, Column, Section, Table

    genders = (Gender.FEMININE, Gender.MASCULINE)
    counts = {"extracted": extracted.counts(), "kept": result.counts()}
    columns = [Column(f"{what}_{gender}", f"{gender} {what}") for what in counts for gender in genders]
    rows: list[tuple[str, dict[str, Cell]]] = [
        (pattern.value, {f"{what}_{g}": found[pattern][g] for what, found in counts.items() for g in genders})
        for pattern in counts["extracted"]
    ]
    labels = Counter(row.label for row in result.rows if row.label is not None)
    answers = ", ".join(f"{label.name} {count:,}" for label, count in sorted(labels.items()))
    title = f"{counted(len(result.rows), 'row')} of {counted(result.pages, 'page')}"
    title += f": {answers}" if answers else ""
    left_out = "".join(f"{reason}: {count:,}. " for reason, count in sorted(result.left_out.items()) if count)
    caption = f"Left out: {left_out}" if left_out else ""
    return Table(columns, [Section("", rows)], title=title, caption=caption, name_title="pattern")


@common.command(data_app, "gap data status")
def status_command(
    data: common.DataOption = None,
    quiet: bool = Option(False, "--quiet", help="Print nothing; exit status 1 without GAP."),
    as_json: common.JsonOption = False,
) -> None:
    """Show where each data set is found, whether it is intact, its licence and its home."""
    from gapstack.data.gap_data import SPLITS
    from gapstack.data.sources import status

    lines = status()
    if as_json:
        records = [
            {
                "name": line.dataset.name,
                "path": str(line.location.path) if line.location else None,
                "origin": line.location.origin if line.location else None,
                "rows": line.rows,
                "intact": line.intact,
                "licence": line.dataset.licence,
                "upstream": line.dataset.upstream,
                "fetchable": bool(line.dataset.files),
            }
            for line in lines
        ]
        common.print_json(records)
    elif not quiet:
        for line in lines:
            dataset, location = line.dataset, line.location
            state = "not found" + (f" (gap data fetch {dataset.name})" if dataset.files else "")
            if location:
                rows = "" if line.rows is None else f", {line.rows:,} rows"
                intact = {None: "", True: ", checksum ok", False: ", NOT the published bytes"}[line.intact]
                state = f"{location.path} ({location.origin}{rows}{intact})"
            common.print_line(f"{dataset.name}: {state}")
            common.print_line(f"    {dataset.licence}; {dataset.upstream}")
    gap = {f"gap-{split}" for split in SPLITS}
    if quiet and not all(line.location for line in lines if line.dataset.name in gap):
        raise typer.Exit(1)


@common.command(data_app, "gap data fetch gap-test")
def fetch_command(
    names: list[str] | None = Argument(
        None,
        help="Data sets to download. Default: all public ones.",
        autocompletion=common.completion("gapstack.data.sources:DATASETS"),
    ),
    again: bool = Option(False, "--again", help="Download again what is there."),
    as_json: common.JsonOption = False,
) -> None:
    """Download data sets into the cache and check them; files that are there and intact are kept."""
    from gapstack.data.sources import DATASETS, fetch, fetchable, require_dataset

    records = []
    for dataset in [require_dataset(name) for name in names or fetchable()]:
        (path,) = fetch([dataset.name], again=again)
        records.append({"name": dataset.name, "path": str(path), "licence": dataset.licence})
        if not as_json:
            common.print_line(f"{dataset.name}: {path}")
            common.print_line(f"    {dataset.licence}; {dataset.upstream}")
    if as_json:
        common.print_json(records)
    if not names:
        others = [name for name, one in DATASETS.items() if not one.files and not one.embedded]
        common.log_note(f"No public file: {', '.join(others)}. gap data status says where they come from.")
