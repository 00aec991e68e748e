"""Files of predictions: score, check, stack and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import DataError, Place

if TYPE_CHECKING:
    from gapstack.data import Corpus

app = typer.Typer()

GoldOption = Annotated[
    Path | None,
    Option(
        "--gold",
        help="GAP TSV with labels. Default: the split of GAP that the ids name.",
        parser=common.input_file,
        metavar="FILE",
    ),
]
SubmissionArgument = Annotated[
    Path, Argument(metavar="FILE", help="Submission CSV.", parser=common.input_file)
]
AgainstOption = Annotated[Path, Option("--against", help="The rows that it should predict.")]


def _rows(predictions: Path, gold: Path | None, labels: str | None, data: str | None) -> Corpus:
    """Labelled rows: of a file, or the split of GAP that the ids of the predictions name."""
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import data_folder, relabel, rows_of
    from gapstack.evaluation.files import prediction_ids

    folder = data_folder(data)
    rows = read_gap(gold) if gold is not None else rows_of(prediction_ids(predictions), folder)
    return relabel(rows, labels or "official", folder)


@app.command("score")
def score_command(
    predictions: Path = Argument(
        ..., help="Submission CSV or scorer TSV.", parser=common.input_file, metavar="FILE"
    ),
    gold: GoldOption = None,
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Score a file as Kaggle and the official GAP scorer do, next to constant predictions."""
    from gapstack.data.gap_files import read_gold
    from gapstack.display import gap_record, gap_report
    from gapstack.evaluation import degenerate_scores, score_file

    # other label sets change only rows of GAP, which are few
    plain = gold is not None and labels in {None, "official"}
    corpus = read_gold(gold) if gold is not None and plain else _rows(predictions, gold, labels, data)
    scores, notes = score_file(predictions, corpus)
    degenerate = degenerate_scores(corpus)
    if as_json:
        common.print_json(gap_record(predictions.name, scores, degenerate, notes))
    else:
        print(gap_report(predictions.name, scores, degenerate, notes, common.width()), end="")


@app.command("submit-check")
def submit_check_command(
    submission: SubmissionArgument, against: AgainstOption, as_json: common.JsonOption = False
) -> None:
    """Check whether Kaggle would accept a submission; exit status 1 if not."""
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation import submit_check

    rows = read_gap(against)
    problems = submit_check(submission, rows)
    refused = any(problem.fatal for problem in problems)
    if as_json:
        found = [{"problem": str(problem), "fatal": problem.fatal} for problem in problems]
        common.print_json({"rows": len(rows), "accepted": not refused, "problems": found})
    else:
        for problem in problems:
            common.print_line(str(problem))
        verdict = "refuse it" if refused else f"take it ({len(rows):,} rows)"
        common.print_line(f"{submission}: Kaggle would {verdict}")
    raise typer.Exit(1 if refused else 0)


@app.command("submit")
def submit_command(
    against: AgainstOption,
    submission: Path = Argument(..., metavar="FILE", help="Submission CSV."),
    competition: str = Option(
        ..., "--kaggle", metavar="COMPETITION", help="Such as gendered-pronoun-resolution."
    ),
    message: str = Option("gapstack", help="Message shown on Kaggle."),
    as_json: common.JsonOption = False,
) -> None:
    """Check a submission, and hand it to Kaggle through Kaggle's own command line (extra kaggle)."""
    from gapstack.data.gap_files import read_gap
    from gapstack.evaluation import submit_check
    from gapstack.evaluation.files import submit

    problems = submit_check(submission, read_gap(against))
    for problem in problems:
        common.log_note(str(problem))
    if any(problem.fatal for problem in problems):
        raise DataError("Kaggle would refuse it, so it was not sent", place=Place(submission))
    answer = submit(competition, submission, message)
    if as_json:
        common.print_json({"competition": competition, "file": str(submission), "answer": answer})
    else:
        common.print_line(answer)


@app.command("stack")
def stack_command(
    files: list[Path] = Argument(..., metavar="FILES", help="Submission CSVs for the same rows."),
    gold: GoldOption = None,
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    folds: int = Option(10, min=3, help="Page-grouped folds of the outer and the inner loop."),
    seed: int = Option(2019, help="Seed of the folds."),
    stacker: list[str] | None = Option(None, help="Stacker to choose from; repeatable."),
    output: Path | None = Option(
        None,
        help="Submission CSV for the out-of-fold predictions.",
        parser=common.output_file,
        metavar="FILE",
    ),
    as_json: common.JsonOption = False,
) -> None:
    """Stack submission files, scored by nested cross-validation."""
    from gapstack.comparison.results import stack_table
    from gapstack.data.gap_files import write_submission
    from gapstack.runs.cross_validation import KINDS, stack_files

    rows = _rows(files[0], gold, labels, data)
    found = stack_files(files, rows, folds=folds, seed=seed, kinds=stacker or KINDS)
    table = stack_table(found)
    if not common.is_stream(output):
        common.print_table(table, as_json)
    if output:
        write_submission(output, rows.ids, found.nested.out_of_fold)
        common.report_written(output)


@app.command("compare")
def compare_command(
    sources: list[str] = Argument(
        ...,
        metavar="WHAT",
        help="Submission CSVs and scorer TSVs; runs by name or folder; RUN:MEMBER for one member.",
        autocompletion=common.complete_run,
    ),
    gold: Path | None = Option(
        None,
        help="GAP TSV with labels. Default: what the first run held out; of files, the split that their ids name.",
    ),
    out_of_fold: bool = Option(
        False, "--out-of-fold", help="Compare on the rows that the run predicted out of fold."
    ),
    trained_on: list[Path] | None = Option(
        None, help="GAP TSV that files were trained on, checked for leaks."
    ),
    labels: common.LabelsOption = None,
    data: common.DataOption = None,
    replicates: int = Option(10_000, min=100, help="Resamples of pages, and permutations."),
    seed: int = Option(2019, help="Seed of all resampling."),
    flips: int = Option(0, min=0, help="Rows for counterfactual flips of runs' members; none by default."),
    html: Path | None = Option(None, help="Web page with plots and all examples."),
    csv: Path | None = Option(None, help="Folder for CSV files."),
    as_json: common.JsonOption = False,
) -> None:
    """Compare members, runs and files: intervals, paired tests, slices and contributions, on every label set."""
    for source in sources:
        common.refuse_unknown_run(source)
    from gapstack import comparison
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import data_folder

    folder = data_folder(data)
    files = [Path(source) for source in sources if Path(source).is_file()]
    rows_of_files = gold is not None or len(files) == len(sources)
    rows, entries = comparison.read_entries(
        sources,
        _rows(files[0] if files else Path(), gold, None, data) if rows_of_files else None,
        out_of_fold=out_of_fold,
        trained_on=[read_gap(path) for path in trained_on or ()],
        data=data,
    )
    corpora = comparison.label_sets(rows, labels or "official", folder)
    found = comparison.measure(corpora, entries, replicates=replicates, seed=seed, flips=flips, data=folder)
    # printed first: an error in writing must not cost the results
    common.print_result(
        as_json, lambda: comparison.tables(found, comparison.LISTED), lambda: comparison.record(found)
    )
    if html:
        comparison.write_page(found, html)
        common.report_written(html)
    if csv:
        common.report_written(*comparison.write_csv(found, csv))
