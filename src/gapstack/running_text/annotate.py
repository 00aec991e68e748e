"""Annotation of whole documents: their windows are answered as a resumable stream, then put together and written.

The name of a file decides its format: clusters, a page, tables (:mod:`gapstack.running_text.annotation_tables`) or a
format of another tool (:mod:`gapstack.running_text.exchange`).
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

from gapstack import __version__
from gapstack.data.documents import DocumentFiles, RawDocument
from gapstack.data.example import GENDER_BY_FORM
from gapstack.errors import DataError, Place
from gapstack.files import atomic_path, fingerprint, write_text
from gapstack.registry import import_extra
from gapstack.resumable import Chunk, resumable
from gapstack.running_text import exchange, page
from gapstack.running_text.annotation_tables import GRAPHML_HEAD, TABLES, graphml
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.characters import People, known_characters
from gapstack.running_text.entities import Annotation
from gapstack.running_text.windows import GENDERED, Window

BATCH = 16
"""Number of pieces, some seconds' work, after which results are stored."""


class OutputFormat(NamedTuple):
    """How a file is written: the parts of a document, and what comes before, between and after documents."""

    parts: Callable[[Annotation], Iterator[str]]
    head: str = ""
    foot: str = ""
    between: str = ""
    most: int | None = None
    """Maximum number of documents of a file."""
    text_suffix: str = ""
    """Suffix of a second file with the text itself, which the format needs."""


class Counts(NamedTuple):
    """Numbers of documents, pronouns and linked pronouns written."""

    documents: int
    pronouns: int
    linked: int


def check(files: DocumentFiles, outputs: Sequence[Path], *, first_person: bool = False) -> None:
    """Read all documents once, so that what cannot be read or written is found before the model is loaded.

    Raises DataError or DataNotFoundError for a file that cannot be read, and DataError for outputs of one document if
    there are several, another text at the place of one that a format needs, and ``first_person`` without conversations.
    """
    kinds = {output: kind for output in outputs if isinstance(kind := kind_of(output), OutputFormat)}
    conversations = 0
    for number, document in enumerate(files, start=1):
        conversations += bool(document.turns)
        for output, kind in kinds.items():
            if kind.most is not None and number > kind.most:
                raise _too_many(output)
            if kind.text_suffix:
                _refuse_other_text(output.with_suffix(kind.text_suffix), document.text)
    if first_person and not conversations:
        raise DataError(
            "no text is a conversation, so nobody is known to say I",
            expected="lines such as 'Anna: Hello.' of two speakers, or JSON lines with speaker and text",
        )


@contextmanager
def annotating(
    files: DocumentFiles,
    output: Path,
    resolver_of_process: Callable[[], AnyTextResolver],
    *,
    neutral: bool = False,
    people: People = (),
    first_person: bool = False,
    workers: int = 1,
    executor: str = "loky",
) -> Iterator[Iterator[Annotation]]:
    """Yield the annotations of all documents, in order, to a block that writes them to ``output``.

    All pieces are read first (:func:`~gapstack.resumable.resumable`), so a killed call can be continued. ``neutral``
    resolves they and neopronouns too; ``people`` and ``first_person``, which is for conversations alone, are as in
    :meth:`~gapstack.running_text.any_text_resolver.AnyTextResolver.ask`.

    ``resolver_of_process`` returns the resolver. With several ``workers`` it is pickled and called for each batch, so
    it returns the same object each time within a process.

    Raises DataError or DataNotFoundError for a file that cannot be read, before any work of a later one, DataError for
    two documents with one id, and MismatchError if another process is writing the same output.
    """
    forms = tuple(GENDER_BY_FORM) if neutral else tuple(GENDERED)
    known = known_characters(people)

    def texts() -> Iterator[tuple[RawDocument, Text]]:
        for document in files:
            options = document.url, known, document.turns, first_person
            yield document, Text(document.text, forms, (), *options)

    resolver = resolver_of_process()
    with resumable(
        output,
        _batches((text for _, text in texts()), resolver),
        partial(_read, resolver_of_process),
        workers=workers,
        executor=executor,
        total=sum(path.stat().st_size for path in files.paths if path.is_file()),
    ) as answers:
        results = chain.from_iterable(map(json.loads, answers))
        yield _annotations(texts(), resolver, results)


def _batches(texts: Iterable[Text], resolver: AnyTextResolver) -> Iterator[Chunk]:
    """The pieces of all texts in batches, in order; sizes are characters of text."""
    identity, pieces = resolver.identity, _pieces(texts, resolver)
    while batch := tuple(islice(pieces, BATCH)):
        contents = [
            (number, text.url, known, window.text, window.pronouns, window.origins)
            for number, text, known, window in batch
        ]
        size = sum(len(window.text) - window.own for *_, window in batch)
        work = tuple((number, text, window) for number, text, _, window in batch)
        yield Chunk(fingerprint(identity, contents), size, f"text of document {batch[0][0] + 1}", work)


def _pieces(texts: Iterable[Text], resolver: AnyTextResolver) -> Iterator[tuple[int, Text, str, Window]]:
    """Each piece with the number of its text, the text's options without its characters, and a hash of these."""
    for number, text in enumerate(texts):
        options = replace(text, text="")
        people = [(character.names, character.pronouns) for character in text.people]
        known = fingerprint(people, text.turns)
        yield from ((number, options, known, window) for window in resolver.pieces(text))


def _read(
    resolver_of_process: Callable[[], AnyTextResolver], batch: Sequence[tuple[int, Text, Window]]
) -> bytes:
    """Read pieces; each with the number of its document."""
    read = resolver_of_process().read([(text, window) for _, text, window in batch])
    record = [[number, result] for (number, _, _), result in zip(batch, read, strict=True)]
    return json.dumps(record, separators=(",", ":")).encode()


def _annotations(
    texts: Iterable[tuple[RawDocument, Text]], resolver: AnyTextResolver, results: Iterable[Any]
) -> Iterator[Annotation]:
    """Link the results of each document."""
    groups = groupby(results, key=itemgetter(0))
    next_number, group = next(groups, (-1, iter(())))
    for number, (document, text) in enumerate(texts):
        values: list[Any] = []
        if number == next_number:
            values = [result for _, result in group]
            next_number, group = next(groups, (-1, iter(())))
        yield Annotation.of(resolver.link_with_speakers(text, values), document.id, document)


def write_annotations(annotations: Iterable[Annotation], *outputs: Path) -> Counts:
    """Write annotations atomically, one by one, each file in the format of its name (:func:`kind_of`)."""
    counts = Counts(0, 0, 0)
    with ExitStack() as stack:
        writers = [stack.enter_context(_writing(output)) for output in outputs]
        for document in annotations:
            for write in writers:
                write(document)
            documents, pronouns, linked = counts
            counts = Counts(
                documents + 1, pronouns + len(document.references), linked + len(document.antecedents)
            )
    return counts


@contextmanager
def _writing(output: Path) -> Iterator[Callable[[Annotation], None]]:
    """Yield a function that adds a document to a file, which is in place when the block ends without error."""
    kind = kind_of(output)
    if isinstance(kind, str):
        with _writing_parquet(output, kind) as write:
            yield write
        return
    with atomic_path(output) as temporary, _opened(temporary) as stream:
        stream.write(kind.head)
        documents = 0

        def write(document: Annotation) -> None:
            nonlocal documents
            if documents == kind.most:
                raise _too_many(output)
            stream.write(kind.between if documents else "")
            documents += 1
            for part in kind.parts(document):
                stream.write(part)
            if kind.text_suffix:
                text_file = output.with_suffix(kind.text_suffix)
                _refuse_other_text(text_file, document.text)
                write_text(text_file, document.text)

        yield write
        stream.write(kind.foot)


def _too_many(output: Path) -> DataError:
    return DataError(
        "the format has one document a file",
        place=Place(output),
        expected="one document",
        remedy="Annotate the files one by one",
    )


def _refuse_other_text(path: Path, text: str) -> None:
    """Raise DataError if there is another text, perhaps the input, at the place of one that is written."""
    if path.exists() and path.read_bytes() != text.encode():
        raise DataError(
            "is another text",
            place=Place(path),
            expected="the annotated text",
            remedy="Choose another output",
        )


@contextmanager
def _writing_parquet(output: Path, table: str) -> Iterator[Callable[[Annotation], None]]:
    """Yield a function that adds the rows of a document to a parquet file."""
    import pandas as pd  # slow to import

    make_rows, columns = TABLES[table]
    rows: list[dict[str, Any]] = []
    yield lambda document: rows.extend(make_rows(document))
    frame = pd.DataFrame(rows, columns=columns.split()).convert_dtypes()
    with atomic_path(output) as temporary:
        frame.to_parquet(temporary, index=False)


def kind_of(output: Path) -> OutputFormat | str:
    """Format of a file by its name, for parquet the name of the table.

    DataError for an unknown suffix, ExtraError for parquet without pyarrow.
    """
    name = output.name.removesuffix(".gz").removesuffix(".xz")
    for table in sorted(TABLES, reverse=True):
        if name.endswith(f"{table}.parquet"):
            import_extra("pyarrow", "train")
            return table
    for suffix in sorted(_KINDS, key=len, reverse=True):
        if name.endswith(suffix):
            return _KINDS[suffix]
    expected = ", ".join([*_KINDS, ".parquet", ".people.parquet", ".pairs.parquet"])
    raise DataError("unknown suffix", place=Place(output), expected=expected)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    if path.suffix == ".gz":  # no time stamp, so that equal annotations have equal bytes
        with (
            path.open("wb") as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
            io.TextIOWrapper(packed, "utf-8", newline="\n") as stream,
        ):
            yield stream
    elif path.suffix == ".xz":
        with lzma.open(path, "wt", encoding="utf-8", newline="\n") as stream:
            yield stream
    else:
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream


def _csv(rows: Callable[[Annotation], Iterator[dict[str, Any]]], columns: str) -> OutputFormat:
    """A table of documents as CSV."""

    def lines(document: Annotation) -> Iterator[str]:
        for row in rows(document):
            yield _csv_line(row[column] for column in columns.split())

    return OutputFormat(lines, _csv_line(columns.split()))


def _csv_line(cells: Iterable[Any]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


_KINDS = {
    ".jsonl": OutputFormat(lambda one: iter([one.document.line("gapstack", __version__)])),
    ".conll": OutputFormat(exchange.conll_2012),
    ".conllu": OutputFormat(exchange.conllu),
    ".html": OutputFormat(page.section, page.HEAD, page.FOOT),
    **{f"{name}.csv": _csv(*table) for name, table in TABLES.items()},
    ".graphml": OutputFormat(graphml, GRAPHML_HEAD, "</graphml>\n"),
    ".ann": OutputFormat(exchange.brat, most=1, text_suffix=".txt"),
    ".labelstudio.json": OutputFormat(exchange.label_studio, "[\n", "\n]\n", ",\n"),
    ".tokens": OutputFormat(exchange.booknlp_tokens, most=1),
    ".entities": OutputFormat(exchange.booknlp_entities, most=1),
    ".book": OutputFormat(exchange.booknlp_book, most=1),
}
