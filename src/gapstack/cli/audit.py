"""Gender bias of systems and of word vectors."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli import complete
from gapstack.cli.common import (
    DataOption,
    EncoderOption,
    JsonOption,
    log_note,
    print_line,
    refuse_unknown_run,
    report_written,
    stdout,
    width,
)

app = typer.Typer()


@app.command("audit")
def audit_command(
    target: Annotated[
        str,
        typer.Argument(
            help="A run (name or folder), RUN:MEMBER, a saved member's folder, or a folder of files, SUITE.csv "
            "(probabilities) or SUITE.jsonl (a resolver's clusters).",
            autocompletion=complete.runs,
        ),
    ],
    data: DataOption = None,
    suites: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", help="Suite to run; repeatable. Default: all.", autocompletion=complete.suites
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=1, help="Folds of a run whose predictions are averaged.")] = 1,
    average: Annotated[
        list[str] | None,
        typer.Option(
            "--average", help="Test-time augmentation to average over: swap_gender, anonymise_0, ..."
        ),
    ] = None,
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="Take all rows of suites that are sampled by default.")
    ] = False,
    allow_contaminated: Annotated[
        bool,
        typer.Option(
            "--allow-contaminated", help="Include systems trained on a suite's rows, and mark them."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for the report, its plots and all probabilities.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Web page with all tables, figures, flipped pairs and the model card."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Also print slices and occupations.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a system on every gender-bias suite and print one report."""
    refuse_unknown_run(target)
    from gapstack.audits import SUITES, audit, target_of
    from gapstack.audits.page import write_page
    from gapstack.audits.report import audit_json, audit_parts, write_audit
    from gapstack.data.gap_files import write_submission
    from gapstack.display.render import print_parts

    started = time.perf_counter()
    found = audit(
        target_of(target, tuple(SUITES), folds=folds),
        Path(data) if data else None,
        suites or None,
        allow_contaminated=allow_contaminated,
        average=average or (),
        all_rows=all_rows,
    )
    if as_json:
        print(json.dumps(audit_json(found), indent=2))
    else:
        print_parts(audit_parts(found, details=details), stdout)
    if output:
        for path in write_audit(found, output):
            report_written(path)
        for covered in found.covered:
            for label, answers in covered.answers.items():
                path = output / "answers" / label / f"{covered.suite.name}.csv"
                write_submission(path, covered.items.corpus.ids, answers)
                report_written(path)
    if html:
        write_page(found, html)
        report_written(html)
    log_note(f"total: {time.perf_counter() - started:.0f} s")


@app.command("audit-rows")
def audit_rows_command(
    folder: Annotated[Path, typer.Argument(help="Folder for SUITE.tsv files in GAP's columns, unlabelled.")],
    data: DataOption = None,
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="Write all rows of suites that are sampled by default.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the rows of every suite, for systems that predict to a file."""
    from gapstack.audits import write_rows

    paths = [str(path) for path in write_rows(folder, Path(data) if data else None, all_rows=all_rows)]
    if as_json:
        print(json.dumps(paths, indent=2))
    for path in () if as_json else paths:
        print_line(path)


@app.command("audit-embeddings")
def audit_embeddings_command(
    vectors: Annotated[
        str,
        typer.Argument(
            help="word2vec text or binary, GloVe text; 'encoder' or encoder:NAME for input embeddings."
        ),
    ],
    debias: Annotated[
        list[str] | None, typer.Option("--debias", help="hard, gn_glove, ran or inlp; repeatable.")
    ] = None,
    data: DataOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=0, help="Number of most frequent words to read in addition to the lists; 0 for all."
        ),
    ] = 50_000,
    seed: Annotated[int, typer.Option(help="Seed of partitions, clusters and splits.")] = 0,
    output: Annotated[Path | None, typer.Option("--output", help="Folder for the report as files.")] = None,
    details: Annotated[bool, typer.Option("--details", help="List every missing word.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure gender bias of word vectors, before and after each debiaser."""
    from gapstack.audits.embeddings import (
        audit_embeddings,
        embeddings_json,
        embeddings_text,
        write_embeddings,
    )
    from gapstack.data.word_lists import read_lists
    from gapstack.encoding.static_vectors import read_vectors

    lists = read_lists(Path(data) if data else None)
    space = read_vectors(vectors, limit=limit or None, keep=lists.every_word)
    found = audit_embeddings(space, lists, debias or (), seed=seed)
    if as_json:
        print(json.dumps(embeddings_json(found), indent=2))
    else:
        print(embeddings_text(found, details=details, width=width()), end="")
    if output:
        for path in write_embeddings(found, output):
            report_written(path)


@app.command("audit-sentences")
def audit_sentences_command(
    encoder: EncoderOption = None,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            "--vectors", help="Word vectors to compare with (WEAT); repeatable. Default: input embeddings."
        ),
    ] = None,
    data: DataOption = None,
    layer: Annotated[int, typer.Option(help="Layer, from 0 (embeddings) up or -1 (the last) down.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random partitions.")] = 0,
    output: Annotated[Path | None, typer.Option("--output", help="Folder for the table as files.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Test an encoder's sentences for associations of gender (SEAT), next to word vectors (WEAT)."""
    from gapstack.audits.seat import audit_sentences, sentences_json, sentences_table, write_sentences
    from gapstack.data.word_lists import read_lists
    from gapstack.encoding.static_vectors import read_vectors

    lists = read_lists(Path(data) if data else None)
    sources = vectors or [f"encoder:{encoder}" if encoder else "encoder"]
    spaces = [read_vectors(source, keep=lists.every_word) for source in sources]
    found = audit_sentences(lists, encoder, spaces, layer=layer, seed=seed)
    if as_json:
        print(json.dumps(sentences_json(found), indent=2))
    else:
        sentences_table(found).print(stdout)
    if output:
        for path in write_sentences(found, output):
            report_written(path)
