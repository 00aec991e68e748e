"""Annotation of whole documents: their windows are answered as a resumable stream, then put together and written.

Files have one of three formats: the exchange format of clusters, CoNLL columns, or a page.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

from gapstack import __version__
from gapstack.anytext.entities import Annotation, Entities
from gapstack.anytext.pronoun_resolver import BATCH, PronounResolver, Text
from gapstack.anytext.windows import GENDERED, Window, sentences, windows
from gapstack.data import html
from gapstack.data.example import GENDER_BY_FORM
from gapstack.data.page_files import RawDocument, read_documents
from gapstack.errors import DataError, Place, printable
from gapstack.files import atomic_path, fingerprint
from gapstack.runs.executors import create_executor
from gapstack.runs.predict import Chunk, resumable
from gapstack.runs.predictors import load

RESOLVER = "gapstack"
_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>gapstack annotate</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}
body{font:1rem/1.8 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere;
color:light-dark(#1a2230,#e4e8ee);background:light-dark(#fff,#14181f)}
mark{--h:var(--hue,0) var(--full,65%);--c:light-dark(hsl(var(--h) 42%),hsl(var(--h) 68%));
color:inherit;padding:1px 3px;border-radius:4px;
background:color-mix(in srgb,var(--c) 20%,transparent);box-shadow:inset 0 -2px var(--c);print-color-adjust:exact}
sub{font-size:.7em;vertical-align:baseline;margin-left:4px;white-space:nowrap}</style>
"""
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_HUE_STEP = 137.5
"""Degrees between the hues of consecutive people: the golden angle, so that neighbours differ."""


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
    executor: str = "local",
) -> Iterator[Iterator[Annotation]]:
    """Yield the annotations of all documents, in order, to a block that writes them to ``output``.

    All windows are answered first (:func:`~gapstack.runs.predict.resumable`), so a killed call can be continued.
    ``files`` are those of :func:`~gapstack.data.page_files.read_documents`; ``neutral`` resolves they and neopronouns
    too; ``model``, ``parser``, ``workers`` and ``executor`` are as in the command line.

    Raises DataError or DataNotFoundError for a file that cannot be read, before any work of a later one, DataError for
    two documents with one id, and MismatchError if another process is writing the same output.
    """
    execute = create_executor(executor, workers)
    forms = frozenset(GENDER_BY_FORM) if neutral else GENDERED
    identity = _resolver(model, parser).identity
    with resumable(
        output,
        _batches(_documents(files), forms, identity),
        partial(_answer, model, parser),
        execute=execute,
        total=sum(path.stat().st_size for path in files if path.is_file()),
        title="predicting",
    ) as answers:
        yield _annotations(_documents(files), chain.from_iterable(map(json.loads, answers)))


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


def _batches(documents: Iterable[RawDocument], forms: frozenset[str], identity: str) -> Iterator[Chunk]:
    """The windows of all documents in batches, in order; sizes are characters of text."""
    work = (
        (number, document.url, window)
        for number, document in enumerate(documents)
        for window in windows(document.text, forms)
    )
    while batch := tuple(islice(work, BATCH)):
        contents = [
            (number, url, window.text, window.pronouns, window.origins) for number, url, window in batch
        ]
        size = sum(len(window.text) - window.own for _, _, window in batch)
        yield Chunk(fingerprint(identity, contents), size, f"windows of document {batch[0][0] + 1}", batch)


def _answer(model: str | None, parser: str | None, batch: Sequence[tuple[int, str | None, Window]]) -> bytes:
    """Answer windows; each with the number and the page of its document."""
    found = _resolver(model, parser).answer([(Text("", url=url), window) for _, url, window in batch])
    record = [
        [number, [answer.outcome for answer in answers]]
        for (number, _, _), answers in zip(batch, found, strict=True)
    ]
    return json.dumps(record, separators=(",", ":")).encode()


@lru_cache(maxsize=1)
def _resolver(model: str | None, parser: str | None) -> PronounResolver:
    """The resolver of this process."""
    return PronounResolver(load(model, keep=True), parser)


def _annotations(documents: Iterable[RawDocument], answered: Iterable[Any]) -> Iterator[Annotation]:
    """Put the answers of each document together."""
    groups = groupby(answered, key=itemgetter(0))
    number_of_group, group = next(groups, (-1, iter(())))
    for number, document in enumerate(documents):
        entities = Entities(document.text)
        if number == number_of_group:
            for _, answers in group:
                for outcome in answers:
                    entities.add(*outcome)
            number_of_group, group = next(groups, (-1, iter(())))
        yield entities.annotation(document.id)


def write_annotations(annotations: Iterable[Annotation], output: Path) -> Counts:
    """Write annotations atomically, one by one, in the format of the file's suffix; DataError if it is unknown."""
    kind = kind_of(output)
    counts = Counts(0, 0, 0)
    with atomic_path(output) as temporary, _open(temporary) as stream:
        stream.write(_HEAD if kind is _page else "")
        for one in annotations:
            for part in kind(one):
                stream.write(part)
            documents, pronouns, linked = counts
            counts = Counts(documents + 1, pronouns + len(one.references), linked + len(one.antecedents))
    return counts


def kind_of(output: Path) -> Callable[[Annotation], Iterator[str]]:
    """Writer of one document for this file name; DataError for an unknown suffix."""
    suffixes = [suffix for suffix in output.suffixes if suffix not in (".gz", ".xz")]
    kind = _KINDS.get(suffixes[-1] if suffixes else "")
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


def _line(one: Annotation) -> Iterator[str]:
    yield one.document.line(RESOLVER, __version__)


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


def _page(one: Annotation) -> Iterator[str]:
    """Mentions in one colour per person, each pronoun with its person; lines of a paragraph are joined."""
    person = {mention: number for number, cluster in enumerate(one.clusters) for mention in cluster}
    parts, at = [], 0
    for mention in sorted({*person, *one.references}):
        note = ""
        if mention in one.references:
            name = one.antecedents.get(mention)
            note = f"nobody here {1 - one.references[mention]:.0%}"
            if name is not None:
                note = f"{' '.join(one.text[slice(*name)].split())} {one.links[mention, name]:.0%}"
            note = f"<sub>{html.escape(note)}</sub>"
        style = f"--hue:{person[mention] * _HUE_STEP % 360:.0f}" if mention in person else "--full:0%"
        start, end = max(at, mention.start), mention.end
        if start >= end:
            continue  # within another mention
        words = html.escape(one.text[start:end])
        parts += [html.escape(one.text[at:start]), f'<mark style="{style}">{words}{note}</mark>']
        at = end
    text = _PARAGRAPHS.sub("</p>\n<p>", "".join([*parts, html.escape(one.text[at:])]).strip())
    yield f"<h2>{html.escape(one.id)}</h2>\n<p>{text}</p>\n"


_KINDS: dict[str, Callable[[Annotation], Iterator[str]]] = {
    ".jsonl": _line,
    ".conll": _columns,
    ".html": _page,
}
