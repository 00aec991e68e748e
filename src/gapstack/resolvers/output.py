"""What a resolver wrote, before its spans are put into the original text, and how files of it are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapstack.corpus.cells import read_lines
from gapstack.corpus.example import Span
from gapstack.errors import DataError, Place
from gapstack.resolvers.clusters import Cluster, Link

Record = Mapping[str, Any]
"""One document's JSON object."""
_ID_KEYS = ("id", "doc_key", "docId", "doc_id")


@dataclass(frozen=True)
class Output:
    """What a resolver found in *its own* version of a text.

    Attributes
    ----------
    id : str or None
        None where the format carries none: the place in the file then says whose it is.
    text : str
        As the resolver saw it, cleaned or written from its tokens; "" where it gave nothing.
    clusters, mention_scores, link_scores
        As in :class:`~gapstack.resolvers.clusters.Document`, with spans of ``text``.
    """

    id: str | None
    text: str
    clusters: tuple[Cluster, ...] = ()
    mention_scores: Mapping[Span, float] = field(default_factory=dict)
    link_scores: Mapping[Link, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A line of the formats table.

    Attributes
    ----------
    name : str
    resolver : str
        Whose format it is, where the file does not say.
    recognises : callable
        Whether a file is of this format, from its lines.
    read : callable
        Outputs of a file, in its order.
    """

    name: str
    resolver: str
    recognises: Callable[[Sequence[bytes]], bool]
    read: Callable[[Path], Iterable[Output]]


def json_format(name: str, resolver: str, keys: Iterable[str], parse: Callable[[Record], Output]) -> Format:
    """Make a format of JSON objects, one a line, in one list, or a single one; all ``keys`` mark it.

    ``parse`` may raise KeyError, TypeError, ValueError and IndexError for another shape, which become a DataError.
    """
    marks = frozenset(keys)

    def recognises(lines: Sequence[bytes]) -> bool:
        try:
            _, first = next(_records(Path(name), lines))
        except (DataError, StopIteration):
            return False
        return marks <= set(first)

    def read(path: Path) -> Iterator[Output]:
        for number, record in _records(path, read_lines(path)):
            try:
                yield parse(record)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
                raise DataError(
                    f"document {number} is not as {name} writes it ({type(problem).__name__}: {problem})",
                    place=Place(path, number),
                    expected=f"the keys {', '.join(sorted(marks))} in their published shapes",
                    remedy="Name the right format with --format, or write the file again",
                ) from problem

    return Format(name, resolver, recognises, read)


def _records(path: Path, lines: Sequence[bytes]) -> Iterator[tuple[int, Record]]:
    """Give number and object of each document: of each line if the first is whole by itself, else of one value."""
    try:
        json.loads(lines[0])
    except ValueError:
        lines = [b"\n".join(lines)]
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line)
        except ValueError as problem:
            raise DataError(
                f"is no JSON ({problem})",
                place=Place(path, number),
                expected="JSON objects, one a line or in a list",
            ) from problem
        for record in found if isinstance(found, list) else [found]:
            if not isinstance(record, dict):
                raise DataError(
                    f"holds a {type(record).__name__}",
                    place=Place(path, number),
                    expected="a JSON object for each document",
                )
            yield number, record


def id_of(record: Record) -> str | None:
    """Give the document's id under the names that formats have for it; None if there is none."""
    return next((str(record[key]) for key in _ID_KEYS if record.get(key)), None)


def spans(clusters: Iterable[Iterable[Sequence[int]]]) -> tuple[Cluster, ...]:
    """Take half-open character ranges as they are; clusters of nothing are left out."""
    found = (tuple(Span(int(start), int(end)) for start, end in cluster) for cluster in clusters)
    return tuple(cluster for cluster in found if cluster)


@dataclass(frozen=True)
class Tokens:
    """Tokens written as one text, a blank between them: alignment sees no blanks.

    Attributes
    ----------
    text : str
    places : tuple of Span
        Of each token in ``text``.
    """

    text: str
    places: tuple[Span, ...]

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Tokens:
        """Write tokens one after the other."""
        written: list[str] = []
        places: list[Span] = []
        at = 0
        for token in tokens:
            written.append(token)
            places.append(Span(at, at + len(token)))
            at += len(token) + 1
        return cls(" ".join(written), tuple(places))

    def span(self, first: int, last: int) -> Span:
        """Characters of the tokens ``first`` to ``last``, both included.

        Raises
        ------
        IndexError
            If there are no such tokens.
        """
        if not 0 <= first <= last < len(self.places):
            raise IndexError(f"no tokens {first} to {last} among {len(self.places)}")
        return Span(self.places[first].start, self.places[last].end)

    def clusters(self, clusters: Iterable[Iterable[Sequence[int]]]) -> tuple[Cluster, ...]:
        """Character spans of clusters of ``[first, last]`` tokens, both included."""
        return spans([[self.span(int(first), int(last)) for first, last in one] for one in clusters])


def linked(links: Iterable[Link]) -> tuple[Cluster, ...]:
    """Give the clusters that links of mentions to antecedents make, by first mention; singletons there are none."""
    parent: dict[Span, Span] = {}

    def root(span: Span) -> Span:
        parent.setdefault(span, span)
        while parent[span] != span:
            span = parent[span]
        return span

    for mention, antecedent in links:
        first, second = sorted((root(mention), root(antecedent)))
        parent[second] = first
    found: dict[Span, list[Span]] = {}
    for span in sorted(parent):
        found.setdefault(root(span), []).append(span)
    return tuple(tuple(members) for members in found.values())
