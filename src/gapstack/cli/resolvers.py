"""Off-the-shelf coreference resolvers: their clusters as predictions for GAP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer
from typer import Argument, Option

from gapstack.cli import common

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.evaluation import Scores
    from gapstack.resolvers.align import Reading

app = typer.Typer()


@app.command("clusters-to-gap")
def clusters_to_gap_command(
    file: Path = Argument(..., help="Output file of a resolver.", show_default=False),
    gold: Path = Option(..., help="GAP or Kaggle TSV of its rows."),
    output: Path | None = Option(None, help="Scorer TSV (ID, A-coref, B-coref)."),
    clusters: Path | None = Option(None, help="Clusters in the exchange format, for members."),
    format: str | None = Option(None, help="Format of the file. Default: detected."),
    resolver: str | None = Option(None, help="Name of the resolver, if the file has none."),
    version: str = Option("unstated", help="Version of the resolver, if the file has none."),
    match: Literal["words", "heads"] = Option(
        "words",
        help="words: a mention has a name by its words, wherever it stands. heads: by its head word, at the name's "
        "place, as Webster et al. 2018 score resolvers; needs a parser.",
    ),
    parser: common.ParserOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Convert a resolver's clusters to rows for the official scorer."""
    from gapstack.comparison.results import score_clusters
    from gapstack.data.gap_files import read_gap, write_scorer_tsv
    from gapstack.resolvers.align import read_resolver
    from gapstack.resolvers.clusters import write_clusters
    from gapstack.text.parses import heads_of

    rows = read_gap(gold)
    found = read_resolver(file, rows, format=format, resolver=resolver, version=version)
    heads = heads_of(rows, parser) if match == "heads" else None
    if output:
        write_scorer_tsv(output, rows.ids, found.clusters.decide(rows, heads))
        common.report_written(output)
    if clusters:
        write_clusters(clusters, found.clusters)
        common.report_written(clusters)
    _print(found, rows, score_clusters(found.clusters, rows, heads), as_json)


@app.command("resolve")
def resolve_command(
    name: str = Argument(..., help="gapstack, fastcoref, lingmess, coreferee or stanza."),
    output: Path = Argument(..., metavar="OUT.jsonl", help="Clusters to write (.gz, .xz too)."),
    model: Path | None = Option(None, help="Model folder; gapstack comes with one.", show_default=False),
    split: str = Option("development", help="Split of GAP."),
    data: Path | None = Option(None, help="Folder with the GAP files. Default: search."),
    input_path: Path | None = Option(None, "--input", help="Rows to resolve instead: GAP or Kaggle TSV."),
    pages: bool = Option(False, "--pages", help="Show gapstack the titles of the rows' pages."),
    as_json: common.JsonOption = False,
) -> None:
    """Run a resolver on GAP's rows; the file goes into clusters-to-gap and the members resolver and grep."""
    from gapstack.anytext.adapter import ADAPTERS
    from gapstack.comparison.results import score_clusters
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import gap_split
    from gapstack.resolvers.live import resolve

    rows = read_gap(input_path) if input_path else gap_split(split, data)
    found = resolve(ADAPTERS[name], model, rows, output, pages=pages)
    common.report_written(output)
    _print(found, rows, score_clusters(found.clusters, rows), as_json)


def _print(reading: Reading, rows: Corpus, scores: Mapping[str, Scores], as_json: bool) -> None:
    """Print format, coverage and losses, and the scores under each reading of a missing row."""
    clusters, covered = reading.clusters, int(reading.clusters.covers(rows).sum())
    if as_json:
        common.print_json(
            {
                "resolver": clusters.name,
                "format": reading.format,
                "rows": len(rows),
                "covered": covered,
                "not_aligned": list(reading.failed),
                "mentions": reading.mentions,
                "mentions_lost": reading.lost,
                "scores": {name: found.as_dict() for name, found in scores.items()},
            }
        )
        return
    failed = f": {', '.join(reading.failed[:5])}" if reading.failed else ""
    common.print_line(f"{clusters.name}, read as {reading.format}: {covered:,} of {len(rows):,} rows covered")
    common.print_line(
        f"rows whose text could not be aligned: {len(reading.failed)} of {reading.rows:,} "
        f"({len(reading.failed) / max(reading.rows, 1):.2%}){failed}"
    )
    common.print_line(f"mentions without a place in the original: {reading.lost:,} of {reading.mentions:,}")
    for name, found in scores.items():
        genders = f"(M {found.f1_masculine:.1f}, F {found.f1_feminine:.1f})"
        common.print_line(f"F1 on {name}: {found.f1_overall:.1f} {genders}")
