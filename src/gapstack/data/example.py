"""One example, a snippet with a pronoun and two names; pronouns and their gender; edits that keep the spans."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from itertools import combinations
from typing import NamedTuple

from gapstack.data import html
from gapstack.errors import DataError
from gapstack.files import fingerprint


class Gender(StrEnum):
    """Grammatical gender of a pronoun form."""

    MASCULINE = "masculine"
    FEMININE = "feminine"
    NEUTRAL = "neutral"


# Masculine and feminine are the official scorer's sets plus the reflexives that audit suites use;
# GAP itself has only he, his, him, she and her.
_FORMS: dict[Gender, tuple[str, ...]] = {
    Gender.MASCULINE: ("he", "him", "his", "himself"),
    Gender.FEMININE: ("she", "her", "hers", "herself"),
    Gender.NEUTRAL: (
        *("they", "them", "their", "theirs", "themself", "themselves"),
        *("ze", "zir", "zirs", "zirself", "hir", "hirs", "hirself", "xe", "xem", "xyr", "xyrs", "xemself"),
        *("ey", "em", "eir", "eirs", "emself", "fae", "faer", "faers", "faerself"),
    ),
}
GENDER_BY_FORM: dict[str, Gender] = {form: gender for gender, forms in _FORMS.items() for form in forms}


def gender_of(pronoun: str) -> Gender:
    """Gender of a pronoun form in any case; KeyError for anything else."""
    return GENDER_BY_FORM[pronoun.lower()]


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
        """True if the two ranges share a character."""
        return self.start < other.end and other.start < self.end


Mention = str | tuple[str, int] | tuple[int, int]
"""Words in a text, or words and which of their occurrences (from 1), or a half-open range of characters."""


@dataclass(frozen=True, slots=True)
class Example:
    """One GAP row (Webster et al. 2018, section 3).

    ``label`` is None for unlabelled rows, ``url`` if the page is unknown. Raises DataError if a span is not a
    :class:`Span` in the text, is empty or overlaps another, or the label is not a :class:`Label`.
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
        where = f"example {self.id!r}: "
        for field, span in spans.items():
            if type(span) is not Span or {type(end) for end in span} != {int}:
                return DataError(
                    f"{where}{field} is {span!r}",
                    expected="a Span(start, end) of two whole numbers",
                    remedy="Example.from_text finds the spans of words",
                )
            if not 0 <= span.start < span.end <= len(self.text):
                return DataError(
                    f"{where}{field} is {span!r}",
                    expected=f"a start before its end, in a text of {len(self.text)} characters",
                    remedy="Offsets count characters (not bytes) from 0",
                )
        for (one, span), (other, further) in combinations(spans.items(), 2):
            if span.overlaps(further):
                problem = f"{other} {self.words(further)!r} at {tuple(further)} overlaps {one}"
                return DataError(where + problem, expected="spans that share no character")
        return DataError(
            f"{where}label is {self.label!r}", expected="Label.A, Label.B, Label.NEITHER or None"
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
                f"pronoun: {example.pronoun_text!r} is not a known pronoun",
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
    """Find the span that ``at`` names in the text; ``field`` is its name in errors."""
    number: int | None = None
    match at:
        case (int() as start, int() as end):
            return Span(start, end)
        case str() as words:
            pass
        case (str() as words, int() as number):
            pass
        case _:
            expected = 'words, words and the number of their occurrence ("she", 2), or a range (start, end)'
            raise DataError(f"{field}: found {at!r}", expected=expected)
    places = occurrences(text, words)
    if not places:
        alike = [
            f"{text[slice(*place)]!r} at {place.start}" for place in occurrences(text, words, any_case=True)
        ]
        if not alike and words and words in text:
            alike = [f"part of a word at {text.find(words)}"]
        raise DataError(
            f"{field}: the text has no {words!r}" + (f"; it has {' and '.join(alike)}" if alike else ""),
            expected="whole words of the text, in its case",
            remedy="Or use a range of characters (start, end)",
        )
    count = len(places)
    many = f"{field}: {words!r} occurs {count} times, at {', '.join(str(place.start) for place in places)}"
    if number is None and field == "pronoun" and count > 1:
        remedy = f"Choose one: ({words!r}, 1) is the first, ({words!r}, {count}) the last"
        raise DataError(many, expected="one occurrence", remedy=remedy)
    if number is not None and not 1 <= number <= count:
        raise DataError(many, expected=f"an occurrence from 1 to {count}, not {number}")
    return places[(number or 1) - 1]


def occurrences(text: str, words: str, start: int = 0, *, any_case: bool = False) -> list[Span]:
    """Where ``words`` stand in the text from ``start`` on and no letter or digit continues them."""
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE if any_case else 0)
    return [Span(*match.span()) for match in whole.finditer(text, start)] if words.strip() else []


class Replacement(NamedTuple):
    """Replaces the characters from ``start`` up to ``end`` by ``text``; an insertion if they are equal."""

    start: int
    end: int
    text: str

    @property
    def growth(self) -> int:
        """By how many characters the text becomes longer."""
        return len(self.text) - (self.end - self.start)


def edit(example: Example, replacements: Iterable[Replacement | tuple[int, int, str]]) -> Example:
    """Replace parts of the text and shift the spans accordingly.

    A replacement may lie outside a span, inside it, or cover it exactly; the span then covers the new text. An
    insertion at a span's boundary stays outside it. Insertions at one position keep their order and precede a
    replacement that begins there. Raises DataError if a replacement is outside the text, two overlap, one crosses a
    boundary of a span, or a span would become empty. Without replacements, the result is ``example`` itself.
    """
    ordered = sorted((Replacement(*one) for one in replacements), key=lambda one: (one.start, one.end))
    if not ordered:
        return example
    pieces: list[str] = []
    at = 0
    for one in ordered:
        if not at <= one.start <= one.end <= len(example.text):
            raise DataError(
                f"example {example.id!r}: the replacement {tuple(one)!r} overlaps another or is outside the text",
                expected=f"disjoint replacements within 0 and {len(example.text)}",
            )
        pieces += [example.text[at : one.start], one.text]
        at = one.end
    text = "".join([*pieces, example.text[at:]])

    def shifted(name: str, span: Span) -> Span:
        if cut := next((one for one in ordered if _cuts(one.start, one.end, span)), None):
            raise DataError(
                f"example {example.id!r}: the replacement {tuple(cut)!r} cuts through {name} "
                f"{example.words(span)!r} at {tuple(span)}",
                expected="a replacement outside the span, inside it, or of exactly the span",
            )
        # replacements before the span shift it, those within it change its length
        start = span.start + sum(one.growth for one in ordered if one.end <= span.start)
        within = sum(one.growth for one in ordered if span.start < one.end and one.start < span.end)
        new = Span(start, start + span.end - span.start + within)
        if new.start == new.end:
            problem = f"the replacements leave nothing of {name} {example.words(span)!r}"
            raise DataError(f"example {example.id!r}: {problem}", expected="words in its place")
        return new

    return replace(
        example,
        text=text,
        pronoun=shifted("pronoun", example.pronoun),
        a=shifted("A", example.a),
        b=shifted("B", example.b),
    )


def fits(example: Example, start: int, end: int) -> bool:
    """True if the characters from ``start`` to ``end`` may be replaced: they cross no boundary of a span."""
    return not any(_cuts(start, end, span) for span in (example.pronoun, example.a, example.b))


def _cuts(start: int, end: int, span: Span) -> bool:
    outside = end <= span.start or span.end <= start
    inside = span.start <= start and end <= span.end
    return not (outside or inside)
