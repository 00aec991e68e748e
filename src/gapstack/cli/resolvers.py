"""Off-the-shelf coreference resolvers: their clusters as predictions for GAP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gapstack.cli.common import JsonOption, ParserOption, report_written

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.evaluation import Scores
    from gapstack.resolvers.align import Reading

app = typer.Typer()


class Match(StrEnum):
    """How mentions of clusters are matched to the two names."""

    WORDS = "words"
    HEADS = "heads"


@app.command("clusters-to-gap")
def clusters_to_gap_command(
    file: Annotated[Path, typer.Argument(help="Output file of a resolver.", show_default=False)],
    gold: Annotated[Path, typer.Option(help="GAP or Kaggle TSV of its rows.")],
    output: Annotated[
        Path | None, typer.Option("--output", help="Scorer TSV (ID, A-coref, B-coref).")
    ] = None,
    clusters: Annotated[
        Path | None, typer.Option("--clusters", help="Clusters in the exchange format, for members.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="Format of the file. Default: detected.")
    ] = None,
    resolver: Annotated[str | None, typer.Option(help="Name of the resolver, if the file has none.")] = None,
    version: Annotated[str, typer.Option(help="Version of the resolver, if the file has none.")] = "unstated",
    match: Annotated[
        Match,
        typer.Option(
            help="words: a mention has a name by its words, wherever it stands. heads: by its head word, at the name's "
            "place, as Webster et al. 2018 score resolvers; needs a parser."
        ),
    ] = Match.WORDS,
    parser: ParserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Convert a resolver's clusters to rows for the official scorer."""
    from gapstack.comparison.results import score_clusters
    from gapstack.data.gap_files import read_gap, write_scorer_tsv
    from gapstack.resolvers.align import read_resolver
    from gapstack.resolvers.clusters import write_clusters
    from gapstack.text.parses import heads_of

    rows = read_gap(gold)
    found = read_resolver(file, rows, format=format, resolver=resolver, version=version)
    heads = heads_of(rows, parser) if match is Match.HEADS else None
    if output:
        write_scorer_tsv(output, rows.ids, found.clusters.decide(rows, heads))
        report_written(output)
    if clusters:
        write_clusters(clusters, found.clusters)
        report_written(clusters)
    _print(found, rows, score_clusters(found.clusters, rows, heads), as_json)


@app.command("resolve")
def resolve_command(
    name: Annotated[str, typer.Argument(help="gapstack, fastcoref, lingmess, coreferee or stanza.")],
    output: Annotated[Path, typer.Argument(metavar="OUT.jsonl", help="Clusters to write (.gz, .xz too).")],
    model: Annotated[
        Path | None,
        typer.Option(help="Folder of the resolver's model; gapstack comes with one.", show_default=False),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of GAP.")] = "development",
    data: Annotated[Path | None, typer.Option(help="Folder with the GAP files. Default: search.")] = None,
    input_path: Annotated[
        Path | None, typer.Option("--input", help="Rows to resolve instead: GAP or Kaggle TSV.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="Let it read the titles of the rows' pages; only gapstack does.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a resolver on GAP's rows; the file goes into clusters-to-gap and the members resolver and grep."""
    from gapstack.anytext.adapter import ADAPTERS
    from gapstack.comparison.results import score_clusters
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import gap_split
    from gapstack.resolvers.live import resolve

    rows = read_gap(input_path) if input_path else gap_split(split, data)
    found = resolve(ADAPTERS[name], model, rows, output, pages=pages)
    report_written(output)
    _print(found, rows, score_clusters(found.clusters, rows), as_json)


def _print(found: Reading, rows: Corpus, scores: Mapping[str, Scores], as_json: bool) -> None:
    from gapstack.cli.tables import clusters_record, clusters_text

    if as_json:
        print(json.dumps(clusters_record(found, rows, scores), indent=2))
    else:
        print(clusters_text(found, rows, scores))
