"""A resolver's output in its own version of a text, and readers for files of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gapstack.corpus import strict_json
from gapstack.corpus.cells import read_lines
from gapstack.corpus.example import Span
from gapstack.corpus.strict_json import check, shown
from gapstack.errors import DataError, Place
from gapstack.resolvers.clusters import Cluster, Link, span_within

T = TypeVar("T")
Record = Mapping[str, Any]
"""One document's JSON object."""
_ID_KEYS = ("id", "doc_key", "docId", "doc_id")


@dataclass(frozen=True)
class Output:
    """A resolver's clusters in *its own* version of a text.

    Attributes
    ----------
    id : str or None
        None where the format has none; the position in the file then decides.
    text : str
        As the resolver saw it, cleaned or joined from its tokens; "" where it failed.
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
        Resolver's name, for files that do not have it.
    recognises : callable
        Whether a file is of this format, from its lines.
    read : callable
        Outputs of a file, in its order.
    """

    name: str
    resolver: str
    recognises: Callable[[Sequence[bytes]], bool]
    read: Callable[[Path], Iterable[Output]]


def json_format(
    name: str, resolver: str, shape: Mapping[str, Any], parse: Callable[[Record], Output]
) -> Format:
    """Make a format of JSON objects, one a line, in one list, or a single one; all keys of ``shape`` mark it.

    ``parse`` is given objects of that shape (see :func:`gapstack.corpus.strict_json.check`), and may raise DataError
    without a place.
    """

    def recognises(lines: Sequence[bytes]) -> bool:
        try:
            _, first = next(_records(Path(name), lines))
        except (DataError, StopIteration):
            return False
        return shape.keys() <= first.keys()

    def read(path: Path) -> Iterator[Output]:
        for number, (line, record) in enumerate(_records(path, read_lines(path)), start=1):
            try:
                check(record, shape)
                yield parse(record)
            except DataError as problem:
                raise DataError(
                    f"document {number} is not as {name} writes it: {problem.problem}",
                    place=Place(path, line),
                    expected=problem.expected,
                    remedy="Name the right format with --format, or write the file again",
                ) from None

    return Format(name, resolver, recognises, read)


def _records(path: Path, lines: Sequence[bytes]) -> Iterator[tuple[int, Record]]:
    """Give line and object of each document: of each line if the first is whole by itself, else of one value."""
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        lines = [b"\n".join(lines)]
    for number, line in enumerate(lines, start=1):
        value = strict_json.read(line, path, number)
        for record in value if isinstance(value, list) else [value]:
            if not isinstance(record, dict):
                raise DataError(
                    f"holds {shown(record)}",
                    place=Place(path, number),
                    expected="a JSON object for each document",
                )
            yield number, record


def id_of(record: Record) -> str | None:
    """Give the document's id under the names that formats have for it; None if there is none."""
    for key in _ID_KEYS:
        if record.get(key):
            check(record[key], str | int, key)
            return str(record[key])
    return None


def spans(clusters: Iterable[Iterable[Sequence[int]]], text: str) -> tuple[Cluster, ...]:
    """Take half-open character ranges of a text as they are; clusters of nothing are left out.

    Raises DataError if a range is empty or reaches out of the text.
    """
    mentions = (tuple(span_within(start, end, len(text)) for start, end in cluster) for cluster in clusters)
    return tuple(cluster for cluster in mentions if cluster)


def at(rows: Sequence[T], number: int, what: str, first: int = 0) -> T:
    """Give the row that a file names by its number, counted from ``first``; DataError if there is none."""
    if not first <= number < first + len(rows):
        raise DataError(f"there is no {what} {number}", expected=f"one of {len(rows)}, counted from {first}")
    return rows[number - first]


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
        """Characters of the tokens ``first`` to ``last``, both included; DataError if there are no such tokens."""
        if not 0 <= first <= last < len(self.places):
            raise DataError(
                f"there are no tokens {first} to {last}",
                expected=f"a range among 0 to {len(self.places) - 1}",
            )
        return Span(self.places[first].start, self.places[last].end)

    def clusters(self, clusters: Iterable[Iterable[Sequence[int]]]) -> tuple[Cluster, ...]:
        """Character spans of clusters of ``[first, last]`` tokens, both included; clusters of nothing are left out."""
        mentions = (tuple(self.span(first, last) for first, last in one) for one in clusters)
        return tuple(cluster for cluster in mentions if cluster)


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
    groups: dict[Span, list[Span]] = {}
    for span in sorted(parent):
        groups.setdefault(root(span), []).append(span)
    return tuple(tuple(members) for members in groups.values())
