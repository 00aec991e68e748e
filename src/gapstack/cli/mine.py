"""Rows like GAP's from running text."""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import DataOption, JsonOption, ParserOption, log_note, print_result, report_written
from gapstack.cli.streams import input_file, is_stream, output_file
from gapstack.errors import DataError

app = typer.Typer()


class GoldCorpus(StrEnum):
    """Corpora whose clusters give labels."""

    LITBANK = "litbank"
    GUM = "gum"


@app.command("mine")
def mine_command(
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="GAP TSV to write.",
            metavar="FILE",
            show_default=False,
            parser=output_file,
        ),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILES]",
            parser=input_file,
            help="Plain text (a page a file), or .jsonl with text, id and url of a page a line.",
        ),
    ] = None,
    corpus: Annotated[
        list[GoldCorpus] | None,
        typer.Option("--corpus", help="Instead of files: a corpus whose clusters give labels; repeatable."),
    ] = None,
    balance: Annotated[
        bool,
        typer.Option(
            "--balance/--all",
            help="Keep as many feminine as masculine rows and the patterns 6:1:1, or all rows.",
        ),
    ] = True,
    per_page: Annotated[int, typer.Option(min=0, help="Rows of a gender from a page at most; 0: all.")] = 3,
    words: Annotated[int, typer.Option(min=1, help="Tokens of a snippet at most.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the choice of balanced rows.")] = 0,
    parser: ParserOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Extract rows like GAP's from running text, by the patterns of Webster et al. 2018.

    FinalPro, MedialPro and InitialPro: two names and a singular gendered pronoun, with no third person between.
    """
    from gapstack.cli.tables import mining_table
    from gapstack.data.gap_files import write_gap
    from gapstack.data.gender import known_first_names
    from gapstack.data.page_files import corpus_pages, count_pages, read_pages
    from gapstack.text.mining import balanced, mine

    if bool(files) == bool(corpus):
        raise DataError(
            "there is nothing to read" if not files else "there are files and a corpus",
            expected="either files or --corpus",
        )
    paths, names = files or [], corpus or []
    folder = Path(data) if data else None
    if output.resolve() in {path.resolve() for path in paths}:
        raise DataError(f"{output} is to be read and written", expected="another file for --output")
    first_names = known_first_names(folder)
    if not first_names:
        log_note("the data set 'names' is missing; only titles indicate the gender of a name")
    pages = chain(
        chain.from_iterable(read_pages(path) for path in paths),
        chain.from_iterable(corpus_pages(name.value, folder) for name in names),
    )
    total = sum(map(count_pages, paths))
    extracted = mine(pages, first_names, parser, per_page=per_page, words=words, total=total)
    result = balanced(extracted, seed) if balance else extracted
    if not result.rows:
        raise DataError(
            f"no row is left of {len(extracted.rows):,} from {extracted.pages:,} pages",
            expected="pages with two names and a pronoun"
            if not extracted.rows
            else "both genders in a pattern",
            remedy="Give more pages" + (", or --all" if extracted.rows else ""),
        )
    write_gap(output, result.corpus)
    if not is_stream(output):
        print_result(mining_table(extracted, result), as_json)
    report_written(output)
