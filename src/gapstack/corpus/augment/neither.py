"""Synthetic NEITHER rows that do not shift the label prior.

Bao & Qiao took rows whose pronoun is A or B, replaced that name by another person of the text, and added them as
NEITHER. Their logloss got worse, since NEITHER became too frequent. Here copies of A and B rows, with roles exchanged,
are added too, so that the share of NEITHER stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gapstack.corpus.augment.gender import FirstNames
from gapstack.corpus.augment.roles import swap_names
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Label, Span
from gapstack.errors import DataError

People = Callable[[Example], Iterable[Span]]
"""Gives the spans of the person names of a text."""

_CAPITALISED = re.compile(r"[^\W\d_][\w*'\u2019-]*")
_BETWEEN_NAMES = re.compile(r" (?:[A-Z]\. )*")
# Between two names of one person, "Samuel Clemens, known as Mark Twain", or of an actor and the role.
_SAME_PERSON = re.compile(
    r"\b(as|alias|aka|a\.k\.a|née|nee|born|called|named|nicknamed|pseudonym|stage|real|is|was|became)\b|=|\("
)


def people_by_first_name(names: FirstNames) -> People:
    """Make a :data:`People` function for names of a first name, of the pronoun's gender, and one capitalised word.

    Initials may stand between the two. Longer and shorter runs of capitalised words are ignored, since many are places
    and institutions ("Virginia", "Santa Fe Opera"). No parser and high precision, but low recall: a parser's person
    entities find more.
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
        people = [
            run for run in runs if len(run) == 2 and names.genders.get(text[slice(*run[0])]) == example.gender
        ]
        return [_without_possessive(text, Span(run[0][0], run[1][1])) for run in people]

    return find


def synthetic_neither(example: Example, people: People, rng: np.random.Generator) -> Example | None:
    """Replace the right name by another person of the text, so that the answer is NEITHER; None if there is none.

    To be a different person, the new name must share no word with A or B, overlap no mention, and occur nowhere in
    one sentence with the right name and an "as", "born", "called", "was", bracket or the like between them. The text
    stays the same. A stands before B.

    Parameters
    ----------
    people : callable
        Gives the spans of person names, preferably of the pronoun's gender: :func:`people_by_first_name`, or a parser.
    rng : numpy Generator
        Chooses among the people.

    Returns
    -------
    Example or None
        With label NEITHER and ``~neither`` after its id; None for a row without label or with label NEITHER.
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
        and not _may_be_one_person(example, span, example.words(right))
    ]
    if not candidates:
        return None
    a, b = sorted((candidates[int(rng.integers(len(candidates)))], other))
    return replace(example, id=f"{example.id}~neither", a=a, b=b, label=Label.NEITHER)


def with_synthetic_neither(
    corpus: Corpus, people: People, *, added: float = 0.05, share: float | None = None, seed: int = 0
) -> Corpus:
    """Add synthetic NEITHER rows, and copies of A and B rows with exchanged roles to keep the prior.

    Raises DataError if a row has no label, too few rows can be made, or the share cannot be met.

    Parameters
    ----------
    corpus : Corpus
        Labelled.
    added : float
        Number of synthetic rows, as a fraction of the corpus.
    share : float, optional
        Share of NEITHER in the result; by default that of the corpus. It determines the number of copies
        (``~swapped`` after their id), among which A and B are as equally frequent as the rows allow.

    Returns
    -------
    Corpus
        The rows of ``corpus``, then the synthetic ones, then the copies.
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
            remedy="Lower `added`, or give `people` that finds more names",
        )
    neither = int((labels == Label.NEITHER).sum())
    target = neither / len(corpus) if share is None else share
    copies = _copies(corpus, labels, number, neither, target, rng) if number else []
    return Corpus([*corpus, *rows, *copies], label_set=corpus.label_set, name=f"{corpus.name}+neither")


def _copies(
    corpus: Corpus,
    labels: np.ndarray,
    number: int,
    neither: int,
    target: float,
    rng: np.random.Generator,
) -> list[Example]:
    """Copies of A and B rows, so many that NEITHER has the share ``target`` of all rows."""
    count = round((neither + number) / target) - len(corpus) - number if target > 0 else -1
    pools = [rng.permutation(np.flatnonzero(labels == label)) for label in (Label.A, Label.B)]
    most = sum(map(len, pools))
    if not 0 <= count <= most:
        bounds = [(neither + number) / (len(corpus) + number + extra) for extra in (most, 0)]
        raise DataError(
            f"NEITHER cannot have the share {target:.3f} of {corpus.name} with {number} rows added",
            expected=f"a share from {bounds[0]:.3f} to {bounds[1]:.3f}",
            remedy="Give another `share` or `added`",
        )
    first = min(max(count // 2, count - len(pools[1])), len(pools[0]))
    rows = [*pools[0][:first], *pools[1][: count - first]]
    return [replace(swap_names(e), id=f"{e.id}~swapped") for e in (corpus[int(row)] for row in sorted(rows))]


def _name_words(name: str) -> set[str]:
    """Words of a name except particles, in lower case."""
    return {
        word for word in re.findall(r"[\w*]+", name.lower()) if word not in {"of", "the", "de", "van", "von"}
    }


def _may_be_one_person(example: Example, span: Span, right: str) -> bool:
    """Whether a word of :data:`_SAME_PERSON` links occurrences of the two names within a sentence."""
    text, name = example.text, example.words(span)
    occurrences = [(m.start(), m.end(), 0) for m in re.finditer(re.escape(name), text)]
    occurrences += [(m.start(), m.end(), 1) for m in re.finditer(re.escape(right), text)]
    for first, second in pairwise(sorted(occurrences)):
        between = text[first[1] : second[0]]
        if first[2] != second[2] and not re.search(r"[.;!?] ", between) and _SAME_PERSON.search(between):
            return True
    return False


def _without_possessive(text: str, span: Span) -> Span:
    for ending in ("'s", "\u2019s", "'", "\u2019"):
        if text[span.start : span.end].endswith(ending):
            return Span(span.start, span.end - len(ending))
    return span
