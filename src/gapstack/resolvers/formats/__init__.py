"""Files of off-the-shelf resolvers, each in its own published format, as clusters of the original text.

To add a format: write its file here with a :class:`~gapstack.resolvers.output.Format`, and add its line to
:data:`FORMATS`. All spans go through one alignment (:mod:`gapstack.resolvers.align`), whether the resolver
cleaned the text or cut it into tokens; a row whose text cannot be aligned is not covered, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gapstack.corpus.cells import read_lines
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Span
from gapstack.errors import DataError, Place
from gapstack.registry import Registry
from gapstack.resolvers.align import Alignment, align
from gapstack.resolvers.clusters import Cluster, Clusters, Document, read_clusters, text_sha256
from gapstack.resolvers.formats import allennlp, conll2012, corenlp, fastcoref, maverick, neuralcoref, spacy
from gapstack.resolvers.output import Format, Output

EXCHANGE = "gapstack"
"""Name of the exchange format among the others; see :mod:`gapstack.resolvers.clusters`."""
FORMATS: Registry[Format] = Registry(
    "format",
    {
        one.name: one
        for one in (
            neuralcoref.FORMAT,
            corenlp.FORMAT,
            allennlp.FORMAT,
            maverick.FORMAT,
            spacy.GROUPS,
            spacy.CHAINS,
            fastcoref.FORMAT,
            conll2012.FORMAT,
        )
    },
    also=(EXCHANGE,),
)
"""By name, in the order of detection: the most specific first."""
FLOOR = 0.8
"""Minimum similarity of an alignment: contractions, brackets and capitals leave more than that."""


@dataclass(frozen=True)
class Reading:
    """The clusters of a resolver's file, and how many rows and mentions could be aligned.

    Attributes
    ----------
    clusters : Clusters
    format : str
    rows : int
        Number of rows of the corpus that the file has a text for, aligned or not.
    failed : tuple of str
        Ids of rows whose text could not be aligned to the corpus's.
    lost : int
        Mentions of aligned rows without a place in the original.
    mentions : int
        All mentions of aligned rows, lost ones included.
    """

    clusters: Clusters
    format: str
    rows: int
    failed: tuple[str, ...] = ()
    lost: int = 0
    mentions: int = 0

    @property
    def failure_rate(self) -> float:
        """Share of the rows given that could not be aligned; 0 where none was given."""
        return len(self.failed) / self.rows if self.rows else 0.0


def detect(path: Path) -> str:
    """Name the format of a file by its marks.

    Raises DataError if it is none of those known; DataNotFoundError if there is no such file.
    """
    lines = read_lines(Path(path))
    if lines[0].startswith(b"{") and all(mark in lines[0] for mark in (b'"resolver"', b'"version"')):
        return EXCHANGE
    for one in FORMATS.values():
        if one.recognises(lines):
            return one.name
    raise DataError(
        "is in no format that is known",
        place=Place(path, 1),
        expected=f"one of {', '.join((EXCHANGE, *FORMATS))}",
        remedy="Name it with --format to see what is wrong with it",
    )


def read_resolver(
    path: Path,
    corpus: Corpus,
    *,
    format: str | None = None,
    resolver: str | None = None,
    version: str = "unstated",
) -> Reading:
    """Read a resolver's file and put its clusters into the corpus's own texts.

    Documents belong to the rows whose ids they have; in formats without ids there must be one for each row, in order.
    Raises DataError for another shape than the format's, ids that occur twice, and documents that are no row's;
    DataNotFoundError if there is no such file.

    Parameters
    ----------
    corpus : Corpus
        The resolver's input.
    format : str, optional
        Among :data:`FORMATS`, or :data:`EXCHANGE`; by default as :func:`detect` finds.
    resolver, version : str, optional
        For files that do not name them.
    """
    path = Path(path)
    name = format or detect(path)
    if name == EXCHANGE:
        clusters = read_clusters(path, corpus)
        return Reading(
            clusters,
            name,
            len(clusters),
            mentions=sum(len(c) for document in clusters.documents for c in document.clusters),
        )
    form = FORMATS[name]
    outputs = _by_id(path, list(form.read(path)), corpus)
    tally = Tally()
    for example in corpus:
        output = outputs.get(example.id)
        if output is not None and output.text.strip():
            tally.add(example, output)
    clusters = Clusters(resolver or form.resolver, version, tally.documents.values())
    rows = len(tally.documents) + len(tally.failed)
    return Reading(clusters, name, rows, tuple(tally.failed), tally.lost, tally.mentions)


class Tally:
    """Aligns a resolver's outputs to the rows' own texts, row by row.

    Attributes
    ----------
    documents : dict of str to Document
        Rows that could be aligned, by id.
    failed : list of str
        Ids of the others.
    lost, mentions : int
        Mentions of aligned rows without a place in the original, and all of them.
    """

    def __init__(self, documents: Iterable[Document] = ()):
        self.documents = {document.id: document for document in documents}
        self.failed: list[str] = []
        self.lost = 0
        self.mentions = sum(len(c) for document in self.documents.values() for c in document.clusters)

    def add(self, example: Example, output: Output | None) -> None:
        """Add a row's output; None where the resolver failed."""
        alignment = None if output is None else align(output.text, example.text)
        if output is None or alignment is None or alignment.similarity < FLOOR:
            self.failed.append(example.id)
            return
        document = _moved(example, output, alignment)
        self.documents[example.id] = document
        mentions = sum(map(len, output.clusters))
        self.mentions += mentions
        self.lost += mentions - sum(map(len, document.clusters))


def _by_id(path: Path, outputs: list[Output], corpus: Corpus) -> Mapping[str, Output]:
    """Outputs by the ids of rows."""
    if all(output.id is None for output in outputs):
        if len(outputs) != len(corpus):
            raise DataError(
                f"has {len(outputs)} documents without ids for {len(corpus)} rows",
                place=Place(path),
                expected="an 'id' in each document, or one document for each row, in order",
            )
        return dict(zip(corpus.ids, outputs, strict=True))
    rows = set(corpus.ids)
    by_id: dict[str, Output] = {}
    for number, output in enumerate(outputs, start=1):
        if output.id is None or output.id in by_id:
            problem = "has no id" if output.id is None else f"has the id {output.id!r} again"
            raise DataError(
                f"document {number} {problem}", place=Place(path), expected="an id of its own for each"
            )
        by_id[output.id] = output
    if not rows & set(by_id):
        raise DataError(
            f"shares no id with {corpus.name} (its first is {next(iter(by_id))!r})",
            place=Place(path),
            expected=f"ids as {corpus[0].id!r}",
            remedy="Check that the rows are those that the resolver was asked about",
        )
    return by_id


def _moved(example: Example, output: Output, alignment: Alignment) -> Document:
    """Put an output's spans into the original; those without a place are left out."""
    places: dict[Span, Span | None] = {}

    def moved(span: Span) -> Span | None:
        if span not in places:
            places[span] = alignment.span(span)
        return places[span]

    clusters: list[Cluster] = []
    for cluster in output.clusters:
        mentions = tuple(place for span in cluster if (place := moved(span)) is not None)
        if mentions:
            clusters.append(mentions)
    singles = {
        place: score for span, score in output.mention_scores.items() if (place := moved(span)) is not None
    }
    links = {
        (here, there): score
        for (mention, antecedent), score in output.link_scores.items()
        if (here := moved(mention)) is not None and (there := moved(antecedent)) is not None
    }
    return Document(example.id, text_sha256(example.text), tuple(clusters), singles, links)


__all__ = [
    "EXCHANGE",
    "FLOOR",
    "FORMATS",
    "Alignment",
    "Reading",
    "Tally",
    "align",
    "detect",
    "read_resolver",
]
