"""Rows whose answer is made NEITHER, without a shift of the label prior.

Bao & Qiao took rows whose pronoun is A or B, put another person of the text in the place of that name, and
added them as NEITHER. Their logloss got worse, since the answer they added became too frequent. Here
the added rows come with copies of A and B rows (roles exchanged), so many that the share of NEITHER stays.
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
"""Finds the person names of a text."""

_CAPITALISED = re.compile(r"[^\W\d_][\w*'\u2019-]*")
_BETWEEN_NAMES = re.compile(r" (?:[A-Z]\. )*")
# Between two names of one person: "Samuel Clemens, known as Mark Twain"; or of an actor and the part.
_SAME_PERSON = re.compile(
    r"\b(as|alias|aka|a\.k\.a|née|nee|born|called|named|nicknamed|pseudonym|stage|real|is|was|became)\b|=|\("
)


def people_by_first_name(names: FirstNames) -> People:
    """Make a finder of names: a first name of the pronoun's gender and one more capitalised word.

    Initials may stand between the two. Longer and shorter runs of capitalised words are passed over, for too
    many of them are places and institutions ("Virginia", "Santa Fe Opera"). No parser and few mistakes, at
    the price of missing most names: a parser's person entities find more.
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
    """Put another person of the text in the place of the name that the pronoun means; None if there is nobody.

    The new name is honest only as far as it is known not to be the same person: it shares no word with A, B or
    the pronoun, and it nowhere stands in one sentence with the right name and an "as", "born", "called", "was",
    bracket or the like between them. Nothing in the text is changed: the row asks about another pair of names.
    A stands before B.

    Parameters
    ----------
    people : callable
        Gives the spans of person names, best of the pronoun's gender: :func:`people_by_first_name`, or a
        parser's.
    rng : numpy Generator
        Chooses among the people.

    Returns
    -------
    Example or None
        With label NEITHER and ``~neither`` after its id; None for a row without label or already NEITHER.
    """
    if example.label not in (Label.A, Label.B):
        return None
    right, other = (example.a, example.b) if example.label == Label.A else (example.b, example.a)
    known = _parts(example.words(right)) | _parts(example.words(other))
    strangers = [
        span
        for span in sorted(set(people(example)))
        if not _parts(example.words(span)) & known
        and not any(span.overlaps(taken) for taken in (example.pronoun, right, other))
        and not _may_be_one_person(example, span, example.words(right))
    ]
    if not strangers:
        return None
    chosen = strangers[int(rng.integers(len(strangers)))]
    a, b = sorted((chosen, other))
    return replace(example, id=f"{example.id}~neither", a=a, b=b, label=Label.NEITHER)


def with_synthetic_neither(
    corpus: Corpus, people: People, *, added: float = 0.05, share: float | None = None, seed: int = 0
) -> Corpus:
    """Add synthetic NEITHER rows, and copies of A and B rows with exchanged roles that keep the prior.

    Parameters
    ----------
    corpus : Corpus
        Labelled.
    added : float
        Synthetic rows to add, as a fraction of the corpus.
    share : float, optional
        Share of NEITHER in the result; by default the corpus's own. The copies (``~swapped`` after their id)
        are as many as this needs, and A and B are equally frequent among them, or as near as the rows allow.

    Returns
    -------
    Corpus
        The rows of ``corpus``, then the synthetic ones, then the copies.

    Raises
    ------
    DataError
        If a row has no label, the corpus has not enough rows to make them from, or the share cannot be met.
    """
    labels = corpus.labels
    rng = np.random.default_rng(seed)
    wanted = round(added * len(corpus))
    rows: list[Example] = []
    for row in rng.permutation(len(corpus)):
        if len(rows) == wanted:
            break
        made = synthetic_neither(corpus[int(row)], people, rng)
        if made is not None:
            rows.append(made)
    if len(rows) < wanted:
        raise DataError(
            f"only {len(rows)} rows of {corpus.name} can be turned into NEITHER",
            expected=f"{wanted} ({added:.0%} of {len(corpus)})",
            remedy="Lower `added`, or give a finder that knows more names",
        )
    neither = int((labels == Label.NEITHER).sum())
    target = neither / len(corpus) if share is None else share
    copies = _copies(corpus, labels, wanted, neither, target, rng) if wanted else []
    return Corpus([*corpus, *rows, *copies], label_set=corpus.label_set, name=f"{corpus.name}+neither")


def _copies(
    corpus: Corpus,
    labels: np.ndarray,
    wanted: int,
    neither: int,
    target: float,
    rng: np.random.Generator,
) -> list[Example]:
    """Copies of A and B rows, so many that NEITHER has the share ``target`` of all."""
    count = round((neither + wanted) / target) - len(corpus) - wanted if target > 0 else -1
    pools = [rng.permutation(np.flatnonzero(labels == label)) for label in (Label.A, Label.B)]
    most = sum(map(len, pools))
    if not 0 <= count <= most:
        reach = [(neither + wanted) / (len(corpus) + wanted + extra) for extra in (most, 0)]
        raise DataError(
            f"NEITHER cannot have the share {target:.3f} of {corpus.name} with {wanted} rows added",
            expected=f"a share from {reach[0]:.3f} to {reach[1]:.3f}",
            remedy="Give another `share` or `added`",
        )
    first = min(max(count // 2, count - len(pools[1])), len(pools[0]))
    chosen = [*pools[0][:first], *pools[1][: count - first]]
    return [
        replace(swap_names(e), id=f"{e.id}~swapped") for e in (corpus[int(row)] for row in sorted(chosen))
    ]


def _parts(name: str) -> set[str]:
    """The words of a name that can be shared with another name of the same person, lower case."""
    return {
        word for word in re.findall(r"[\w*]+", name.lower()) if word not in {"of", "the", "de", "van", "von"}
    }


def _may_be_one_person(example: Example, span: Span, right: str) -> bool:
    """Whether some occurrence of the right name is tied to some occurrence of the other by such a word."""
    text, name = example.text, example.words(span)
    places = [(m.start(), m.end(), 0) for m in re.finditer(re.escape(name), text)]
    places += [(m.start(), m.end(), 1) for m in re.finditer(re.escape(right), text)]
    for left, later in pairwise(sorted(places)):
        between = text[left[1] : later[0]]
        if left[2] != later[2] and not re.search(r"[.;!?] ", between) and _SAME_PERSON.search(between):
            return True
    return False


def _without_possessive(text: str, span: Span) -> Span:
    for ending in ("'s", "\u2019s", "'", "\u2019"):
        if text[span.start : span.end].endswith(ending):
            return Span(span.start, span.end - len(ending))
    return span
