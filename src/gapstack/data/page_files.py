"""Pages of running text, read one at a time: documents cut into paragraphs, and documents with gold coreference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gapstack.data.cells import iter_lines, plain_suffix
from gapstack.data.documents import read_documents
from gapstack.data.example import Gender, Label, Span
from gapstack.data.extra.conll import ConllDocument, read_corpus
from gapstack.data.extra.mined import ClusteredDocument
from gapstack.data.paragraphs import paragraphs


@dataclass(frozen=True)
class GoldClusters:
    """Gold coreference of a page: span and cluster of each mention, and the genders of clusters where known."""

    mentions: tuple[tuple[Span, str], ...]
    genders: Mapping[str, Gender]

    @staticmethod
    def label(pronoun: str, a: str, b: str) -> Label | None:
        """Label of a row whose mentions are in these clusters; None if both names are in the pronoun's."""
        if a == b == pronoun:
            return None
        return Label.A if a == pronoun else Label.B if b == pronoun else Label.NEITHER


@dataclass(frozen=True)
class Page:
    """One page: paragraphs, address if known, and gold coreference (then there is one paragraph)."""

    id: str
    paragraphs: tuple[str, ...]
    url: str | None = None
    gold: GoldClusters | None = field(default=None, repr=False)


def read_pages(path: Path) -> Iterator[Page]:
    """Read the pages of a file; raises as :func:`~gapstack.data.documents.read_documents` does."""
    return (Page(each.id, tuple(paragraphs(each.text)), each.url) for each in read_documents(path))


def count_pages(path: Path) -> int:
    """Number of pages of a file, without parsing them."""
    return sum(1 for _ in iter_lines(path)) if plain_suffix(path) == ".jsonl" else 1


def corpus_pages(name: str) -> Iterator[Page]:
    """Read LitBank or GUM (:data:`gapstack.data.extra.conll.CORPORA`) as pages of one paragraph, with gold clusters."""
    return (gold_page(document, name) for document in read_corpus(name))


def gold_page(document: ConllDocument, prefix: str) -> Page:
    """A page of one paragraph from a document with coreference; its id is the document's name after a prefix."""
    text, places = document.text_of(range(len(document.tokens)))
    mentions = tuple((m.characters(places), m.cluster) for m in document.mentions)
    clusters = ClusteredDocument(document).clusters.items()
    genders = {key: next(iter(each.genders)) for key, each in clusters if len(each.genders) == 1}
    return Page(f"{prefix}-{document.name}", (text,), gold=GoldClusters(mentions, genders))
