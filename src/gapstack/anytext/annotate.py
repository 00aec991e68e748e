"""Annotation of whole documents: their windows are answered as a resumable stream, then put together and written.

Files have one of three formats: the exchange format of clusters, CoNLL columns, or a page.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

from gapstack import __version__
from gapstack.anytext import page
from gapstack.anytext.entities import Annotation
from gapstack.anytext.pronoun_resolver import BATCH, AnyTextResolver, Text
from gapstack.anytext.text_resolver import create_resolver
from gapstack.anytext.windows import GENDERED, Window, sentences
from gapstack.data.cells import plain_suffix
from gapstack.data.example import GENDER_BY_FORM
from gapstack.data.page_files import RawDocument, read_documents
from gapstack.errors import DataError, Place, printable
from gapstack.files import atomic_path, fingerprint
from gapstack.runs.predict import Chunk, resumable


class OutputFormat(NamedTuple):
    """How a file is written: the parts of a document, and what comes before the first and after the last."""

    parts: Callable[[Annotation], Iterator[str]]
    head: str = ""
    foot: str = ""


class Counts(NamedTuple):
    """Numbers of documents, pronouns and linked pronouns written."""

    documents: int
    pronouns: int
    linked: int


@contextmanager
def annotating(
    files: Sequence[Path],
    output: Path,
    model: str | None = None,
    *,
    parser: str | None = None,
    neutral: bool = False,
    workers: int = 1,
) -> Iterator[Iterator[Annotation]]:
    """Yield the annotations of all documents, in order, to a block that writes them to ``output``.

    All pieces are read first (:func:`~gapstack.runs.predict.resumable`), so a killed call can be continued.
    ``files`` are those of :func:`~gapstack.data.page_files.read_documents`; ``neutral`` resolves they and neopronouns
    too; ``model``, ``parser`` and ``workers`` are as in the command line.

    Raises DataError or DataNotFoundError for a file that cannot be read, before any work of a later one, DataError for
    two documents with one id, and MismatchError if another process is writing the same output.
    """
    forms = frozenset(GENDER_BY_FORM) if neutral else GENDERED
    resolver = _resolver(model, parser)
    with resumable(
        output,
        _batches(_documents(files), forms, resolver),
        partial(_read, model, parser),
        workers=workers,
        total=sum(path.stat().st_size for path in files if path.is_file()),
    ) as answers:
        results = chain.from_iterable(map(json.loads, answers))
        yield _annotations(_documents(files), forms, resolver, results)


def _documents(files: Iterable[Path]) -> Iterator[RawDocument]:
    seen: dict[str, Path] = {}
    for path in files:
        for document in read_documents(path):
            if document.id in seen:
                raise DataError(
                    f"{path} has a document {document.id!r}, as {seen[document.id]} has",
                    expected="documents with different names",
                    remedy="Rename the file, or give the lines of a .jsonl other ids",
                )
            seen[document.id] = path
            yield document


def _batches(
    documents: Iterable[RawDocument], forms: frozenset[str], resolver: AnyTextResolver
) -> Iterator[Chunk]:
    """The pieces of all documents in batches, in order; sizes are characters of text."""
    identity = resolver.identity
    work = (
        (number, document.url, window)
        for number, document in enumerate(documents)
        for window in resolver.pieces(Text(document.text, tuple(forms), url=document.url))
    )
    while batch := tuple(islice(work, BATCH)):
        contents = [
            (number, url, window.text, window.pronouns, window.origins) for number, url, window in batch
        ]
        size = sum(len(window.text) - window.own for _, _, window in batch)
        yield Chunk(fingerprint(identity, contents), size, f"text of document {batch[0][0] + 1}", batch)


def _read(model: str | None, parser: str | None, batch: Sequence[tuple[int, str | None, Window]]) -> bytes:
    """Read pieces; each with the number of its document."""
    read = _resolver(model, parser).read([(Text("", url=url), window) for _, url, window in batch])
    record = [[number, result] for (number, _, _), result in zip(batch, read, strict=True)]
    return json.dumps(record, separators=(",", ":")).encode()


@lru_cache(maxsize=1)
def _resolver(model: str | None, parser: str | None) -> AnyTextResolver:
    """The resolver of this process."""
    return create_resolver(model, parser)


def _annotations(
    documents: Iterable[RawDocument], forms: frozenset[str], resolver: AnyTextResolver, results: Iterable[Any]
) -> Iterator[Annotation]:
    """Link the results of each document."""
    groups = groupby(results, key=itemgetter(0))
    next_number, group = next(groups, (-1, iter(())))
    for number, document in enumerate(documents):
        own: list[Any] = []
        if number == next_number:
            own = [result for _, result in group]
            next_number, group = next(groups, (-1, iter(())))
        answers = resolver.link(Text(document.text, tuple(forms), url=document.url), own)
        yield Annotation.of(answers, document.id)


def write_annotations(annotations: Iterable[Annotation], output: Path) -> Counts:
    """Write annotations atomically, one by one, in the format of the file's suffix; DataError if it is unknown."""
    kind = kind_of(output)
    counts = Counts(0, 0, 0)
    with atomic_path(output) as temporary, _open(temporary) as stream:
        stream.write(kind.head)
        for one in annotations:
            for part in kind.parts(one):
                stream.write(part)
            documents, pronouns, linked = counts
            counts = Counts(documents + 1, pronouns + len(one.references), linked + len(one.antecedents))
        stream.write(kind.foot)
    return counts


def kind_of(output: Path) -> OutputFormat:
    """Format of a file by its name; DataError for an unknown suffix."""
    kind = _KINDS.get(plain_suffix(output))
    if kind is None:
        expected = ", ".join(_KINDS) + ", or those with .gz or .xz"
        raise DataError("unknown suffix", place=Place(output), expected=expected)
    return kind


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":  # no time stamp, so that equal annotations have equal bytes
        packed = gzip.GzipFile(filename="", fileobj=path.open("wb"), mode="wb", mtime=0)
        return io.TextIOWrapper(packed, "utf-8")
    if path.suffix == ".xz":
        return lzma.open(path, "wt", encoding="utf-8")
    return path.open("w", encoding="utf-8", newline="\n")


def _columns(one: Annotation) -> Iterator[str]:
    """CoNLL-2012: document, part, index of the word, word, mentions."""
    name = "_".join(printable(one.id).split()).lstrip("#") or "document"
    opening: dict[int, list[tuple[int, int]]] = {}
    for number, cluster in enumerate(one.clusters):
        for start, end in cluster:
            opening.setdefault(start, []).append((end, number))
    starts = sorted(opening)
    yield f"#begin document ({name}); part 000\n"
    at = 0
    open_mentions: list[tuple[int, int]] = []
    for sentence in sentences(one.text):
        for place, word in enumerate(sentence):
            cells = []
            while at < len(starts) and starts[at] < word.end:
                for end, number in sorted(opening[starts[at]], reverse=True):
                    cells.append(f"({number})" if end <= word.end else f"({number}")
                    if end > word.end:
                        open_mentions.append((end, number))
                at += 1
            closing = [
                mention
                for mention in open_mentions
                if mention[0] <= word.end and f"({mention[1]}" not in cells
            ]
            cells += [f"{number})" for _, number in reversed(closing)]
            open_mentions = [mention for mention in open_mentions if mention not in closing]
            token = printable(one.text[slice(*word)])
            yield "\t".join([name, "0", str(place), token, "|".join(cells) or "-"]) + "\n"
        yield "\n"
    yield "#end document\n"


_KINDS = {
    ".jsonl": OutputFormat(lambda one: iter([one.document.line("gapstack", __version__)])),
    ".conll": OutputFormat(_columns),
    ".html": OutputFormat(page.section, page.HEAD, page.FOOT),
}
