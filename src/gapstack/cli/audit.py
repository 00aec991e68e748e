"""Gender bias of systems, of word vectors and of sentence encoders."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from gapstack.cli import common
from gapstack.errors import counted

app = typer.Typer()

AllRowsOption = Annotated[bool, Option("--all-rows", help="All rows of suites that are sampled by default.")]


@common.command(app, "gap audit default --suite winogender", "gap audit quickstart --html audit.html")
def audit_command(
    target: str = Argument(
        help="A run (name or folder), RUN:MEMBER, a saved member's folder, default (the bundled "
        "model), a language model (prompted:MODEL or http://HOST/v1#NAME), or a folder of files, SUITE.csv "
        "(probabilities) or SUITE.jsonl (a resolver's clusters).",
        autocompletion=common.complete_run,
    ),
    data: common.DataOption = None,
    suites: list[str] | None = common.choice_option(
        "Suite to run; repeatable. Default: all.", "gapstack.audits:SUITES", "--suite"
    ),
    folds: int = Option(1, min=1, help="Folds of a run whose predictions are averaged."),
    average: list[str] | None = common.choice_option(
        "Test-time augmentation to average over: swap_gender, ...", "gapstack.data.augment:AUGMENTATIONS"
    ),
    all_rows: AllRowsOption = False,
    limit: int | None = Option(
        None, min=1, help="About as many rows of each suite, spread over it, for a quick trial."
    ),
    find_candidates: bool = Option(
        False, "--find-candidates", help="Give the text and the pronoun alone; people are found in the text."
    ),
    workers: common.WorkersOption = 1,
    executor: common.ExecutorOption = "loky",
    allow_contaminated: bool = Option(False, "--allow-contaminated", help="Also systems trained on a suite."),
    probe: bool = Option(False, "--probe", help="Probe a language model: has it seen the rows of GAP test?"),
    fresh: Path | None = common.input_option(
        "Rows for --probe that it cannot have seen, such as those of gap mine."
    ),
    output: Path | None = common.output_folder_option("Folder for report, plots and all probabilities."),
    html: Path | None = common.output_option("Web page with tables, figures, flips and model card."),
    details: bool = Option(False, "--details", help="Also print slices and occupations."),
    as_json: common.JsonOption = False,
) -> None:
    """Run a system on every gender-bias suite and print one report."""
    common.refuse_unknown_run(target)
    from gapstack.audits import SUITES, audit, page, report, target_of
    from gapstack.audits.probe import probe_table
    from gapstack.data.gap_files import read_gap, write_submission
    from gapstack.files import write_text

    started = time.perf_counter()
    for name in suites or ():
        SUITES.entry(name)  # an unknown one is refused before the target is loaded
    audited = target_of(target, tuple(SUITES), folds=folds)
    found = audit(
        audited,
        suites=suites or None,
        allow_contaminated=allow_contaminated,
        average=average or (),
        all_rows=all_rows,
        limit=limit,
        find_candidates=find_candidates,
        workers=workers,
        executor=executor,
    )
    shown = report(found, details=details)
    if probe or fresh:
        rows = SUITES["gap"].load().corpus
        table = probe_table(audited.systems, rows, read_gap(fresh) if fresh else None)
        record = {**(shown.data or {}), "probe": table.json()}
        shown = replace(shown, tables=[*shown.tables, table], data=record)
    common.print_report(shown, as_json)
    if output:
        common.report_written(*report(found, details=True).write(output))
        for covered in found.covered:
            for label, answers in covered.answers.items():
                path = output / "answers" / label / f"{covered.suite.name}.csv"
                write_submission(path, covered.items.corpus.ids, answers)
                common.report_written(path)
    if html:
        write_text(html, page(found))
        common.report_written(html)
    common.log_note(f"total: {time.perf_counter() - started:.0f} s")


def _schema_rows(source: Path, folder: Path) -> Path:
    """Write the labelled rows of a file of another project, and say what was left out."""
    from gapstack.data.extra.rows import ExtraRows
    from gapstack.data.extra.schema_files import read_schema_file
    from gapstack.data.gap_files import write_gap

    rows = ExtraRows(source.stem, neutral=True)
    read_schema_file(source, rows)
    for reason, count in rows.skipped.items():
        common.log_note(f"{source}: {counted(count, 'sentence')} left out: {reason}")
    write_gap(folder / f"{source.stem}.tsv", rows.corpus)
    return folder / f"{source.stem}.tsv"


@common.command(app, "gap audit-rows rows", "gap audit-rows rows --input en.txt")
def audit_rows_command(
    folder: Path = Argument(
        help="Folder for SUITE.tsv files in GAP's columns, unlabelled.", parser=common.output_folder
    ),
    input: list[Path] | None = common.input_option(
        "Instead of the suites: wino_bias of Hugging Face (parquet, JSON lines) or WinoMT (TSV), as labelled rows."
    ),
    data: common.DataOption = None,
    all_rows: AllRowsOption = False,
    as_json: common.JsonOption = False,
) -> None:
    """Write the rows of every suite, for systems that predict to a file."""
    if input:
        paths = [str(_schema_rows(path, folder)) for path in input]
    else:
        from gapstack.audits import write_rows

        paths = [str(path) for path in write_rows(folder, all_rows=all_rows)]
    if as_json:
        common.print_json(paths)
    else:
        for path in paths:
            common.print_line(path)


@common.command(app, "gap audit-embeddings glove.6B.50d.txt --debias hard")
def audit_embeddings_command(
    vectors: str = Argument(help="word2vec or GloVe file; 'encoder' or encoder:NAME for input embeddings."),
    debias: list[str] | None = common.choice_option(
        "hard, gn_glove, ran or inlp; repeatable.", "gapstack.papers.debiasers:DEBIASERS"
    ),
    data: common.DataOption = None,
    limit: int = Option(50_000, min=0, help="Most frequent words to read in addition to the lists; 0: all."),
    seed: int = Option(0, help="Seed of partitions, clusters and splits."),
    output: Path | None = common.output_folder_option("Folder for the report as files."),
    details: bool = Option(False, "--details", help="List every missing word."),
    as_json: common.JsonOption = False,
) -> None:
    """Measure gender bias of word vectors, before and after each debiaser."""
    from gapstack.encoding.word_vectors import read_vectors
    from gapstack.papers.embeddings import audit_embeddings, embeddings_report
    from gapstack.papers.word_lists import read_lists

    lists = read_lists()
    space = read_vectors(vectors, limit=limit or None, keep=lists.every_word)
    found = audit_embeddings(space, lists, debias or (), seed=seed)
    common.print_report(embeddings_report(found, details=details), as_json)
    if output:
        common.report_written(*embeddings_report(found, details=True).write(output))


@common.command(app, "gap audit-sentences --encoder bert-base-uncased")
def audit_sentences_command(
    encoder: common.EncoderOption = None,
    vectors: list[str] | None = Option(None, help="Word vectors to compare. Default: input embeddings."),
    data: common.DataOption = None,
    layer: int = Option(-1, help="Layer, from 0 (embeddings) up or -1 (the last) down."),
    seed: int = Option(0, min=0, help="Seed of random partitions."),
    output: Path | None = common.output_folder_option("Folder for the table as files."),
    as_json: common.JsonOption = False,
) -> None:
    """Test an encoder's sentences for associations of gender (SEAT), next to word vectors (WEAT)."""
    from gapstack.encoding.word_vectors import read_vectors
    from gapstack.papers.associations import audit_sentences, sentences_report
    from gapstack.papers.word_lists import read_lists

    lists = read_lists()
    sources = vectors or [f"encoder:{encoder}" if encoder else "encoder"]
    spaces = [read_vectors(source, keep=lists.every_word) for source in sources]
    report = sentences_report(audit_sentences(lists, encoder, spaces, layer=layer, seed=seed))
    common.print_report(report, as_json, output)
