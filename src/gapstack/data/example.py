"""One example, a snippet with a pronoun and two names, and edits that keep the spans."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from gapstack.data.person_words import GENDER_BY_FORM, THEY, Gender
from gapstack.errors import DataError
from gapstack.files import fingerprint

GAP_FORMS = frozenset({"he", "him", "his", "she", "her"})  # the pronouns of GAP
PLURAL = frozenset(THEY)  # mostly plural forms


def gender_of(pronoun: str) -> Gender:
    """Gender of a pronoun form in any case; KeyError for anything else."""
    return GENDER_BY_FORM[pronoun.lower()]


class Label(IntEnum):
    """The three answers: A = 0, B = 1, NEITHER = 2, which are also the columns of every probability array."""

    A = 0
    B = 1
    NEITHER = 2


class Span(NamedTuple):
    """Half-open range of characters ``[start, end)`` in the original text."""

    start: int
    """First character, counted from 0."""
    end: int
    """Character after the last."""

    def overlaps(self, other: Span) -> bool:
        """True if the two ranges share a character."""
        return self.start < other.end and other.start < self.end


Mention = str | tuple[str, int] | tuple[int, int]
"""Words in a text, or words and the number of an occurrence (from 1), or a half-open range of characters."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row of GAP: a text, a pronoun and two names (Webster et al. 2018, section 3).

    Raises DataError if the spans are not disjoint and non-empty ranges of the text.
    """

    id: str
    """Unique in a corpus."""
    text: str
    """The snippet."""
    pronoun: Span
    """Place of the pronoun."""
    a: Span
    """Place of name A."""
    b: Span
    """Place of name B."""
    url: str | None = None
    """Address of the page, None if it is unknown."""
    label: Label | None = None
    """Right answer, None for unlabelled rows."""

    def __post_init__(self) -> None:
        spans = sorted((self.pronoun, self.a, self.b))
        ends = [0, *(end for span in spans for end in span), len(self.text)]
        is_apart = ends == sorted(ends) and all(start < end for start, end in spans)
        if not is_apart or {type(span) for span in spans} != {Span}:
            raise DataError(
                f"example {self.id!r} has overlapping or invalid spans: pronoun {self.pronoun}, a {self.a}, b {self.b}",
                expected=f"disjoint Span(start, end) in a text of {len(self.text)} characters",
                remedy="Example.from_text finds the spans of words",
            )

    @classmethod
    def from_text(
        cls,
        text: str,
        pronoun: Mention,
        a: Mention,
        b: Mention,
        *,
        id: str | None = None,
        url: str | None = None,
        label: Label | None = None,
    ) -> Example:
        """Create an example by the words of its mentions.

        Parameters
        ----------
        text : str
            The snippet.
        pronoun, a, b : str, (str, int) or (int, int)
            Whole words in the case of the text (a name's first occurrence, the pronoun's only one); words and the
            number of the occurrence, from 1; or a range of characters.
        id : str, optional
            By default a hash of text, spans and URL.
        url, label : optional
            As for the class.

        Raises
        ------
        DataError
            If words are not in the text, the pronoun is ambiguous or unknown, or two spans overlap.

        Examples
        --------
        >>> Example.from_text("Kate told Mary that she should leave.", "she", "Kate", "Mary").gender
        <Gender.FEMININE: 'feminine'>
        """
        spans = _span(text, "pronoun", pronoun), _span(text, "a", a), _span(text, "b", b)
        name = fingerprint(text, spans, url) if id is None else id
        example = cls(name, text, *spans, url, label)
        if example.pronoun_text.lower() not in GENDER_BY_FORM:
            raise DataError(
                f"{example.pronoun_text!r} is not a known pronoun",
                expected=f"one of {', '.join(GENDER_BY_FORM)}",
            )
        return example

    def words(self, span: Span) -> str:
        """Text of ``span``."""
        return self.text[span.start : span.end]

    @property
    def pronoun_text(self) -> str:
        """Text of the pronoun."""
        return self.words(self.pronoun)

    @property
    def a_text(self) -> str:
        """Text of A."""
        return self.words(self.a)

    @property
    def b_text(self) -> str:
        """Text of B."""
        return self.words(self.b)

    @property
    def gender(self) -> Gender:
        """Grammatical gender of the pronoun."""
        return gender_of(self.pronoun_text)

    def marked(self, *notes: str) -> str:
        """Return the text as HTML with names and pronoun highlighted; id, label and ``notes`` below."""
        from gapstack.data import html

        label = [f"label {self.label.name}"] if self.label is not None else []
        return (
            f"<p>{html.marked(self.text, {'pronoun': self.pronoun, 'A': self.a, 'B': self.b})}<br>"
            f"<small>{html.escape(' · '.join([self.id, *label, *notes]))}</small></p>"
        )

    def _repr_html_(self) -> str:
        return self.marked()


def _span(text: str, field: str, at: Mention) -> Span:
    """Find a mention in the text; ``field`` is its name in errors."""
    if isinstance(at, tuple) and isinstance(at[0], int):
        return Span(at[0], at[1])
    words, number = (at, None) if isinstance(at, str) else at
    places = occurrences(text, words)
    if number is None and (field != "pronoun" or len(places) == 1):  # the first of a name, the only pronoun
        number = 1
    if number is None or not 1 <= number <= len(places):
        starts = ", ".join(str(place.start) for place in places)
        raise DataError(
            f"{field}: the text has {words!r} at {starts or 'no place'}",
            expected="whole words of the text, in its case; (words, 2) is the second of several",
            remedy="Or use a range of characters (start, end)",
        )
    return places[number - 1]


def occurrences(text: str, words: str, start: int = 0, *, any_case: bool = False) -> list[Span]:
    """Spans of ``words`` in the text from ``start`` on, as whole words."""
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE if any_case else 0)
    return [Span(*match.span()) for match in whole.finditer(text, start)] if words.strip() else []


class Replacement(NamedTuple):
    """Replaces the characters from ``start`` up to ``end`` by ``text``; an insertion if they are equal."""

    start: int
    end: int
    text: str

    @property
    def growth(self) -> int:
        """Number of characters by which the text becomes longer."""
        return len(self.text) - (self.end - self.start)


def edit(example: Example, replacements: Iterable[Replacement | tuple[int, int, str]]) -> Example:
    """Replace parts of the text and shift the spans accordingly.

    A replacement may lie outside a span, inside it, or cover it exactly. Insertions at a span's boundary stay outside
    it, keep their order and precede a replacement that begins there. Raises DataError if replacements overlap, or one
    crosses a boundary of a span.
    """
    ordered = sorted((Replacement(*each) for each in replacements), key=lambda each: (each.start, each.end))
    if not ordered:
        return example
    pieces: list[str] = []
    at = 0
    for each in ordered:
        if not at <= each.start <= each.end <= len(example.text) or not fits(example, each.start, each.end):
            raise DataError(
                f"example {example.id!r}: the replacement {tuple(each)!r} overlaps another or a boundary of a span, or "
                "is outside the text",
                expected=f"disjoint replacements within 0 and {len(example.text)}, each inside or outside a span",
            )
        pieces += [example.text[at : each.start], each.text]
        at = each.end
    text = "".join([*pieces, example.text[at:]])

    def shifted(span: Span) -> Span:
        start = span.start + sum(each.growth for each in ordered if each.end <= span.start)
        return Span(start, span.end + sum(each.growth for each in ordered if each.start < span.end))

    pronoun, a, b = map(shifted, (example.pronoun, example.a, example.b))
    return replace(example, text=text, pronoun=pronoun, a=a, b=b)


def fits(example: Example, start: int, end: int) -> bool:
    """True if the characters from ``start`` to ``end`` cross no boundary of a span, so that they may be replaced."""
    return all(
        end <= span.start or span.end <= start or (span.start <= start and end <= span.end)
        for span in (example.pronoun, example.a, example.b)
    )
