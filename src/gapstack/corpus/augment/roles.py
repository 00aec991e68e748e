"""The names: A and B exchanged, and Liu's placeholders in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from gapstack.corpus.augment.edit import Replacement, edit
from gapstack.corpus.example import Example, Label, Span
from gapstack.corpus.pronouns import Gender
from gapstack.errors import DataError

_SWAPPED = {Label.A: Label.B, Label.B: Label.A, Label.NEITHER: Label.NEITHER, None: None}
PLACEHOLDERS: dict[Gender, tuple[tuple[str, str], ...]] = {
    Gender.FEMININE: (("Alice", "Kate"), ("Elizabeth", "Mary"), ("Kate", "Elizabeth"), ("Mary", "Alice")),
    Gender.MASCULINE: (("John", "Michael"), ("James", "Henry"), ("Michael", "James"), ("Henry", "John")),
}
"""Liu's four pairs for the first and the second name of the text (GAP's A and B), by the pronoun's gender."""


def swap_names(example: Example) -> Example:
    """Exchange the roles A and B, and the label with them; the text stays, and swapping twice gives all back.

    An example does not promise that A stands before B; a member that needs it must not be given these.
    """
    return replace(example, a=example.b, b=example.a, label=_SWAPPED[example.label])


def anonymise_names(example: Example, variant: int = 0) -> Example | None:
    """Put Liu's placeholders for A and B wherever the text has exactly their words; None if a rule forbids it.

    The name that stands first gets the first of the pair, so that the text stays the same when A and B are exchanged.

    The rules (Liu 2019, code of the seventh place). The whole row is left out if one name is a part of the
    other, or a placeholder is in the text or has a name in it. One name is left as it is if it has more than
    two words, or two words of which one occurs more often than the whole name. Unlike Liu's code this takes
    whole words alone ("Ann" is not replaced in "Annual"), and leaves out rows where occurrences of the names
    share words. :func:`why_not_anonymised` says which rule it was.

    Parameters
    ----------
    variant : int
        Which pair of :data:`PLACEHOLDERS`, 0 to 3.

    Returns
    -------
    Example or None
        None if nothing would change.

    Raises
    ------
    DataError
        If there is no such variant.
    """
    pair = _pair(example, variant)
    if pair is None or _row_refusal(example, pair) is not None:
        return None
    found = [
        Replacement(place.start, place.end, new)
        for span, new in zip(sorted((example.a, example.b)), pair, strict=True)
        if _name_refusal(example.text, example.words(span)) is None
        for place in _occurrences(example, span)
    ]
    return edit(example, found) if found else None


def why_not_anonymised(example: Example, variant: int = 0) -> tuple[str, ...]:
    """Give the reasons why :func:`anonymise_names` leaves out the row or leaves a name as it is; () if none."""
    pair = _pair(example, variant)
    if pair is None:
        return (f"there are no placeholders for the pronoun {example.pronoun_text!r}",)
    refusal = _row_refusal(example, pair)
    if refusal is not None:
        return (refusal,)
    names = [_name_refusal(example.text, name) for name in (example.a_text, example.b_text)]
    return tuple(reason for reason in names if reason is not None)


def _pair(example: Example, variant: int) -> tuple[str, str] | None:
    if variant not in range(4):
        raise DataError(f"there is no placeholder variant {variant!r}", expected="0, 1, 2 or 3")
    pairs = PLACEHOLDERS.get(example.gender)
    return None if pairs is None else pairs[variant]


def _row_refusal(example: Example, pair: tuple[str, str]) -> str | None:
    a, b = example.a_text, example.b_text
    if a in b or b in a:
        return f"one name is a part of the other: {a!r}, {b!r}"
    for placeholder in pair:
        if placeholder in example.text:
            return f"the placeholder {placeholder!r} is in the text"
        for name in (a, b):
            if name in placeholder:
                return f"the name {name!r} is in the placeholder {placeholder!r}"
    places = sorted([*_occurrences(example, example.a), *_occurrences(example, example.b), example.pronoun])
    if any(left.end > right.start for left, right in pairwise(places)):
        return f"occurrences of {a!r}, {b!r} and the pronoun share words"
    return None


def _name_refusal(text: str, name: str) -> str | None:
    words = name.split()
    if len(words) > 2:
        return f"the name {name!r} has more than two words"
    if len(words) == 2:
        for word in words:
            if text.count(word) > text.count(name):
                return f"{word!r} occurs more often than {name!r}"
    return None


def _occurrences(example: Example, span: Span) -> Iterator[Span]:
    """The span, and the other places where its words stand as whole words, none of them overlapping."""
    whole = re.compile(rf"(?<!\w){re.escape(example.words(span))}(?!\w)")
    for match in whole.finditer(example.text):
        if match.end() > span.start:
            break
        yield Span(*match.span())
    yield span
    for match in whole.finditer(example.text, span.end):
        yield Span(*match.span())
