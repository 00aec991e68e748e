"""One example: a snippet with a pronoun and two names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from gapstack.corpus import html
from gapstack.corpus.pronouns import GENDER_BY_FORM, Gender, gender_of
from gapstack.errors import DataError
from gapstack.files import fingerprint


class Label(IntEnum):
    """The answer; its value is its column in every probability array."""

    A = 0
    B = 1
    NEITHER = 2


class Span(NamedTuple):
    """Half-open range of characters in the original text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


Mention = str | tuple[str, int] | tuple[int, int]
"""Words in a text, or words and which of their occurrences (from 1), or a half-open range of characters."""


@dataclass(frozen=True, slots=True)
class Example:
    """One GAP row (Webster et al. 2018, section 3).

    ``label`` is None for unlabelled rows, ``url`` where the page is unknown.

    Raises
    ------
    DataError
        If a span is no :class:`Span` in the text, is empty or overlaps another, or the label is no :class:`Label`.
    """

    id: str
    text: str
    pronoun: Span
    a: Span
    b: Span
    url: str | None = None
    label: Label | None = None

    def __post_init__(self) -> None:
        pronoun, a, b = self.pronoun, self.a, self.b
        # one expression: corpora have up to a million examples
        if not (
            type(pronoun) is type(a) is type(b) is Span
            and type(pronoun[0]) is type(pronoun[1]) is type(a[0]) is type(a[1]) is int
            and type(b[0]) is type(b[1]) is int
            and 0 <= pronoun[0] < pronoun[1]
            and 0 <= a[0] < a[1]
            and 0 <= b[0] < b[1]
            and (pronoun[1] <= a[0] or a[1] <= pronoun[0])
            and (pronoun[1] <= b[0] or b[1] <= pronoun[0])
            and (a[1] <= b[0] or b[1] <= a[0])
            and pronoun[1] <= (size := len(self.text))
            and a[1] <= size
            and b[1] <= size
            and (self.label is None or type(self.label) is Label)
        ):
            raise self._problem()

    def _problem(self) -> DataError:
        """What is wrong with a span or the label."""
        spans = {"pronoun": self.pronoun, "a": self.a, "b": self.b}
        for field, span in spans.items():
            where = f"example {self.id!r}: {field} is {span!r}"
            if type(span) is not Span or {type(end) for end in span} != {int}:
                return DataError(
                    where,
                    expected="a Span(start, end) of two whole numbers",
                    remedy="Example.from_text finds the spans of words",
                )
            if not 0 <= span.start < span.end <= len(self.text):
                return DataError(
                    where,
                    expected=f"a start before its end, in a text of {len(self.text)} characters",
                    remedy="Offsets count characters (not bytes) from 0",
                )
        for one, other in (("pronoun", "a"), ("pronoun", "b"), ("a", "b")):
            if spans[one].overlaps(spans[other]):
                first, second = (f"{f} {self.words(spans[f])!r} at {tuple(spans[f])}" for f in (other, one))
                return DataError(
                    f"example {self.id!r}: {first} overlaps {second}",
                    expected="three spans that share no character",
                )
        return DataError(
            f"example {self.id!r}: label is {self.label!r}",
            expected="Label.A, Label.B, Label.NEITHER or None",
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
        """Make an example of a text and the words that its spans cover.

        Parameters
        ----------
        text : str
        pronoun, a, b : str, (str, int) or (int, int)
            Whole words, in the case of the text: a name's first occurrence, the pronoun's only one. Or words and the
            number of the occurrence, ``("she", 2)`` for the second. Or a range of characters, end excluded.
        id : str, optional
            By default a hash of text, spans and URL.

        Raises
        ------
        DataError
            If words are not in the text, the pronoun is there more than once or not one that gapstack knows, or two
            spans overlap.
        """
        spans = [_span(text, field, at) for field, at in (("pronoun", pronoun), ("a", a), ("b", b))]
        name = fingerprint(text, spans, url) if id is None else id
        example = cls(name, text, spans[0], spans[1], spans[2], url, label)
        if example.pronoun_text.lower() not in GENDER_BY_FORM:
            raise DataError(
                f"pronoun: {example.pronoun_text!r} is no pronoun that gapstack knows",
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
        """HTML of the text with its names and pronoun on colour, and below it id, label and ``notes``."""
        label = [f"label {self.label.name}"] if self.label is not None else []
        return (
            f"<p>{html.marked(self.text, {'pronoun': self.pronoun, 'A': self.a, 'B': self.b})}<br>"
            f"<small>{html.escape(' · '.join([self.id, *label, *notes]))}</small></p>"
        )

    def _repr_html_(self) -> str:
        return self.marked()


def _span(text: str, field: str, at: Mention) -> Span:
    """Find what ``at`` names in the text; ``field`` is what errors call it."""
    match at:
        case (int() as start, int() as end):
            return Span(start, end)
        case str() as words:
            number = None
        case (str() as words, int() as number):
            pass
        case _:
            raise DataError(
                f"{field}: found {at!r}",
                expected='words, words and the number of their occurrence ("she", 2), or a range (start, end)',
            )
    places = occurrences(text, words)
    if not places:
        alike = occurrences(text, words, any_case=True)
        others = [f"{text[slice(*place)]!r} at {place.start}" for place in alike]
        parts = [] if others or not words else [f"part of a word at {text.find(words)}"] * (words in text)
        hint = f"; it has {' and '.join(others or parts)}" if others or parts else ""
        raise DataError(
            f"{field}: the text has no {words!r}{hint}",
            expected="whole words of the text, in its case",
            remedy="Or give a range of characters (start, end)",
        )
    many = f"{words!r} occurs {len(places)} times, at {', '.join(str(place.start) for place in places)}"
    if number is None and field == "pronoun" and len(places) > 1:
        raise DataError(
            f"{field}: {many}",
            expected="one occurrence",
            remedy=f"Say which: ({words!r}, 1) is the first, ({words!r}, {len(places)}) the last",
        )
    if number is not None and not 1 <= number <= len(places):
        raise DataError(f"{field}: {many}", expected=f"an occurrence from 1 to {len(places)}, not {number}")
    return places[(number or 1) - 1]


def occurrences(text: str, words: str, start: int = 0, *, any_case: bool = False) -> list[Span]:
    """Where ``words`` stand in the text from ``start`` on and no letter or digit continues them."""
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE if any_case else 0)
    return [Span(*match.span()) for match in whole.finditer(text, start)] if words.strip() else []
