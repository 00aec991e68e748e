"""Files of predictions: score, check, stack and compare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import (
    DataOption,
    JsonOption,
    LabelsOption,
    labelled,
    refuse_unknown_run,
    say,
    show,
    stdout,
)
from gapstack.corpus.readers import read_gap, read_gold
from gapstack.corpus.writers import write_submission

app = typer.Typer()


@app.command("score")
def score_command(
    predictions: Annotated[Path, typer.Argument(help="Submission CSV or scorer TSV.")],
    gold: Annotated[Path, typer.Option("--gold", help="GAP TSV with labels.")],
    labels: LabelsOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a file as Kaggle and the official GAP scorer do, beside constant predictions."""
    from gapstack.report import gap_record, gap_report
    from gapstack.scoring import degenerate_scores, score_file

    # other label sets change rows of GAP alone, which are few
    corpus = read_gold(gold) if labels in {None, "official"} else labelled(gold, labels, data)
    scores, notes = score_file(predictions, corpus)
    degenerate = degenerate_scores(corpus)
    if as_json:
        print(json.dumps(gap_record(predictions.name, scores, degenerate, notes), indent=2))
    else:
        print(gap_report(predictions.name, scores, degenerate, notes), end="")


@app.command("submit-check")
def submit_check_command(
    submission: Annotated[Path, typer.Argument(metavar="FILE", help="Submission CSV.")],
    against: Annotated[Path, typer.Option("--against", help="The rows that it should predict.")],
) -> None:
    """Check whether Kaggle would accept a submission; exit status 1 if not."""
    from gapstack.scoring import submit_check

    rows = read_gap(against)
    problems = submit_check(submission, rows)
    for problem in problems:
        show(str(problem))
    refused = any(problem.fatal for problem in problems)
    show(f"{submission}: Kaggle would {'refuse it' if refused else f'take it ({len(rows):,} rows)'}")
    raise typer.Exit(1 if refused else 0)


@app.command("stack")
def stack_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Submission CSVs for the same rows.")],
    gold: Annotated[Path, typer.Option("--gold", help="GAP TSV with labels.")],
    labels: LabelsOption = None,
    data: DataOption = None,
    folds: Annotated[
        int, typer.Option(min=3, help="Page-grouped folds of the outer and the inner loop.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 2019,
    stacker: Annotated[
        list[str] | None, typer.Option("--stacker", help="Stacker to choose from; repeatable.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Submission CSV for the stack's out-of-fold predictions.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Stack submission files, scored by nested cross-validation."""
    from gapstack.comparison.results import score_stack
    from gapstack.report.stack import stack_table
    from gapstack.runs.file_stack import KINDS, stack_files

    rows = labelled(gold, labels, data)
    found = stack_files(files, rows, folds=folds, seed=seed, kinds=stacker or KINDS)
    table = stack_table(score_stack(found))
    if as_json:
        print(json.dumps(table.json(), indent=2))
    else:
        table.print(stdout)
    if output:
        write_submission(output, rows.ids, found.nested.out_of_fold)


@app.command("compare")
def compare_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT",
            help="Submission CSVs and scorer TSVs; runs by name or folder; RUN:MEMBER for one member.",
        ),
    ],
    gold: Annotated[
        Path | None, typer.Option("--gold", help="GAP TSV with labels. Default: what the first run held out.")
    ] = None,
    out_of_fold: Annotated[
        bool,
        typer.Option(
            "--out-of-fold", help="Without --gold: compare on the rows that the run predicted out of fold."
        ),
    ] = False,
    trained_on: Annotated[
        list[Path] | None,
        typer.Option(
            "--trained-on", help="GAP TSV that the files' makers trained on, checked for leaks; repeatable."
        ),
    ] = None,
    labels: LabelsOption = None,
    data: DataOption = None,
    replicates: Annotated[int, typer.Option(min=100, help="Resamples of pages, and permutations.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of all resampling.")] = 2019,
    flips: Annotated[
        int,
        typer.Option(min=0, help="Rows for counterfactual flips of runs' members; none by default."),
    ] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="Web page with plots and all examples.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Folder for CSV files.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare members, runs and files: intervals, paired tests, slices and contributions, on every label set."""
    for source in sources:
        refuse_unknown_run(source)
    from gapstack.report.compare import (
        LISTED,
        compare,
        label_sets,
        read_entries,
        record,
        tables,
        write_csv,
        write_page,
    )

    rows, entries = read_entries(
        sources,
        None if gold is None else read_gap(gold),
        out_of_fold=out_of_fold,
        trained_on=[read_gap(path) for path in trained_on or ()],
        data=data,
    )
    folder = Path(data) if data and data != "sample" else None
    corpora = label_sets(rows, labels or "official", folder)
    comparison = compare(corpora, entries, replicates=replicates, seed=seed, flips=flips, data=folder)
    # printed first: what cannot be written must not cost what was computed
    if as_json:
        print(json.dumps(record(comparison), indent=2))
    else:
        for table in tables(comparison, LISTED):
            table.print(stdout)
            print()
    if html:
        write_page(comparison, html)
        say(f"wrote {html}")
    if csv:
        for path in write_csv(comparison, csv):
            say(f"wrote {path}")
