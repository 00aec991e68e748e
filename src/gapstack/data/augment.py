"""Data augmentation that keeps the three spans aligned with the text.

An augmentation maps an example to a changed one, or to None where it does not apply. :func:`augmented` applies one to a
corpus, :func:`variants` and :func:`average` do test-time augmentation, and :func:`with_synthetic_neither` adds rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, takewhile
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Gender, Label, Replacement, Span, edit, occurrences
from gapstack.data.gender import FirstNames, feminise, swap_gender
from gapstack.errors import DataError
from gapstack.registry import Registry
from gapstack.settings import OneOf

_SAME_COLUMNS = (0, 1, 2)
_SWAPPED = {Label.A: Label.B, Label.B: Label.A, Label.NEITHER: Label.NEITHER, None: None}
Change = Callable[[Example], Example | None]
People = Callable[[Example], Iterable[Span]]
"""Returns the spans of the person names of a text."""

PLACEHOLDERS: dict[Gender, tuple[tuple[str, str], ...]] = {
    Gender.FEMININE: (("Alice", "Kate"), ("Elizabeth", "Mary"), ("Kate", "Elizabeth"), ("Mary", "Alice")),
    Gender.MASCULINE: (("John", "Michael"), ("James", "Henry"), ("Michael", "James"), ("Henry", "John")),
}
"""Liu's four pairs for the first and the second name in the text, by the pronoun's gender."""
_CAPITALISED = re.compile(r"[^\W\d_][\w*'\u2019-]*")
_BETWEEN_NAMES = re.compile(r" (?:[A-Z]\. )*")
# Between two names of one person, "Samuel Clemens, known as Mark Twain", or of an actor and the role.
_SAME_PERSON = re.compile(
    r"\b(as|alias|aka|a\.k\.a|née|nee|born|called|named|nicknamed|pseudonym|stage|real|is|was|became)\b|=|\("
)


@dataclass(frozen=True)
class Variant:
    """An augmented copy of a corpus.

    Attributes
    ----------
    corpus : Corpus
        The same ids in the same order; rows to which the augmentation does not apply are unchanged.
    changed : (n,) bool
        Rows that differ from the original.
    columns : tuple of int
        Column ``k`` of the original's probabilities is column ``columns[k]`` of this corpus's.
    """

    name: str
    corpus: Corpus
    changed: NDArray[np.bool_]
    columns: tuple[int, int, int]

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
        changed = [one != other for one, other in zip(corpus, copy, strict=True)]
        result.append(Variant(name, copy, np.array(changed, dtype=bool), augmentation.columns))
    return result


def average(
    variants: Sequence[Variant],
    probabilities: Sequence[NDArray[np.float64]],
    weights: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Average the variants' (n, 3) probabilities in the original's columns.

    If the original is among the variants, unchanged rows of the others have no weight, so that they count once. Raises
    DataError if the numbers of variants, arrays and weights differ, or no weight is positive.

    Parameters
    ----------
    weights : sequence of float, optional
        One for each variant, equal by default; rescaled to sum to 1 in each row.
    """
    weights = [1.0] * len(variants) if weights is None else list(weights)
    if not len(variants) == len(probabilities) == len(weights):
        raise DataError(
            f"{len(variants)} variants, {len(probabilities)} arrays and {len(weights)} weights",
            expected="one array and one weight for each variant",
        )
    if not any(weight > 0 for weight in weights) or any(weight < 0 for weight in weights):
        raise DataError(f"the weights are {weights}", expected="none negative, and one above 0")
    has_original = any(v.name == "original" and w > 0 for v, w in zip(variants, weights, strict=True))
    total = np.zeros((len(variants[0].corpus), 3))
    for variant, p, weight in zip(variants, probabilities, weights, strict=True):
        counts = variant.changed | (variant.name == "original") | (not has_original)
        total += weight * counts[:, None] * variant.restore(np.asarray(p, dtype=np.float64))
    return total / total.sum(axis=1, keepdims=True)


def swap_names(example: Example) -> Example:
    """Exchange A and B, and the label accordingly; the text stays the same.

    Then A may stand after B; a member that needs the textual order cannot use this.
    """
    return replace(example, a=example.b, b=example.a, label=_SWAPPED[example.label])


def anonymise_names(example: Example, variant: int = 0) -> Example | None:
    """Replace all exact occurrences of A and B by Liu's placeholders; None if nothing would change.

    The first name in the text gets the first placeholder, so the result does not depend on the order of A and B.

    The rules are those of Liu 2019 (code of the seventh place). A row is unchanged if one name is part of the other, or
    a placeholder occurs in the text or contains a name. A name is unchanged if it has more than two words, or two words
    of which one occurs more often than the whole name. Unlike Liu's code, only whole words are replaced (no "Ann" in
    "Annual"), and rows where occurrences of the names share words are unchanged. :func:`why_not_anonymised` returns the
    reasons. Raises DataError unless ``variant``, the index of the pair of :data:`PLACEHOLDERS`, is 0 to 3.
    """
    pair = _placeholders(example, variant)
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
    pair = _placeholders(example, variant)
    if pair is None:
        return (f"there are no placeholders for the pronoun {example.pronoun_text!r}",)
    refusal = _row_refusal(example, pair)
    if refusal is not None:
        return (refusal,)
    names = [_name_refusal(example.text, name) for name in (example.a_text, example.b_text)]
    return tuple(reason for reason in names if reason is not None)


def _placeholders(example: Example, variant: int) -> tuple[str, str] | None:
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


def people_by_first_name(names: FirstNames) -> People:
    """Make a :data:`People` function for names of a first name, of the pronoun's gender, and one capitalised word.

    Initials may stand between the two. Longer and shorter runs of capitalised words are ignored, since many are places
    and institutions ("Virginia", "Santa Fe Opera"). No parser and high precision, but low recall.
    """

    def find(example: Example) -> list[Span]:
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
            Span(run[0][0], run[1][1] - len(_possessive_ending(text[slice(*run[1])])))
            for run in runs
            if len(run) == 2 and names.genders.get(text[slice(*run[0])]) == example.gender
        ]

    return find


def synthetic_neither(example: Example, people: People, rng: np.random.Generator) -> Example | None:
    """Replace the right name by another person of the text, so that the answer is NEITHER; None if there is none.

    The new name must share no word with A or B, overlap no mention, and occur nowhere in one sentence with the right
    name and an "as", "born", "called", "was", bracket or the like between them. The text stays the same. A stands
    before B. ``~neither`` is added to the id.

    Parameters
    ----------
    people : callable
        Returns the spans of person names, preferably of the pronoun's gender, such as :func:`people_by_first_name`.
    rng : numpy Generator
        Chooses among the people.
    """
    if example.label not in (Label.A, Label.B):
        return None
    right, other = (example.a, example.b) if example.label == Label.A else (example.b, example.a)
    name_words = _name_words(example.words(right)) | _name_words(example.words(other))
    candidates = [
        span
        for span in sorted(set(people(example)))
        if not _name_words(example.words(span)) & name_words
        and not any(span.overlaps(mention) for mention in (example.pronoun, right, other))
        and not _may_be_one_person(example.text, example.words(span), example.words(right))
    ]
    if not candidates:
        return None
    a, b = sorted((candidates[int(rng.integers(len(candidates)))], other))
    return replace(example, id=f"{example.id}~neither", a=a, b=b, label=Label.NEITHER)


def with_synthetic_neither(
    corpus: Corpus, people: People, *, added: float = 0.05, share: float | None = None, seed: int = 0
) -> Corpus:
    """Append synthetic NEITHER rows to a labelled corpus, and copies of A and B rows with exchanged roles.

    Bao & Qiao added NEITHER rows alone, and their logloss got worse, since NEITHER became too frequent. The copies keep
    its share. Raises DataError if a row has no label, too few rows can be made, or the share cannot be met.

    Parameters
    ----------
    added : float
        Number of synthetic rows, as a fraction of the corpus.
    share : float, optional
        Share of NEITHER in the result; by default that of the corpus. It determines the number of copies
        (``~swapped`` after their id), among which A and B are as equally frequent as the rows allow.
    """
    labels = corpus.labels
    rng = np.random.default_rng(seed)
    number = round(added * len(corpus))
    rows: list[Example] = []
    for row in rng.permutation(len(corpus)):
        if len(rows) == number:
            break
        example = synthetic_neither(corpus[int(row)], people, rng)
        if example is not None:
            rows.append(example)
    if len(rows) < number:
        raise DataError(
            f"only {len(rows)} rows of {corpus.name} can be turned into NEITHER",
            expected=f"{number} ({added:.0%} of {len(corpus)})",
            remedy="Lower `added`, or use `people` that finds more names",
        )
    copies: list[Example] = []
    if number:
        neither = int((labels == Label.NEITHER).sum())
        target = neither / len(corpus) if share is None else share
        count = round((neither + number) / target) - len(corpus) - number if target > 0 else -1
        pools = [rng.permutation(np.flatnonzero(labels == label)) for label in (Label.A, Label.B)]
        most = sum(map(len, pools))
        if not 0 <= count <= most:
            low, high = ((neither + number) / (len(corpus) + number + extra) for extra in (most, 0))
            raise DataError(
                f"NEITHER cannot have the share {target:.3f} of {corpus.name} with {number} rows added",
                expected=f"a share from {low:.3f} to {high:.3f}",
                remedy="Change `share` or `added`",
            )
        first = min(max(count // 2, count - len(pools[1])), len(pools[0]))
        chosen = sorted([*pools[0][:first], *pools[1][: count - first]])
        copies = [replace(swap_names(e), id=f"{e.id}~swapped") for e in (corpus[int(row)] for row in chosen)]
    return Corpus([*corpus, *rows, *copies], label_set=corpus.label_set, name=f"{corpus.name}+neither")


def _name_words(name: str) -> set[str]:
    """Words of a name except particles, in lower case."""
    return set(re.findall(r"[\w*]+", name.lower())) - {"of", "the", "de", "van", "von"}


def _may_be_one_person(text: str, name: str, right: str) -> bool:
    """True if a word of :data:`_SAME_PERSON` links occurrences of the two names within a sentence."""
    places = [(*m.span(), 0) for m in re.finditer(re.escape(name), text)]
    places += [(*m.span(), 1) for m in re.finditer(re.escape(right), text)]
    for first, second in pairwise(sorted(places)):
        between = text[first[1] : second[0]]
        if first[2] != second[2] and not re.search(r"[.;!?] ", between) and _SAME_PERSON.search(between):
            return True
    return False


def _possessive_ending(words: str) -> str:
    return next((e for e in ("'s", "\u2019s", "'", "\u2019") if words.endswith(e)), "")


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A change of one example; ``columns`` maps its probabilities back, see :class:`Variant`."""

    change: Change
    columns: tuple[int, int, int] = _SAME_COLUMNS


AUGMENTATIONS: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "original": Augmentation(lambda example: example),
        "swap_names": Augmentation(swap_names, (1, 0, 2)),
        "swap_gender": Augmentation(swap_gender),
        "feminise": Augmentation(feminise),
        "forget_page": Augmentation(lambda example: replace(example, url=None) if example.url else None),
        **{f"anonymise_{k}": Augmentation(partial(anonymise_names, variant=k)) for k in range(4)},
    },
)
"""Augmentations for :func:`variants`, by name; they need no further data."""
AugmentationName = Annotated[str, OneOf(AUGMENTATIONS)]
