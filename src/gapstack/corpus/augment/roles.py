"""Augmentations of the names: A and B exchanged, or replaced by Liu's placeholders."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, takewhile

from gapstack.corpus.augment.edit import Replacement, edit
from gapstack.corpus.example import Example, Label, Span, occurrences
from gapstack.corpus.pronouns import Gender
from gapstack.errors import DataError

_SWAPPED = {Label.A: Label.B, Label.B: Label.A, Label.NEITHER: Label.NEITHER, None: None}
PLACEHOLDERS: dict[Gender, tuple[tuple[str, str], ...]] = {
    Gender.FEMININE: (("Alice", "Kate"), ("Elizabeth", "Mary"), ("Kate", "Elizabeth"), ("Mary", "Alice")),
    Gender.MASCULINE: (("John", "Michael"), ("James", "Henry"), ("Michael", "James"), ("Henry", "John")),
}
"""Liu's four pairs for the first and the second name in the text, by the pronoun's gender."""


def swap_names(example: Example) -> Example:
    """Exchange A and B, and the label accordingly; the text stays the same.

    Then A may stand after B; a member that needs the textual order cannot use this.
    """
    return replace(example, a=example.b, b=example.a, label=_SWAPPED[example.label])


def anonymise_names(example: Example, variant: int = 0) -> Example | None:
    """Replace all exact occurrences of A and B by Liu's placeholders; None if a rule forbids it.

    The first name in the text gets the first placeholder, so the result does not depend on the order of A and B.

    The rules are those of Liu 2019 (code of the seventh place). A row is unchanged if one name is part of the other, or
    a placeholder occurs in the text or contains a name. A name is unchanged if it has more than two words, or two words
    of which one occurs more often than the whole name. Unlike Liu's code, only whole words are replaced (no "Ann" in
    "Annual"), and rows where occurrences of the names share words are unchanged. :func:`why_not_anonymised` gives the
    reasons. Raises DataError if there is no such variant.

    Parameters
    ----------
    variant : int
        Index of the pair of :data:`PLACEHOLDERS`, 0 to 3.

    Returns
    -------
    Example or None
        None if nothing would change.
    """
    pair = _pair(example, variant)
    if pair is None or _row_refusal(example, pair) is not None:
        return None
    replacements = [
        Replacement(mention.start, mention.end, new)
        for span, new in zip(sorted((example.a, example.b)), pair, strict=True)
        if _name_refusal(example.text, example.words(span)) is None
        for mention in mentions(example, span)
    ]
    return edit(example, replacements) if replacements else None


def why_not_anonymised(example: Example, variant: int = 0) -> tuple[str, ...]:
    """Reasons why :func:`anonymise_names` does not change the row or a name; () if there are none."""
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
    spans = sorted([*mentions(example, example.a), *mentions(example, example.b), example.pronoun])
    if any(left.end > right.start for left, right in pairwise(spans)):
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


def mentions(example: Example, span: Span) -> list[Span]:
    """The span, and all other occurrences of its words that do not overlap it."""
    words = example.words(span)
    before = takewhile(lambda other: other.end <= span.start, occurrences(example.text, words))
    return [*before, span, *occurrences(example.text, words, span.end)]
