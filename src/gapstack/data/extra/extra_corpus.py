"""The result of every reader of an extra corpus, and what the readers share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gapstack.data.cells import read_text
from gapstack.data.corpus import Corpus
from gapstack.data.example import GENDER_BY_FORM, Example, Gender, Label, Replacement, Span, edit
from gapstack.errors import DataError, Place

PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(GENDER_BY_FORM, key=len, reverse=True))})\b", re.IGNORECASE)
"""A pronoun of any gender as a word."""
_SWAPPED = {Label.A: Label.B, Label.B: Label.A, Label.NEITHER: Label.NEITHER}
_TOKENISER_SPACE = re.compile(
    r"(?<=\w) (?=[,.;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)|(?<=[)']) (?=[,.;:!?])|(?<=\() "
)


@dataclass(frozen=True)
class ExtraCorpus:
    """A corpus that was not made for GAP, as GAP-like rows to train on; A stands before B.

    ``contaminates`` names test splits and audit suites that share rows or sentences with it; ``skipped`` counts items
    that are not rows here, by reason. Only ``neither-attree`` has URLs: keep the others out of folds grouped by page.
    """

    name: str
    corpus: Corpus
    licence: str
    upstream: str
    contaminates: tuple[str, ...]
    skipped: Mapping[str, int]


@dataclass
class ExtraRows:
    """Rows read so far, and counts of skipped items by reason; ``neutral`` takes pronouns without gender too."""

    neutral: bool = False
    examples: list[Example] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count an item that is not a row."""
        self.skipped[reason] += 1

    def add(self, name: str, text: str, pronoun: Span, right: Span, other: Span) -> None:
        """Add a row whose pronoun means ``right``, without the spaces that a tokeniser put before marks."""
        self.add_labelled(name, text, (pronoun, right, other), Label.A, tokenised=True)

    def add_labelled(
        self,
        name: str,
        text: str,
        spans: Iterable[Span],
        label: Label,
        url: str | None = None,
        *,
        tokenised: bool = False,
    ) -> None:
        """Add a row of pronoun, A and B, exchanged if B stands first; skipped if spans overlap."""
        pronoun, a, b = spans
        if b < a:
            a, b, label = b, a, _SWAPPED[label]
        spaces = [Replacement(*m.span(), "") for m in _TOKENISER_SPACE.finditer(text) if tokenised]
        if pronoun.overlaps(a) or pronoun.overlaps(b) or a.overlaps(b):
            self.skip("mentions overlap")
        else:
            self.keep(edit(Example(name, text, pronoun, a, b, url, label), spaces))

    def keep(self, example: Example) -> None:
        """Add an example; skipped if its pronoun is not one of a person of the requested genders."""
        gender = GENDER_BY_FORM.get(example.pronoun_text.lower())
        if gender is None:
            self.skip("the pronoun is not a person's")
        elif gender == Gender.NEUTRAL and not self.neutral:
            self.skip("the pronoun has no gender")
        else:
            self.examples.append(example)


def blocks(path: Path, lines: int) -> Iterator[tuple[Place, list[str]]]:
    """Blocks of lines separated by empty ones, with their places; DataError for one of another number of lines."""
    block: list[str] = []
    for number, line in enumerate([*read_text(path).split("\n"), ""], start=1):
        if line:
            block.append(line)
        elif block:
            place = Place(path, number - len(block))
            if len(block) != lines:
                raise DataError(f"the block has {len(block)} lines", place=place, expected=str(lines))
            yield place, block
            block = []


def with_article(text: str, span: Span) -> Span:
    """The span together with the article before it, if there is one."""
    article = re.search(r"\b(?:the|an?)\s+\Z", text[: span.start], re.IGNORECASE)
    return Span(article.start(), span.end) if article else span


def nearest(spans: Iterable[Span], to: Span) -> Span:
    """The span with the fewest characters between it and another; the earlier of two equally near."""
    return min(spans, key=lambda span: (max(to.start - span.end, span.start - to.end), span.start))
