"""Whole documents: their windows answered batch by batch, by several workers, and put together.

Windows of all documents are answered in batches, each of which is stored beside the output under a hash of all that
decides it: its text, the model, the parser, the code. So a killed command goes on where it was, and no bit depends on
which worker did what. The output is written from the parts; then they are deleted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from gapstack.antecedents.entities import Annotation, Entities
from gapstack.antecedents.pronoun_resolver import BATCH, PronounResolver, Text
from gapstack.antecedents.windows import GENDERED, Window, windows
from gapstack.cache import intact_files, store
from gapstack.corpus.page_files import RawDocument, read_documents
from gapstack.corpus.pronouns import GENDER_BY_FORM
from gapstack.errors import DataError
from gapstack.files import fingerprint
from gapstack.progress import progress
from gapstack.runs.executors import create_executor, execute_stream
from gapstack.runs.folder import RunFolder, locked
from gapstack.runs.predictors import load

_ROUND = 256
"""Batches that are handed out together: some hundred thousand words, which workers start anew for."""
_SUFFIX = ".json"


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
    """Give the annotation of each document, in order, to a block that writes them to ``output``.

    All windows are answered first. What is finished lies in the folder ``OUTPUT.partial``, which is deleted when the
    block ends without error.

    Parameters
    ----------
    files : sequence of Path
        As :func:`~gapstack.corpus.page_files.read_documents` takes them.
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
    identity = _resolver(model, parser).identity
    parts = RunFolder(output.with_name(f"{output.name}.partial"))
    with locked(parts.root):
        with progress("answering", sum(path.stat().st_size for path in files if path.is_file())) as ticker:
            batches = _batches(_documents(files), forms, model, parser, identity)
            keys = execute_stream(batches, parts, execute, _ROUND, ticker.advance)
        yield _annotations(_documents(files), chain.from_iterable(_read(parts, key) for key in keys))
    shutil.rmtree(parts.root)


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


@dataclass(frozen=True)
class Batch:
    """Some windows to answer; a job for :mod:`gapstack.runs.executors`.

    Attributes
    ----------
    model, parser : str or None
    work : tuple of (int, str or None, Window)
        Number and page of the window's document, and the window.
    size : int
        Characters of the text that the batch moves on by.
    key : str
        Hash of everything that decides the answers.
    """

    model: str | None
    parser: str | None
    work: tuple[tuple[int, str | None, Window], ...]
    size: int
    key: str

    @property
    def name(self) -> str:
        """Name for display."""
        return f"windows of document {self.work[0][0] + 1}"

    def is_done(self, folder: RunFolder) -> bool:
        """Whether its answers are stored."""
        return bool(intact_files(folder.root, _SUFFIX, f"{self.key}-"))

    def run(self, folder: RunFolder) -> None:
        """Answer the windows and store what was answered."""
        of_windows = _resolver(self.model, self.parser).answer(
            [(Text("", url=url), window) for _, url, window in self.work]
        )
        record = [
            [number, [answer.outcome for answer in answers]]
            for (number, _, _), answers in zip(self.work, of_windows, strict=True)
        ]
        blob = json.dumps(record, separators=(",", ":")).encode()
        store(folder.root, blob, _SUFFIX, f"{self.key}-")


def _batches(
    documents: Iterable[RawDocument],
    forms: frozenset[str],
    model: str | None,
    parser: str | None,
    identity: str,
) -> Iterator[Batch]:
    """Share the windows of all documents out to batches, in order."""
    work = (
        (number, document.url, window)
        for number, document in enumerate(documents)
        for window in windows(document.text, forms)
    )
    while own := tuple(islice(work, BATCH)):
        key = fingerprint(
            identity,
            [(number, url, window.text, window.pronouns, window.origins) for number, url, window in own],
        )
        size = sum(len(window.text) - window.own for _, _, window in own)
        yield Batch(model, parser, own, size, key)


@lru_cache(maxsize=1)
def _resolver(model: str | None, parser: str | None) -> PronounResolver:
    """The resolver of this process."""
    return PronounResolver(load(model, keep=True), parser)


def _read(folder: RunFolder, key: str) -> Any:
    (path, *_) = intact_files(folder.root, _SUFFIX, f"{key}-")
    return json.loads(path.read_bytes())


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
