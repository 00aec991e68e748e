"""Annotation of whole documents: their windows are answered as a resumable stream, then put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from gapstack.anytext.entities import Annotation, Entities
from gapstack.anytext.pronoun_resolver import BATCH, PronounResolver, Text
from gapstack.anytext.windows import GENDERED, Window, windows
from gapstack.data.example import GENDER_BY_FORM
from gapstack.data.page_files import RawDocument, read_documents
from gapstack.errors import DataError
from gapstack.files import fingerprint
from gapstack.runs.executors import create_executor
from gapstack.runs.predict import Chunk, resumable
from gapstack.runs.predictors import load


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

    Parameters
    ----------
    files : sequence of Path
        As :func:`~gapstack.data.page_files.read_documents` takes them.
    model, parser : str, optional
        See :func:`~gapstack.runs.predictors.load` and :func:`~gapstack.text.parses.find_parser`.
    neutral : bool
        Whether to look up they and neopronouns too.
    workers, executor
        See :func:`~gapstack.runs.executors.create_executor`.

    Raises
    ------
    DataError, DataNotFoundError
        For a file that cannot be read, before any work of a later one, and for two documents with one id.
    MismatchError
        If another process is writing the same output.
    """
    execute = create_executor(executor, workers)
    forms = frozenset(GENDER_BY_FORM) if neutral else GENDERED
    resolver = _resolver(model, parser)
    identity = resolver.identity
    size = sum(path.stat().st_size for path in files if path.is_file())
    with resumable(
        output,
        _batches(_documents(files), forms, identity),
        partial(_answer, model, parser),
        execute=execute,
        total=size,
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
                    expected="documents with names of their own",
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
        key = fingerprint(
            identity,
            [(number, url, window.text, window.pronouns, window.origins) for number, url, window in batch],
        )
        size = sum(len(window.text) - window.own for _, _, window in batch)
        yield Chunk(key, size, f"windows of document {batch[0][0] + 1}", batch)


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
    """Put what was answered of each document together."""
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
