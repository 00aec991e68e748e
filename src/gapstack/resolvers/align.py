"""Offsets of a cleaned or tokenised text as offsets of the original, and files of resolvers read with them.

Both texts are split into words and punctuation marks, which :class:`difflib.SequenceMatcher` matches ignoring case.
Replaced stretches (*wouldn't* by *would not*, a bracket by ``-LRB-``) are matched again by character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.data.clusters import Clusters, Document, read_clusters, text_sha256
from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Span
from gapstack.errors import DataError, Place
from gapstack.resolvers.formats import EXCHANGE, FORMATS, Output, detect

MIN_SIMILARITY = 0.8
"""Minimum similarity of an alignment; contractions, brackets and capitals leave more than that."""
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Alignment:
    """Offset in the original of each character of a text, (n,), -1 where it has none, and the texts' similarity."""

    places: NDArray[np.int64]
    similarity: float

    def span(self, span: Span) -> Span | None:
        """Range of the original that ``span`` is matched to; None if there is none, or it is far longer."""
        places = self.places[span.start : span.end]
        places = places[places >= 0]
        if not len(places):
            return None
        start, end = int(places[0]), int(places[-1]) + 1
        return Span(start, end) if end - start <= 2 * (span.end - span.start) + 8 else None


def align(text: str, original: str) -> Alignment:
    """Align a text to the original that it was made from, in milliseconds for GAP's texts."""
    if text == original:
        return Alignment(np.arange(len(text), dtype=np.int64), 1.0)
    places = np.full(len(text), -1, dtype=np.int64)
    ours, theirs = (list(_WORD.finditer(one)) for one in (text, original))
    words = SequenceMatcher(
        None, [word[0].casefold() for word in ours], [word[0].casefold() for word in theirs], autojunk=False
    )
    for kind, i1, i2, j1, j2 in words.get_opcodes():
        if kind == "equal":
            for word, other in zip(ours[i1:i2], theirs[j1:j2], strict=True):
                width = min(word.end() - word.start(), other.end() - other.start())
                places[word.start() : word.start() + width] = other.start() + np.arange(width)
        elif kind == "replace":
            start, begin = ours[i1].start(), theirs[j1].start()
            mine, its = text[start : ours[i2 - 1].end()], original[begin : theirs[j2 - 1].end()]
            letters = SequenceMatcher(str.isspace, mine.lower(), its.lower(), autojunk=False)
            for i, j, size in letters.get_matching_blocks():
                places[start + i : start + i + size] = begin + j + np.arange(size)
    visible = np.array([not letter.isspace() for letter in text], dtype=bool)
    matched = int((places[visible] >= 0).sum())
    whole = int(visible.sum()) + sum(not letter.isspace() for letter in original)
    return Alignment(places, 2 * matched / whole if whole else 1.0)


@dataclass
class Reading:
    """A resolver's documents by id, the ids that ``failed``, and mentions that are ``lost`` in the original."""

    resolver: str
    version: str
    format: str
    documents: dict[str, Document] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    lost: int = 0  # of the mentions of aligned rows
    mentions: int = 0

    @classmethod
    def of(cls, clusters: Clusters, format: str) -> Reading:
        """Clusters that need no alignment."""
        documents = {document.id: document for document in clusters.documents}
        mentions = sum(len(cluster) for document in clusters.documents for cluster in document.clusters)
        return cls(clusters.resolver, clusters.version, format, documents, mentions=mentions)

    @property
    def clusters(self) -> Clusters:
        """Clusters of the aligned rows."""
        return Clusters(self.resolver, self.version, self.documents.values())

    @property
    def rows(self) -> int:
        """Number of rows with an output, aligned or not."""
        return len(self.documents) + len(self.failed)

    def add(self, example: Example, output: Output | None) -> None:
        """Align a row's output; None where the resolver failed."""
        alignment = None if output is None else align(output.text, example.text)
        if output is None or alignment is None or alignment.similarity < MIN_SIMILARITY:
            self.failed.append(example.id)
            return
        spans = {span for cluster in output.clusters for span in cluster} | set(output.mention_scores)
        spans |= {span for link in output.link_scores for span in link}
        places = {span: place for span in spans if (place := alignment.span(span)) is not None}
        clusters = [tuple(places[span] for span in cluster if span in places) for cluster in output.clusters]
        self.documents[example.id] = Document(
            example.id,
            text_sha256(example.text),
            tuple(cluster for cluster in clusters if cluster),
            {places[span]: score for span, score in output.mention_scores.items() if span in places},
            {
                (places[mention], places[antecedent]): score
                for (mention, antecedent), score in output.link_scores.items()
                if mention in places and antecedent in places
            },
        )
        mentions = sum(map(len, output.clusters))
        self.mentions += mentions
        self.lost += mentions - sum(map(len, clusters))


def read_resolver(
    path: Path,
    corpus: Corpus,
    *,
    format: str | None = None,
    resolver: str | None = None,
    version: str = "unstated",
) -> Reading:
    """Read a resolver's file and align its clusters to the texts of the corpus, the resolver's input.

    Documents are matched to rows by id; in formats without ids there must be one for each row, in order.
    """
    path = Path(path)
    name = format or detect(path)
    if name == EXCHANGE:
        return Reading.of(read_clusters(path, corpus), name)
    outputs = _by_id(path, list(FORMATS[name].read(path)), corpus)
    reading = Reading(resolver or FORMATS[name].resolver, version, name)
    for example in corpus:
        output = outputs.get(example.id)
        if output is not None and output.text.strip():
            reading.add(example, output)
    return reading


def _by_id(path: Path, outputs: list[Output], corpus: Corpus) -> Mapping[str, Output]:
    """Outputs by the ids of their rows; DataError if they cannot be matched to rows."""
    if len(outputs) == len(corpus) and all(output.id is None for output in outputs):
        return dict(zip(corpus.ids, outputs, strict=True))
    by_id = {output.id: output for output in outputs if output.id is not None}
    if len(by_id) < len(outputs) or by_id.keys().isdisjoint(corpus.ids):
        raise DataError(
            f"{len(outputs)} documents with {len(by_id)} ids ({', '.join(list(by_id)[:3])}) for {len(corpus)} rows",
            place=Place(path),
            expected=f"unique ids like {corpus[0].id!r}, or one document without id for each row, in order",
        )
    return by_id
