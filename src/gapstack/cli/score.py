"""Files of predictions: score, check, stack and compare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gapstack.cli import complete
from gapstack.cli.common import (
    DataOption,
    JsonOption,
    LabelsOption,
    labelled,
    log_note,
    print_line,
    print_result,
    refuse_unknown_run,
    report_written,
    stdout,
    width,
)
from gapstack.cli.streams import input_file, is_stream, output_file
from gapstack.errors import DataError, Place

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.evaluation import SubmissionProblem

app = typer.Typer()

GoldOption = Annotated[
    Path | None,
    typer.Option(
        "--gold",
        help="GAP TSV with labels. Default: the split of GAP that the ids name.",
        parser=input_file,
        metavar="FILE",
    ),
]


def _rows(predictions: Path, gold: Path | None, labels: str | None, data: str | None) -> Corpus:
    """Labelled rows: of a file, or the split of GAP that the ids of the predictions name."""
    if gold is not None:
        return labelled(gold, labels, data)
    from gapstack.data.sources import data_folder, relabel, rows_of
    from gapstack.evaluation.files import prediction_ids

    folder = data_folder(data)
    return relabel(rows_of(prediction_ids(predictions), folder), labels or "official", folder)


@app.command("score")
def score_command(
    predictions: Annotated[
        Path, typer.Argument(help="Submission CSV or scorer TSV.", parser=input_file, metavar="FILE")
    ],
    gold: GoldOption = None,
    labels: LabelsOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a file as Kaggle and the official GAP scorer do, next to constant predictions."""
    from gapstack.data.gap_files import read_gold
    from gapstack.display import gap_record, gap_report
    from gapstack.evaluation import degenerate_scores, score_file

    # other label sets change rows of GAP alone, which are few
    plain = gold is not None and labels in {None, "official"}
    corpus = read_gold(gold) if gold is not None and plain else _rows(predictions, gold, labels, data)
    scores, notes = score_file(predictions, corpus)
    degenerate = degenerate_scores(corpus)
    if as_json:
        print(json.dumps(gap_record(predictions.name, scores, degenerate, notes), indent=2))
    else:
        print(gap_report(predictions.name, scores, degenerate, notes, width()), end="")


def _problems(submission: Path, rows: Corpus) -> tuple[list[SubmissionProblem], bool]:
    """Check a submission; reports problems and if Kaggle would refuse it."""
    from gapstack.evaluation import submit_check

    problems = submit_check(submission, rows)
    return problems, any(problem.fatal for problem in problems)


@app.command("submit-check")
def submit_check_command(
    submission: Annotated[Path, typer.Argument(metavar="FILE", help="Submission CSV.", parser=input_file)],
    against: Annotated[Path, typer.Option("--against", help="The rows that it should predict.")],
    as_json: JsonOption = False,
) -> None:
    """Check whether Kaggle would accept a submission; exit status 1 if not."""
    from gapstack.data.gap_files import read_gap

    rows = read_gap(against)
    problems, refused = _problems(submission, rows)
    if as_json:
        found = [{"problem": str(problem), "fatal": problem.fatal} for problem in problems]
        print(json.dumps({"rows": len(rows), "accepted": not refused, "problems": found}, indent=2))
        raise typer.Exit(1 if refused else 0)
    for problem in problems:
        print_line(str(problem))
    print_line(f"{submission}: Kaggle would {'refuse it' if refused else f'take it ({len(rows):,} rows)'}")
    raise typer.Exit(1 if refused else 0)


@app.command("submit")
def submit_command(
    submission: Annotated[Path, typer.Argument(metavar="FILE", help="Submission CSV.")],
    competition: Annotated[
        str, typer.Option("--kaggle", metavar="COMPETITION", help="Such as gendered-pronoun-resolution.")
    ],
    against: Annotated[Path, typer.Option("--against", help="The rows that it should predict.")],
    message: Annotated[str, typer.Option("--message", help="Message shown on Kaggle.")] = "gapstack",
    as_json: JsonOption = False,
) -> None:
    """Check a submission, and hand it to Kaggle through Kaggle's own command line (extra kaggle)."""
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation.submission import submit

    problems, refused = _problems(submission, read_gap(against))
    for problem in problems:
        log_note(str(problem))
    if refused:
        raise DataError("Kaggle would refuse it, so it was not sent", place=Place(submission))
    answer = submit(competition, submission, message)
    if as_json:
        print(json.dumps({"competition": competition, "file": str(submission), "answer": answer}, indent=2))
    else:
        print_line(answer)


@app.command("stack")
def stack_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Submission CSVs for the same rows.")],
    gold: GoldOption = None,
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
        Path | None,
        typer.Option(
            "--output",
            help="Submission CSV for the stack's out-of-fold predictions.",
            parser=output_file,
            metavar="FILE",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Stack submission files, scored by nested cross-validation."""
    from gapstack.cli.tables import stack_table
    from gapstack.comparison.results import score_stack
    from gapstack.data.gap_files import write_submission
    from gapstack.runs.cross_validation import KINDS, stack_files

    rows = _rows(files[0], gold, labels, data)
    found = stack_files(files, rows, folds=folds, seed=seed, kinds=stacker or KINDS)
    table = stack_table(score_stack(found))
    if not (output and is_stream(output)):
        print_result(table, as_json)
    if output:
        write_submission(output, rows.ids, found.nested.out_of_fold)
        report_written(output)


@app.command("compare")
def compare_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT",
            help="Submission CSVs and scorer TSVs; runs by name or folder; RUN:MEMBER for one member.",
            autocompletion=complete.runs,
        ),
    ],
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            help="GAP TSV with labels. Default: what the first run held out; of files, the split that their ids name.",
        ),
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
    from gapstack.comparison import (
        LISTED,
        label_sets,
        measure,
        read_entries,
        record,
        tables,
        write_csv,
        write_page,
    )
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import data_folder

    files = [Path(source) for source in sources if Path(source).is_file()]
    rows_of_files = gold is not None or len(files) == len(sources)
    rows, entries = read_entries(
        sources,
        _rows(files[0] if files else Path(), gold, None, data) if rows_of_files else None,
        out_of_fold=out_of_fold,
        trained_on=[read_gap(path) for path in trained_on or ()],
        data=data,
    )
    folder = data_folder(data)
    corpora = label_sets(rows, labels or "official", folder)
    comparison = measure(corpora, entries, replicates=replicates, seed=seed, flips=flips, data=folder)
    # printed first: what cannot be written must not cost what was computed
    if as_json:
        print(json.dumps(record(comparison), indent=2))
    else:
        for table in tables(comparison, LISTED):
            table.print(stdout)
            print()
    if html:
        write_page(comparison, html)
        report_written(html)
    if csv:
        for path in write_csv(comparison, csv):
            report_written(path)
