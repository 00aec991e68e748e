"""Data augmentation that keeps the three spans aligned with the text.

An augmentation maps an example to a changed one, or to None where it does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Annotated, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Gender, Label, Replacement, Span, edit, occurrences
from gapstack.registry import Registry
from gapstack.settings import OneOf

if TYPE_CHECKING:
    from gapstack.data.gender import FirstNames

_SWAPPED = {Label.A: Label.B, Label.B: Label.A, Label.NEITHER: Label.NEITHER, None: None}
Change = Callable[[Example], Example | None]

PLACEHOLDERS: dict[Gender, tuple[tuple[str, str], ...]] = {
    Gender.FEMININE: (("Alice", "Kate"), ("Elizabeth", "Mary"), ("Kate", "Elizabeth"), ("Mary", "Alice")),
    Gender.MASCULINE: (("John", "Michael"), ("James", "Henry"), ("Michael", "James"), ("Henry", "John")),
}
"""Liu's four pairs for the first and the second name in the text, by the pronoun's gender."""
_CAPITALISED = re.compile(r"[^\W\d_][\w*'\u2019-]*")
_POSSESSIVE = re.compile(r"(['\u2019]s?)?\Z")
_BETWEEN_NAMES = re.compile(r" (?:[A-Z]\. )*")
# Between two names of one person, "Samuel Clemens, known as Mark Twain", or of an actor and the role.
_SAME_PERSON = re.compile(
    r"\b(as|alias|aka|a\.k\.a|née|nee|born|called|named|nicknamed|pseudonym|stage|real|is|was|became)\b|=|\("
)


class Variant(NamedTuple):
    """An augmented copy of a corpus; column ``k`` of the original's probabilities is its column ``columns[k]``."""

    name: str
    corpus: Corpus
    changed: NDArray[np.bool_]  # (n,) True for changed rows
    columns: tuple[int, int, int]

    @property
    def counts(self) -> NDArray[np.bool_]:
        """True for rows that count in an average, (n,): all of the original, the changed ones of other variants."""
        return self.changed | (self.name == "original")

    def restore(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map (n, 3) probabilities for this corpus to the original's columns A, B, NEITHER."""
        return probabilities[:, self.columns]


def augmented(corpus: Corpus, change: Change) -> Corpus:
    """Apply an augmentation to every row; rows for which it returns None stay unchanged."""
    return corpus.map(lambda example: change(example) or example)


def variants(corpus: Corpus, names: Sequence[str] = ("original", "swap_names")) -> list[Variant]:
    """Make the named variants, in that order; UnknownNameError for a name that is not in :data:`AUGMENTATIONS`."""
    result: list[Variant] = []
    for name in names:
        augmentation = AUGMENTATIONS[name]
        copy = augmented(corpus, augmentation.change)
        changed = [before != after for before, after in zip(corpus, copy, strict=True)]
        result.append(Variant(name, copy, np.array(changed, dtype=bool), augmentation.columns))
    return result


def average(
    variants: Sequence[Variant],
    probabilities: Sequence[NDArray[np.float64]],
    weights: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Average the variants' probabilities to (n, 3); unchanged rows do not count if the original is among them."""
    weights = [1.0] * len(variants) if weights is None else list(weights)
    has_original = any(v.name == "original" and w > 0 for v, w in zip(variants, weights, strict=True))
    total = np.zeros((len(variants[0].corpus), 3))
    for variant, p, weight in zip(variants, probabilities, weights, strict=True):
        counts = variant.counts | (not has_original)
        total += weight * counts[:, None] * variant.restore(np.asarray(p, dtype=np.float64))
    return total / total.sum(axis=1, keepdims=True)


def swap_names(example: Example) -> Example:
    """Exchange A and B and the label; the text does not change, so A may then be the later name."""
    return replace(example, a=example.b, b=example.a, label=_SWAPPED[example.label])


def anonymise_names(example: Example, variant: int = 0) -> Example | None:
    """Replace all exact occurrences of A and B by pair ``variant`` of :data:`PLACEHOLDERS`; None without a change.

    The rules are those of Liu 2019 (code of the seventh place). A row is unchanged if one name is part of the other, or
    a placeholder occurs in the text or contains a name; a name is unchanged if it has more than two words, or two words
    of which one occurs more often than the whole name. Unlike Liu's code, only whole words are replaced.
    """
    text, a, b = example.text, example.a_text, example.b_text
    pair = PLACEHOLDERS[example.gender][variant] if example.gender in PLACEHOLDERS else None
    if pair is None or a in b or b in a or any(p in text or a in p or b in p for p in pair):
        return None
    places = {span: mentions(example, span) for span in sorted((example.a, example.b))}
    spans = sorted([*places[example.a], *places[example.b], example.pronoun])
    if any(left.end > right.start for left, right in pairwise(spans)):
        return None
    replacements = [
        Replacement(mention.start, mention.end, new)
        for (span, all_mentions), new in zip(places.items(), pair, strict=True)
        if _may_be_replaced(text, example.words(span))
        for mention in all_mentions
    ]
    return edit(example, replacements) if replacements else None


def _may_be_replaced(text: str, name: str) -> bool:
    words = name.split()
    return len(words) < 2 or (len(words) == 2 and all(text.count(word) <= text.count(name) for word in words))


def mentions(example: Example, span: Span) -> list[Span]:
    """The span and all other occurrences of its words that do not overlap it, in the order of the text."""
    words = example.words(span)
    before = takewhile(lambda other: other.end <= span.start, occurrences(example.text, words))
    return [*before, span, *occurrences(example.text, words, span.end)]


def people(example: Example, names: FirstNames) -> list[Span]:
    """Spans of full names of the pronoun's gender: first name, initials, capitalised word. Precise, with low recall."""
    text = example.text
    runs: list[list[tuple[int, int]]] = []
    for match in _CAPITALISED.finditer(text):
        initial = len(match.group()) == 1 and text.startswith(".", match.end())
        if initial or not match.group()[0].isupper():
            continue
        if runs and _BETWEEN_NAMES.fullmatch(text, runs[-1][-1][1], match.start()):
            runs[-1].append(match.span())
        else:
            runs.append([match.span()])
    return [
        Span(run[0][0], run[1][0] + len(_POSSESSIVE.sub("", text[slice(*run[1])])))
        for run in runs
        if len(run) == 2 and names.genders.get(text[slice(*run[0])]) == example.gender
    ]


def other_person(example: Example, names: FirstNames | None = None) -> Example | None:
    """Replace the right name by another person of the text, so that the answer is NEITHER; None if there is none.

    The new name shares no word with A or B and is not linked to the right name by words such as "born" or "called".
    """
    from gapstack.data.gender import first_names

    if example.label not in (Label.A, Label.B):
        return None
    right, other = (example.a, example.b) if example.label == Label.A else (example.b, example.a)
    name_words = _name_words(example.words(right)) | _name_words(example.words(other))
    candidates = [
        span
        for span in people(example, names or first_names())
        if not _name_words(example.words(span)) & name_words
        and not any(span.overlaps(mention) for mention in (example.pronoun, right, other))
        and not _may_be_one_person(example.text, example.words(span), example.words(right))
    ]
    if not candidates:
        return None
    chosen = candidates[crc32(example.id.encode("utf-8", "surrogatepass")) % len(candidates)]
    a, b = sorted((chosen, other))
    return replace(example, a=a, b=b, label=Label.NEITHER)


def _name_words(name: str) -> set[str]:
    """Words of a name except particles, in lower case."""
    return set(re.findall(r"[\w*]+", name.lower())) - {"of", "the", "de", "van", "von"}


def _may_be_one_person(text: str, name: str, right: str) -> bool:
    """True if a word of :data:`_SAME_PERSON` links occurrences of the two names within a sentence."""
    places = sorted(
        (*m.span(), words) for words in (name, right) for m in re.finditer(re.escape(words), text)
    )
    for (_, end, first), (start, _, second) in pairwise(places):
        between = text[end:start]
        if first != second and not re.search(r"[.;!?] ", between) and _SAME_PERSON.search(between):
            return True
    return False


# gendered words and names are read on first use
def _swap_gender(example: Example) -> Example:
    from gapstack.data.gender import swap_gender

    return swap_gender(example)


def _feminise(example: Example) -> Example:
    from gapstack.data.gender import feminise

    return feminise(example)


class Augmentation(NamedTuple):
    """A change of one example; ``columns`` maps its probabilities back, see :class:`Variant`."""

    change: Change
    columns: tuple[int, int, int] = (0, 1, 2)


AUGMENTATIONS: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "original": Augmentation(lambda example: example),
        "swap_names": Augmentation(swap_names, (1, 0, 2)),
        "swap_gender": Augmentation(_swap_gender),
        "feminise": Augmentation(_feminise),
        "other_person": Augmentation(other_person),
        "forget_page": Augmentation(lambda example: replace(example, url=None) if example.url else None),
        **{f"anonymise_{k}": Augmentation(partial(anonymise_names, variant=k)) for k in range(4)},
    },
)
"""Augmentations for :func:`variants`, by name; they need no further data."""
AugmentationName = Annotated[str, OneOf(AUGMENTATIONS)]
