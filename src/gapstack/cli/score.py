"""Predictions in files, a resolver's clusters among them: score, check, stack, compare and convert them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, Place, counted

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.evaluation import Scores
    from gapstack.resolvers.align import Reading

app = typer.Typer()

AgainstOption = Annotated[Path, common.input_option("The rows that it should predict.", default=...)]


def _rows(predictions: Path, gold: Path | None, labels: str | None) -> Corpus:
    """Labelled rows of a file, or of the split of GAP that the ids of the predictions name."""
    from gapstack.data.gap_data import relabel, rows_of
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation.prediction_files import prediction_ids

    rows = read_gap(gold) if gold is not None else rows_of(prediction_ids(predictions))
    return relabel(rows, labels or "official")


@common.command(app, "gap score submissions/quickstart.csv", "gap score answers.csv --gold mine.tsv")
def score_command(
    file: Path = Argument(help="Submission CSV or scorer TSV.", parser=common.input_file),
    gold: Path | None = common.input_option(
        "Labelled GAP TSV, or Kaggle's solution file with Usage. Default: the split that the ids name."
    ),
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Score a file as Kaggle and the official GAP scorer do, next to constant predictions."""
    from gapstack.data.gap_files import is_solution
    from gapstack.display import gap_record, gap_report
    from gapstack.display.render import pipe_width
    from gapstack.evaluation import degenerate_scores, score_file
    from gapstack.evaluation.prediction_files import score_solution

    parts: dict[str, tuple[Corpus, Scores, tuple[str, ...]]] = {}
    if gold is not None and is_solution(gold):
        for usage, (rows, scores) in score_solution(file, gold).items():
            parts[usage] = rows, scores, ()
    else:
        corpus = _rows(file, gold, labels)
        parts[""] = corpus, *score_file(file, corpus)
    records = []
    for usage, (rows, scores, notes) in parts.items():
        name, degenerate = f"{file.name} {usage}".strip(), degenerate_scores(rows)
        if as_json:
            records.append(gap_record(name, scores, degenerate, notes))
        else:
            width = common.stdout.width if common.stdout.is_terminal else pipe_width()
            print(gap_report(name, scores, degenerate, notes, width), end="")
    if as_json:
        common.print_json(records[0] if "" in parts else dict(zip(parts, records, strict=True)))


@common.command(app, "gap submit-check answers.csv --against rows.tsv")
def submit_check_command(
    against: AgainstOption,
    file: Path = Argument(help="Submission CSV.", parser=common.input_file),
    as_json: common.JsonOption = False,
) -> None:
    """Check whether Kaggle would accept a submission; exit status 1 if not."""
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation import submit_check

    rows = read_gap(against)
    problems = submit_check(file, rows)
    refused = any(problem.fatal for problem in problems)
    if as_json:
        found = [{"problem": str(problem), "fatal": problem.fatal} for problem in problems]
        common.print_json({"rows": len(rows), "accepted": not refused, "problems": found})
    else:
        for problem in problems:
            common.print_line(str(problem))
        verdict = "refuse it" if refused else f"take it ({counted(len(rows), 'row')})"
        common.print_line(f"{file}: Kaggle would {verdict}")
    raise typer.Exit(1 if refused else 0)


@common.command(app, "gap submit answers.csv --against rows.tsv --kaggle gendered-pronoun-resolution")
def submit_command(
    against: AgainstOption,
    file: Path = Argument(help="Submission CSV.", parser=common.input_file),
    competition: str = Option(..., "--kaggle", help="Competition, such as gendered-pronoun-resolution."),
    message: str = Option("gapstack", help="Message shown on Kaggle."),
    as_json: common.JsonOption = False,
) -> None:
    """Check a submission, and hand it to Kaggle through Kaggle's own command line (extra kaggle)."""
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation import submit_check
    from gapstack.evaluation.prediction_files import submit

    problems = submit_check(file, read_gap(against))
    for problem in problems:
        common.log_note(str(problem))
    if any(problem.fatal for problem in problems):
        raise DataError(
            "Kaggle would refuse it, so it was not sent",
            place=Place(file),
            remedy="Correct what is listed above",
        )
    answer = submit(competition, file, message)
    if as_json:
        common.print_json({"competition": competition, "file": str(file), "answer": answer})
    else:
        common.print_line(answer)


@common.command(app, "gap stack one.csv two.csv --gold mine.tsv --output stacked.csv")
def stack_command(
    files: list[Path] = Argument(help="Submission CSVs for the same rows.", parser=common.input_file),
    gold: Path | None = common.input_option("Labelled GAP TSV. Default: the split that the ids name."),
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    folds: int = Option(10, min=3, help="Page-grouped folds of the outer and the inner loop."),
    seed: int = Option(2019, help="Seed of the folds."),
    stacker: list[str] | None = common.choice_option(
        "Stacker to choose from; repeatable.", "gapstack.ensemble:STACKERS"
    ),
    output: Path | None = common.output_option("Submission CSV, out of fold."),
    as_json: common.JsonOption = False,
) -> None:
    """Stack submission files, scored by nested cross-validation."""
    from gapstack.comparison.results import stack_table
    from gapstack.data.gap_files import write_submission
    from gapstack.runs.cross_validation import KINDS, stack_files

    rows = _rows(files[0], gold, labels)
    members, nested = stack_files(files, rows, folds=folds, seed=seed, kinds=stacker or KINDS)
    if not common.is_stream(output):
        common.print_table(stack_table(rows, members, nested), as_json)
    if output:
        write_submission(output, rows.ids, nested.out_of_fold)
        common.report_written(output)


@common.command(
    app,
    "gap compare quickstart",
    "gap compare one.csv two.csv three.csv --gold gap-test.tsv --html page.html",
)
def compare_command(
    what: list[str] = Argument(
        help="Submission CSVs and scorer TSVs; runs by name or folder; RUN:MEMBER for one member; saved members by "
        "folder, default for the bundled model.",
        autocompletion=common.complete_run,
    ),
    gold: Path | None = common.input_option(
        "GAP TSV with labels. Default: what the first run held out; without runs, the split that the first "
        "file's ids name."
    ),
    out_of_fold: bool = Option(False, "--out-of-fold", help="Compare on the run's rows out of fold."),
    trained_on: list[Path] | None = common.input_option("GAP TSV that files were trained on, to find leaks."),
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    replicates: int = Option(10_000, min=100, help="Resamples of pages, and permutations."),
    seed: int = Option(2019, help="Seed of all resampling."),
    flips: int = Option(0, min=0, help="Rows for counterfactual flips of runs' members; none by default."),
    full: bool = Option(
        False,
        "--full",
        help="All tables: label sets, pairs, similarity, contributions, slices.",
    ),
    html: Path | None = common.output_option("Web page with plots and all examples."),
    csv: Path | None = common.output_folder_option("Folder for CSV files."),
    as_json: common.JsonOption = False,
) -> None:
    """Compare members, runs and files: intervals, paired tests, slices and contributions, on every label set."""
    for source in what:
        common.refuse_unknown_run(source)
    from gapstack import comparison
    from gapstack.data.gap_files import read_gap
    from gapstack.files import write_text

    rows, entries = comparison.read_entries(
        what,
        read_gap(gold) if gold else None,
        out_of_fold=out_of_fold,
        trained_on=[read_gap(path) for path in trained_on or ()],
    )
    corpora = comparison.label_sets(rows, labels or "official")
    found = comparison.measure(corpora, entries, replicates=replicates, seed=seed, flips=flips)
    # printed first: an error in writing must not cost the results
    common.print_result(
        as_json, lambda: comparison.report(found, full=full).parts, lambda: comparison.record(found)
    )
    if html:
        write_text(html, comparison.page(found))
        common.report_written(html)
    if csv:
        common.report_written(*comparison.write_csv(found, csv))


@common.command(app, "gap clusters-to-gap clusters.jsonl --gold gap-test.tsv --output answers.tsv")
def clusters_to_gap_command(
    gold: Annotated[Path, common.input_option("GAP or Kaggle TSV of its rows.", default=...)],
    file: Path = Argument(help="Output file of a resolver.", parser=common.input_file),
    output: Path | None = common.output_option("Scorer TSV (ID, A-coref, B-coref)."),
    clusters: Path | None = common.output_option("Clusters in the exchange format, for members."),
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
    from gapstack.data.clusters import write_clusters
    from gapstack.data.gap_files import read_gap, write_scorer_tsv
    from gapstack.language.parses import heads_of
    from gapstack.resolvers.align import read_resolver

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


@common.command(
    app,
    "gap resolve gapstack clusters.jsonl --split test",
    "gap resolve fastcoref clusters.jsonl --input rows.tsv",
)
def resolve_command(
    name: str = Argument(
        help="gapstack, fastcoref, lingmess, coreferee or stanza.",
        autocompletion=common.completion("gapstack.resolvers.live:ADAPTERS"),
    ),
    output: Path = Argument(
        metavar="OUT.jsonl", help="Clusters to write (.gz, .xz too).", parser=common.output_file
    ),
    model: Path | None = Option(None, metavar="FOLDER", help="Model folder; by default the bundled one."),
    split: str = common.choice_option(
        "Split of GAP.", "gapstack.data.gap_data:SPLITS", default="development"
    ),
    data: common.DataOption = None,
    input_path: Path | None = common.input_option("Rows to resolve instead: GAP or Kaggle TSV.", "--input"),
    pages: bool = Option(False, "--pages", help="Show gapstack the titles of the rows' pages."),
    as_json: common.JsonOption = False,
) -> None:
    """Run a resolver on GAP's rows; the file goes into clusters-to-gap and the members resolver and grep."""
    from gapstack.comparison.results import score_clusters
    from gapstack.data.gap_data import gap_split
    from gapstack.data.gap_files import read_gap
    from gapstack.resolvers.live import ADAPTERS, resolve

    adapter = ADAPTERS[name]
    if name == "gapstack" and model and not (model / adapter.file).is_file():
        from gapstack.runs.text_resolvers import PAIRS

        adapter = PAIRS
    rows = read_gap(input_path) if input_path else gap_split(split)
    found = resolve(adapter, model, rows, output, pages=pages)
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
