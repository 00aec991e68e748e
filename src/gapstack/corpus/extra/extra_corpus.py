"""The result of every reader of an extra corpus, and the strict reading beneath it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from gapstack.corpus import sources
from gapstack.corpus.augment.edit import Replacement, edit
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Label, Span
from gapstack.corpus.pronouns import GENDER_BY_FORM, Gender
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import read_bytes

PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(GENDER_BY_FORM, key=len, reverse=True))})\b", re.IGNORECASE)
"""A pronoun of any gender as a word."""

_TOKENISER_SPACE = re.compile(
    r"(?<=\w) (?=[,.;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)|(?<=[)']) (?=[,.;:!?])|(?<=\() "
)


@dataclass(frozen=True)
class ExtraCorpus:
    """A corpus that was not made for GAP, as GAP-like rows to train on.

    Attributes
    ----------
    corpus : Corpus
        The rows. A stands before B. Only ``neither-attree`` has URLs: keep the others out of folds grouped by
        page, where neighbouring windows of one book would fall apart.
    licence, upstream : str
        Of the data, as their makers state them.
    contaminates : tuple of str
        Test splits and audit suites that share rows or sentences with it: what a member that was trained on this
        corpus must not be scored on.
    skipped : mapping of str to int
        How many items of the files are no rows here, by reason.
    """

    name: str
    corpus: Corpus
    licence: str
    upstream: str
    contaminates: tuple[str, ...]
    skipped: Mapping[str, int]


@dataclass
class ExtraRows:
    """Rows read so far, and counts of skipped items by reason."""

    neutral: bool = False
    examples: list[Example] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count an item that makes no row."""
        self.skipped[reason] += 1

    def add(self, name: str, text: str, pronoun: Span, right: Span, other: Span, place: Place) -> None:
        """Add a row whose pronoun means ``right``, A before B; rows with other pronouns than requested are skipped.

        Raises DataError if two of the three spans overlap.
        """
        spans = {"the pronoun": pronoun, "the right name": right, "the other name": other}
        for (one, span), (another, further) in combinations(spans.items(), 2):
            if span.overlaps(further):
                raise DataError(
                    f"{one} {text[slice(*span)]!r} overlaps {another} {text[slice(*further)]!r}",
                    place=place,
                    expected="three mentions that share no character",
                )
        form = text[pronoun.start : pronoun.end].lower()
        if form not in GENDER_BY_FORM:
            self.skip("the pronoun is not a person's")
        elif GENDER_BY_FORM[form] == Gender.NEUTRAL and not self.neutral:
            self.skip("the pronoun has no gender")
        else:
            a, b = sorted((right, other))
            label = Label.A if a == right else Label.B
            self.examples.append(_untokenised(Example(name, text, pronoun, a, b, None, label)))

    def keep(self, example: Example) -> None:
        """Add an example; skipped if its pronoun has no gender and neutral ones were not requested."""
        if example.gender == Gender.NEUTRAL and not self.neutral:
            self.skip("the pronoun has no gender")
        else:
            self.examples.append(example)


def _untokenised(example: Example) -> Example:
    """Take out the spaces that a tokeniser put before marks and clitics and after opening brackets."""
    return edit(example, (Replacement(*m.span(), "") for m in _TOKENISER_SPACE.finditer(example.text)))


def file_of(dataset: str, file: str, data: Path | None) -> Path:
    """Path of a file in a data set's folder, plain or packed; DataNotFoundError if either is not there."""
    folder = sources.require(dataset, data)
    for suffix in ("", ".xz", ".gz"):
        path = folder / (file + suffix)
        if path.is_file():
            return path
    raise DataNotFoundError(f"{folder} has no {file}; it is a part of {dataset} (see `gap data status`)")


def read_text(path: Path, *, windows: bool = False) -> str:
    """Read a text file; ``windows``: lines end in CRLF, which becomes a line feed.

    Raises DataError if it is empty, or no UTF-8, with the line; or has Windows line ends.
    """
    blob = read_bytes(path)
    if not blob.strip():
        raise DataError("is empty", place=Place(path), expected="text", remedy="Get it again")
    return decode(blob.replace(b"\r\n", b"\n") if windows else blob, path)


def decode(blob: bytes, path: Path) -> str:
    """Decode UTF-8 with line feeds alone; DataError with the line otherwise."""
    try:
        text = blob.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = blob[: problem.start].count(b"\n") + 1
        raise DataError(
            f"byte 0x{blob[problem.start]:02X} is not UTF-8", place=Place(path, line), expected="UTF-8"
        ) from None
    if "\r" in text:
        line = text[: text.index("\r")].count("\n") + 1
        raise DataError(
            "there is a carriage return",
            place=Place(path, line),
            expected="lines ended by a line feed alone",
            remedy=r"Convert the file, for example with: sed -i 's/\r$//' FILE",
        )
    return text


def blocks(path: Path, lines: int) -> Iterator[tuple[Place, list[str]]]:
    """Give the blocks of a file whose blocks are separated by empty lines, each with the place of its first line.

    Raises DataError if a block has another number of lines.
    """
    block: list[str] = []
    for number, line in enumerate([*read_text(path).split("\n"), ""], start=1):
        if line:
            block.append(line)
        elif block:
            place = Place(path, number - len(block))
            if len(block) != lines:
                raise DataError(
                    f"the block has {len(block)} lines",
                    place=place,
                    expected=f"{lines}, and an empty line after them",
                )
            yield place, block
            block = []


def with_article(text: str, span: Span) -> Span:
    """The span together with the article before it, if there is one."""
    article = re.search(r"\b(?:the|an?)\s+\Z", text[: span.start], re.IGNORECASE)
    return Span(article.start(), span.end) if article else span


def nearest(spans: Iterable[Span], to: Span) -> Span:
    """The span with the fewest characters between it and another; the earlier of two as near."""
    return min(spans, key=lambda span: (max(to.start - span.end, span.start - to.end), span.start))
