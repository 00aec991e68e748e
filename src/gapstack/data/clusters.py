"""Clusters of mentions, as coreference resolvers predict them, exchanged as JSON lines.

One line is one document with these keys:

- ``id``: id of the example;
- ``clusters``: lists of half-open spans ``[start, end]``, in characters of the *original* text;
- ``resolver`` and ``version``: identical in all lines of a file;
- ``text_sha256``: hash of that text in UTF-8, optional if the file is read together with its corpus;
- ``mention_scores``, optional: ``[start, end, score]``, for spans in or outside a cluster;
- ``link_scores``, optional: ``[start, end, start of antecedent, end of antecedent, score]``.

Files may be plain, ``.gz`` or ``.xz``, and need not cover every text (:meth:`Clusters.covers`).
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
from annotated_types import Len
from pydantic import ConfigDict, FiniteFloat
from typing_extensions import TypedDict

from gapstack.data.cells import iter_lines, read_json
from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Span
from gapstack.errors import DataError, Place, located
from gapstack.files import write_text
from gapstack.types import Bools

Cluster = tuple[Span, ...]  # mentions of one entity
Link = tuple[Span, Span]  # a mention and its antecedent
Heads = Callable[[Example, Span], Span]
"""Returns the head word of a mention, as a span of the example's text."""

Pair = Annotated[list[int], Len(2, 2)]  # start and end of a span in JSON
_Name = Annotated[str, Len(1)]


class ClusterLine(TypedDict):
    """One line of the exchange format."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    id: _Name
    clusters: list[Annotated[list[Pair], Len(1)]]
    resolver: _Name
    version: _Name
    text_sha256: NotRequired[str]
    mention_scores: NotRequired[list[Annotated[list[FiniteFloat], Len(3, 3)]]]
    link_scores: NotRequired[list[Annotated[list[FiniteFloat], Len(5, 5)]]]


def text_sha256(text: str) -> str:
    """SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Document:
    """One resolver's clusters of one text (with its hash), in the resolver's order; the scores are optional."""

    id: str
    text_sha256: str
    clusters: tuple[Cluster, ...]
    mention_scores: Mapping[Span, float] = field(default_factory=dict)
    link_scores: Mapping[Link, float] = field(default_factory=dict)

    def cluster_of(self, span: Span) -> Cluster:
        """Cluster with ``span``, else the first with an overlapping mention, else (); its mentions do not overlap."""
        exact = [cluster for cluster in self.clusters if span in cluster]
        around = [cluster for cluster in self.clusters if any(mention.overlaps(span) for mention in cluster)]
        return without_overlaps((exact or around or [()])[0])

    def line(self, resolver: str, version: str) -> str:
        """The document as a line of the exchange format."""
        record: dict[str, Any] = {"id": self.id, "resolver": resolver, "version": version}
        record |= {"text_sha256": self.text_sha256, "clusters": self.clusters}
        if self.mention_scores:
            record["mention_scores"] = [[*span, score] for span, score in self.mention_scores.items()]
        if self.link_scores:
            record["link_scores"] = [[*a, *b, score] for (a, b), score in self.link_scores.items()]
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def without_overlaps(mentions: Iterable[Span]) -> Cluster:
    """Mentions sorted by start, without those that overlap an earlier one."""
    result: list[Span] = []
    for mention in sorted(mentions):
        if not result or mention.start >= result[-1].end:
            result.append(mention)
    return tuple(result)


class Clusters:
    """One resolver's clusters of many texts; DataError if two documents share an id."""

    def __init__(self, resolver: str, version: str, documents: Iterable[Document]):
        self.resolver, self.version = resolver, version
        self.documents = tuple(documents)
        for name, count in Counter(document.id for document in self.documents).items():
            if count > 1:
                raise DataError(f"{self.name} has two documents {name!r}", expected="unique ids")

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"Clusters({self.name}, {len(self)} documents)"

    @property
    def name(self) -> str:
        """``resolver@version``."""
        return f"{self.resolver}@{self.version}"

    @cached_property
    def _by_text(self) -> dict[str, Document]:
        return {document.text_sha256: document for document in self.documents}

    def document(self, example: Example) -> Document | None:
        """Document of the example's text, or None; not by id, since augmented copies share the id but not the spans."""
        return self._by_text.get(text_sha256(example.text))

    def pronoun_cluster(self, example: Example) -> Cluster:
        """The pronoun's cluster (:meth:`Document.cluster_of`), or ()."""
        document = self.document(example)
        return document.cluster_of(example.pronoun) if document else ()

    def decide(self, corpus: Corpus, heads: Heads | None = None) -> Bools:
        """Boolean (n, 2) array: True where the pronoun's cluster contains A, or B; False without a document.

        By default a cluster contains a name if one of its mentions matches it by substring, as Webster et al. 2018
        (section 4) match candidates. With ``heads``, it contains the pronoun or a name if one of its mentions has the
        same head word at the same place, as that paper aligns off-the-shelf resolvers.
        """
        return np.array(
            [self._match_heads(row, heads) if heads else self._match_words(row) for row in corpus], dtype=bool
        ).reshape(-1, 2)

    def _match_words(self, example: Example) -> list[bool]:
        mentions = [example.words(mention) for mention in self.pronoun_cluster(example)]
        return [
            any(same_name(mention, name) for mention in mentions) for name in (example.a_text, example.b_text)
        ]

    def _match_heads(self, example: Example, heads: Heads) -> list[bool]:
        document = self.document(example)
        clusters = [{heads(example, mention) for mention in c} for c in document.clusters] if document else []
        pronoun, a, b = (heads(example, span) for span in (example.pronoun, example.a, example.b))
        of_pronoun = next((cluster for cluster in clusters if pronoun in cluster), set())
        return [a in of_pronoun, b in of_pronoun]

    def covers(self, corpus: Corpus) -> Bools:
        """Boolean (n,) array: True where there is a document for the example."""
        return np.array([self.document(example) is not None for example in corpus], dtype=bool)


def same_name(mention: str, name: str) -> bool:
    """True if all words of one occur consecutively in the other (Webster et al. 2018, section 4)."""
    left, right = _words(mention), _words(name)
    return bool(left.strip()) and (left in right or right in left)


def _words(text: str) -> str:
    """Lower-case words between single blanks, so that ``in`` compares whole words."""
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return f" {words} "


def checked_span(start: int, end: int, length: float) -> Span:
    """Span in a text of ``length`` characters; DataError without a place unless 0 <= start < end <= length."""
    if not 0 <= start < end <= length:
        raise DataError(f"invalid span [{start}, {end}]", expected=f"0 <= start < end <= {length}")
    return Span(index(start), index(end))


def read_clusters(path: Path, corpus: Corpus | None = None) -> Clusters:
    """Read a file of clusters; DataError with the line for an invalid one.

    With a corpus, ids, texts and spans are checked against it, and lines may lack ``text_sha256``.
    """
    path = Path(path)
    texts = None if corpus is None else {example.id: example.text for example in corpus}
    documents: dict[str, Document] = {}
    source: tuple[str, str] | None = None
    for number, raw in enumerate(iter_lines(path), start=1):
        line: ClusterLine = read_json(raw, path, number, ClusterLine)
        source = source or (line["resolver"], line["version"])
        with located(Place(path, number)):
            if line["id"] in documents:
                raise DataError(f"duplicate id {line['id']!r}", expected="one line for each document")
            if source != (line["resolver"], line["version"]):
                problem = f"resolver is {line['resolver']} {line['version']}"
                raise DataError(problem, expected=f"one resolver in a file, {' '.join(source)}")
            documents[line["id"]] = _document(line, texts)
    return Clusters(*(source or ("", "")), documents.values())


def _document(line: ClusterLine, texts: Mapping[str, str] | None) -> Document:
    """Document of a valid line; DataError without a place if it does not fit its text."""
    name, stated = line["id"], line.get("text_sha256")
    digest, length = stated, math.inf
    if texts is not None:
        if name not in texts:
            raise DataError(f"id {name!r} is not in the corpus", expected="ids of the corpus")
        digest, length = text_sha256(texts[name]), len(texts[name])
    if digest is None:
        raise DataError("missing key 'text_sha256'", remedy="Read the file together with its corpus")
    if stated not in {None, digest}:
        raise DataError(
            f"the clusters of {name!r} belong to another text ({stated:.8}...)",
            expected=f"the text of the corpus ({digest:.8}...)",
            remedy="Align the spans to the original text first",
        )

    def span(start: float, end: float) -> Span:
        return checked_span(int(start), int(end), length)

    return Document(
        name,
        digest,
        tuple(tuple(span(*mention) for mention in cluster) for cluster in line["clusters"]),
        {span(start, end): float(score) for start, end, score in line.get("mention_scores", [])},
        {(span(a, b), span(c, d)): float(score) for a, b, c, d, score in line.get("link_scores", [])},
    )


def write_clusters(path: Path, clusters: Clusters) -> None:
    """Write clusters atomically, compressed if the suffix is ``.gz`` or ``.xz``."""
    lines = [document.line(clusters.resolver, clusters.version) for document in clusters.documents]
    write_text(Path(path), "".join(lines))
