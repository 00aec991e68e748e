"""Wikipedia snippets and the names that are marked in them.

The snippets are Kaggle's stage-2 texts: without labels, no text or page in common with GAP. The file marks two names in
each snippet. That they are names is used; which of them the pronoun refers to is unknown.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, Span

# fewer than the package's titles, of which Earl, Don and Dean are first names here; more would change the parser's data
_TITLES = "mr. mrs. ms. miss dr. sir lady lord mr mrs dr king queen prince princess"
_LEADING = frozenset(_TITLES.split())


def read_snippets(path: Path, words: int) -> Iterator[tuple[str, list[str]]]:
    """Distinct texts of a Kaggle TSV with the names marked in each, until about ``words`` words have been given."""
    names: dict[str, list[str]] = {}
    with path.open(encoding="utf8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = " ".join(row["Text"].split())
            names.setdefault(text, []).extend([row["A"], row["B"]])
    given = 0
    for text, marked in names.items():
        yield text, marked
        given += len(text.split())
        if given >= words:
            return


def name_spans(doc: Doc, names: Iterable[str]) -> list[Span]:
    """Every whole-token occurrence of ``names``, without a leading title; where they overlap the longer counts."""
    text = doc.text
    found: list[Span] = []
    for name in sorted(set(names), key=len, reverse=True):
        at = text.find(name)
        while at >= 0:
            span = doc.char_span(at, at + len(name), label="PERSON")
            if span is not None and len(span) > 1 and span[0].lower_ in _LEADING:
                span = Span(doc, span.start + 1, span.end, label="PERSON")
            if span is not None and all(span.end <= f.start or span.start >= f.end for f in found):
                found.append(span)
            at = text.find(name, at + len(name))
    return found


def add_names(doc: Doc, names: Iterable[str]) -> Doc:
    """Join the marked names with the entities already on ``doc``: of two that overlap the longer stays."""
    spans = [*name_spans(doc, names), *doc.ents]
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: s.start - s.end):
        if all(span.end <= k.start or span.start >= k.end for k in kept):
            kept.append(span)
    doc.ents = sorted(kept, key=lambda s: s.start)
    return doc
