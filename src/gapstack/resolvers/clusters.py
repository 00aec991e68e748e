"""Clusters of mentions, as coreference resolvers predict them, exchanged as JSON lines.

One line is one document:

- ``id``: of the example;
- ``clusters``: each cluster a list of half-open spans ``[start, end]``, characters of the *original* text;
- ``resolver`` and ``version``: the same in all lines of a file;
- ``text_sha256``: of that text in UTF-8, proof that the spans are not of a cleaned one. A file that is read together
  with its corpus may lack it;
- ``mention_scores``, optional: ``[start, end, score]``, of any span, in a cluster or not;
- ``link_scores``, optional: ``[start, end, start of antecedent, end of antecedent, score]``.

Plain, ``.gz`` and ``.xz``. A file need not cover every text: see :meth:`Clusters.covers`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import strict_json
from gapstack.corpus.cells import read_lines
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Span
from gapstack.corpus.strict_json import shown
from gapstack.errors import DataError, Place
from gapstack.files import write_text

Cluster = tuple[Span, ...]
"""Mentions of one entity."""
Link = tuple[Span, Span]
"""A mention and its antecedent."""
Heads = Callable[[Example, Span], Span]
"""Gives the head word of a mention of an example's text, as a span of that text."""

_KEYS = ("id", "clusters", "resolver", "version", "text_sha256", "mention_scores", "link_scores")
_NEEDED = _KEYS[:4]


def text_sha256(text: str) -> str:
    """SHA-256 of a text in UTF-8, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Document:
    """One resolver's clusters of one text.

    Attributes
    ----------
    id : str
        Of the example that the text is from.
    text_sha256 : str
        See :func:`text_sha256`.
    clusters : tuple of Cluster
        In the resolver's own order.
    mention_scores : mapping of Span to float
    link_scores : mapping of Link to float
    """

    id: str
    text_sha256: str
    clusters: tuple[Cluster, ...]
    mention_scores: Mapping[Span, float] = field(default_factory=dict)
    link_scores: Mapping[Link, float] = field(default_factory=dict)

    def cluster_of(self, span: Span) -> Cluster:
        """The cluster that ``span`` is a mention of, or the first with one that overlaps it; () if there is none.

        Mentions in order of their starts, without those that overlap an earlier one (Attree 2019, released code).
        """
        exact = [cluster for cluster in self.clusters if span in cluster]
        around = [cluster for cluster in self.clusters if any(mention.overlaps(span) for mention in cluster)]
        return without_overlaps((exact or around or [()])[0])


def without_overlaps(mentions: Iterable[Span]) -> Cluster:
    """Order mentions by their starts, leaving out those that overlap one before them."""
    result: list[Span] = []
    for mention in sorted(mentions):
        if not result or mention.start >= result[-1].end:
            result.append(mention)
    return tuple(result)


class Clusters:
    """One resolver's clusters of many texts.

    Raises DataError if two documents share an id.

    Parameters
    ----------
    resolver, version : str
        Whose clusters these are.
    documents : iterable of Document
    """

    def __init__(self, resolver: str, version: str, documents: Iterable[Document]):
        self.resolver, self.version = resolver, version
        self.documents = tuple(documents)
        ids: set[str] = set()
        for document in self.documents:
            if document.id in ids:
                raise DataError(f"{self.name} has two documents {document.id!r}", expected="unique ids")
            ids.add(document.id)

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"Clusters({self.name}, {len(self)} documents)"

    @property
    def name(self) -> str:
        """Resolver and version in one word."""
        return f"{self.resolver}@{self.version}"

    @cached_property
    def _by_text(self) -> dict[str, Document]:
        return {document.text_sha256: document for document in self.documents}

    def document(self, example: Example) -> Document | None:
        """The document of the example's text; None if there is none.

        Found by text and not by id, so that an augmented copy of a row never gets the original's spans.
        """
        return self._by_text.get(text_sha256(example.text))

    def pronoun_cluster(self, example: Example) -> Cluster:
        """The pronoun's cluster by :meth:`Document.cluster_of`; () if there is none."""
        document = self.document(example)
        return document.cluster_of(example.pronoun) if document else ()

    def decide(self, corpus: Corpus, heads: Heads | None = None) -> NDArray[np.bool_]:
        """Whether the pronoun's cluster has A and has B, as an (n, 2) array; neither where there is no document.

        Without ``heads`` a cluster has a name if one of its mentions matches it as Webster et al. 2018 (section 4)
        match the candidates of their cues, substring either way: all words of the one stand in the other, side by
        side. So another mention of the same name counts.

        With ``heads`` mentions are aligned as they align those of off-the-shelf resolvers: a cluster has the pronoun,
        or a name, if one of its mentions has the same head word, at the same place.
        """
        decided = np.zeros((len(corpus), 2), dtype=bool)
        for row, example in enumerate(corpus):
            decided[row] = self._by_words(example) if heads is None else self._by_heads(example, heads)
        return decided

    def _by_words(self, example: Example) -> list[bool]:
        mentions = [_words(example.words(mention)) for mention in self.pronoun_cluster(example)]
        names = [_words(text) for text in (example.a_text, example.b_text)]
        return [any(_within(one, name) or _within(name, one) for one in mentions) for name in names]

    def _by_heads(self, example: Example, heads: Heads) -> list[bool]:
        document = self.document(example)
        clusters = [{heads(example, mention) for mention in c} for c in document.clusters] if document else []
        pronoun, a, b = (heads(example, span) for span in (example.pronoun, example.a, example.b))
        own = next((cluster for cluster in clusters if pronoun in cluster), set())
        return [a in own, b in own]

    def covers(self, corpus: Corpus) -> NDArray[np.bool_]:
        """For which of n examples there is a document, as an (n,) array; its mean is the coverage."""
        return np.array([self.document(example) is not None for example in corpus], dtype=bool)


def span_within(start: int, end: int, length: float) -> Span:
    """Make a span of a text of ``length`` characters, infinite where it is not known.

    Raises DataError without a place, unless 0 <= start < end <= length.
    """
    if start >= end:
        raise DataError(f"the span [{start}, {end}] is empty", expected="a start before its end, exclusive")
    if start < 0 or end > length:
        raise DataError(
            f"the span [{start}, {end}] reaches out of the text",
            expected="characters from 0" + ("" if math.isinf(length) else f" to {length}, the text's length"),
        )
    return Span(start, end)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _within(part: list[str], whole: list[str]) -> bool:
    """Whether words, at least one, stand side by side among others."""
    size = len(part)
    return size > 0 and any(whole[at : at + size] == part for at in range(len(whole) - size + 1))


def read_clusters(path: Path, corpus: Corpus | None = None) -> Clusters:
    """Read a file of clusters.

    Parameters
    ----------
    corpus : Corpus, optional
        Whose texts the spans are of: then ids, texts and the ends of spans are checked against it.

    Raises
    ------
    DataError
        With file, line and key: a line that is no JSON object, a key that is missing, unknown or of another form, an
        empty span, an id that occurs twice, another resolver than in the line before; with a corpus, an id that it
        does not have, another text, or a span that reaches out of the text.
    DataNotFoundError
        If there is no such file.
    """
    path = Path(path)
    texts = None if corpus is None else {example.id: example.text for example in corpus}
    lines = [_Line(path, number, raw) for number, raw in enumerate(read_lines(path), start=1)]
    documents: dict[str, Document] = {}
    for line in lines:
        document = line.document(texts)
        if document.id in documents:
            raise line.error("id", f"id {document.id!r} occurs again", "one line for each document")
        documents[document.id] = document
        if line.source != lines[0].source:
            raise line.error(
                "resolver", f"is by {' '.join(line.source)}", f"one resolver, {' '.join(lines[0].source)}"
            )
    return Clusters(*lines[0].source, documents.values())


def write_clusters(path: Path, clusters: Clusters) -> None:
    """Write clusters, whole or not at all, compressed if the suffix is ``.gz`` or ``.xz``."""
    lines = [document_line(document, clusters.resolver, clusters.version) for document in clusters.documents]
    write_text(Path(path), "".join(lines))


def document_line(document: Document, resolver: str, version: str) -> str:
    """Write one document as a line of the exchange format."""
    record: dict[str, Any] = {
        **{"id": document.id, "resolver": resolver, "version": version},
        **{"text_sha256": document.text_sha256, "clusters": document.clusters},
    }
    if document.mention_scores:
        record["mention_scores"] = [[*span, score] for span, score in document.mention_scores.items()]
    if document.link_scores:
        record["link_scores"] = [
            [*mention, *antecedent, score] for (mention, antecedent), score in document.link_scores.items()
        ]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


class _Line:
    """One line of a file on its way to a document."""

    def __init__(self, file: Path, number: int, raw: bytes):
        self._file, self._number = file, number
        record = strict_json.read(raw, file, number)
        if not isinstance(record, dict):
            raise self.error(None, f"holds a {type(record).__name__}", "a JSON object")
        missing = [key for key in _NEEDED if key not in record]
        if missing:
            raise self.error(missing[0], f"there is no {missing[0]!r}", f"the keys {', '.join(_NEEDED)}")
        unknown = [key for key in record if key not in _KEYS]
        if unknown:
            raise self.error(
                unknown[0], f"the key {unknown[0]!r} is unknown", f"keys among {', '.join(_KEYS)}"
            )
        self._record = record
        self.source = (self._word("resolver"), self._word("version"))

    def error(self, key: str | int | None, problem: str, expected: str, remedy: str = "") -> DataError:
        place = Place(self._file, self._number, key)
        return DataError(problem, place=place, expected=expected, remedy=remedy)

    def document(self, texts: Mapping[str, str] | None) -> Document:
        """Check the line against the corpus's texts by id, if they are given, and give its document."""
        name = self._word("id")
        proof, length = self._text(name, texts)
        clusters = tuple(
            tuple(self._span("clusters", mention, length) for mention in self._list("clusters", cluster))
            for cluster in self._list("clusters", self._record["clusters"])
        )
        if not all(clusters):
            raise self.error("clusters", "there is a cluster of no mention", "at least one mention in each")
        mention_scores: dict[Span, float] = {}
        for *span, score in self._rows("mention_scores", 3):
            mention_scores[self._span("mention_scores", span, length)] = self._score("mention_scores", score)
        link_scores: dict[Link, float] = {}
        for *spans, score in self._rows("link_scores", 5):
            mention, antecedent = (self._span("link_scores", part, length) for part in (spans[:2], spans[2:]))
            link_scores[mention, antecedent] = self._score("link_scores", score)
        return Document(name, proof, clusters, mention_scores, link_scores)

    def _text(self, name: str, texts: Mapping[str, str] | None) -> tuple[str, float]:
        """Hash and length of the document's text; without a corpus the length is not known."""
        stated = self._word("text_sha256") if "text_sha256" in self._record else None
        if texts is None:
            if stated is None:
                raise self.error(
                    "text_sha256",
                    "there is no 'text_sha256'",
                    "the SHA-256 of the text that the spans are of",
                    "Read the file together with its corpus, and write it again",
                )
            return stated, math.inf
        if name not in texts:
            raise self.error("id", f"id {name!r} is not in the corpus", "ids of the corpus")
        proof = text_sha256(texts[name])
        if stated not in {None, proof}:
            raise self.error(
                "text_sha256",
                f"the clusters of {name!r} are of another text ({stated:.8}...)",
                f"the corpus's own ({proof:.8}...)",
                "Align the spans to the original text first",
            )
        return proof, len(texts[name])

    def _span(self, key: str, value: object, length: float) -> Span:
        if not (isinstance(value, list) and len(value) == 2 and all(type(end) is int for end in value)):
            raise self.error(key, f"{shown(value)} is no span", "[start, end] in whole characters")
        try:
            start, end = value
            return span_within(start, end, length)
        except DataError as problem:
            raise problem.at(Place(self._file, self._number, key)) from None

    def _rows(self, key: str, length: int) -> list[list[Any]]:
        rows = self._list(key, self._record.get(key, []))
        for row in rows:
            if not isinstance(row, list) or len(row) != length:
                raise self.error(
                    key, f"there is {shown(row)}", f"lists of {length} numbers, the last a score"
                )
        return rows

    def _score(self, key: str, value: object) -> float:
        if type(value) is int or type(value) is float:
            return float(value)
        raise self.error(key, f"the score is {shown(value)}", "a finite number")

    def _list(self, key: str, value: object) -> list[Any]:
        if not isinstance(value, list):
            raise self.error(key, f"there is {shown(value)}", "a list")
        return value

    def _word(self, key: str) -> str:
        value = self._record[key]
        if not isinstance(value, str) or not value:
            raise self.error(key, f"there is {shown(value)}", "a string that is not empty")
        return value
