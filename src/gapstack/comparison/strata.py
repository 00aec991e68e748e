"""Dimensions by which results are broken down, from text, spans and URL; weights that balance the genders."""

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from gapstack.data import Corpus, Example, Gender, Label, Span
from gapstack.errors import DataError
from gapstack.features.candidate import SurfaceRow
from gapstack.language.words import Words, distinctive_tokens, shared_tokens
from gapstack.types import Bools, Floats, Ints, Strings


class Stratum(NamedTuple):
    """A dimension: its title, and its values in order."""

    title: str
    values: tuple[str, ...]


def _ranges(*ends: int) -> tuple[str, ...]:
    """Names of ranges of integers: up to the first end, between consecutive ends, above the last."""
    inner = [f"{low + 1} to {high}" for low, high in pairwise(ends)]
    return (f"up to {ends[0]}", *inner, f"over {ends[-1]}")


_NEAR, _LENGTHS, _NAMES = (4, 9, 19), (50, 75, 100), (2, 4, 6)
_NONE_ONE_BOTH = ("neither name", "one name", "both names")

STRATA: dict[str, Stratum] = {
    "gender": Stratum("gender of the pronoun", ("masculine", "feminine", "neutral")),
    "form": Stratum("form of the pronoun", ("he", "him", "his", "she", "her", "hers")),
    "position": Stratum("pronoun before, between or after the names", ("initial", "medial", "final")),
    "distance": Stratum("words between the pronoun and the nearer name", _ranges(*_NEAR)),
    "same sentence": Stratum("names in the pronoun's sentence", _NONE_ONE_BOTH[::-1]),
    "URL overlap": Stratum("names that share a word with the page's title", _NONE_ONE_BOTH[::-1]),
    "name overlap": Stratum("words that A and B share", ("distinct", "share a word")),
    "length": Stratum("words of the text", _ranges(*_LENGTHS)),
    "names": Stratum("capitalised names in the text", _ranges(*_NAMES)),
}
"""Dimensions by name."""


def distance(text: Words, left: Span, right: Span) -> int:
    """Number of words between two spans of a text, in any order; 0 if they touch or overlap."""
    first, second = sorted((text.word_index(left), text.word_index(right)), key=lambda at: at.start)
    return max(0, second.start - first.stop)


def strata(corpus: Corpus) -> dict[str, Strings]:
    """Value of every row in every dimension of :data:`STRATA`, (n,) each; "" if a row has none."""
    rows = [_values(example) for example in corpus]
    return {name: np.array([row[name] for row in rows], dtype=str) for name in STRATA}


def _values(example: Example) -> dict[str, str]:
    row, names = SurfaceRow(example), (example.a, example.b)
    words, title = row.words, row.title

    def step(value: int, ends: tuple[int, ...]) -> str:
        return _ranges(*ends)[int(np.searchsorted(ends, value))]

    near = [words.sentence_of[name.at[0]] == words.sentence_of[row.at] for name in (row.a, row.b)]
    titled = [title is not None and shared_tokens(example.words(name), title.title) > 0 for name in names]
    a, b = (set(distinctive_tokens(text)) for text in (example.a_text, example.b_text))
    return {
        "gender": example.gender.value,
        "form": example.pronoun_text.lower(),
        "position": ("initial", "medial", "final")[sum(name.start < example.pronoun.start for name in names)],
        "distance": step(min(distance(words, example.pronoun, name) for name in names), _NEAR),
        "same sentence": _NONE_ONE_BOTH[sum(near)],
        "URL overlap": "" if title is None else _NONE_ONE_BOTH[sum(titled)],
        "name overlap": "share a word" if a & b else "distinct",
        "length": step(len(words), _LENGTHS),
        "names": step(len(row.names), _NAMES),
    }


def names_and_ranks(corpus: Corpus) -> tuple[Ints, Ints]:
    """Number of names in each text, and rank of the right one by distance from 1 on (0 for NEITHER), (n,) each."""
    counts, ranks = [], []
    for example, label in zip(corpus, corpus.labels, strict=True):
        row = SurfaceRow(example)
        spans = [row.words.span(run) for run in row.names]
        others = [span for span in spans if not (span.overlaps(example.a) or span.overlaps(example.b))]
        distances = [distance(row.words, example.pronoun, span) for span in (example.a, example.b, *others)]
        counts.append(len(distances))
        ranks.append(0 if label == Label.NEITHER else 1 + sum(d < distances[label] for d in distances))
    return np.array(counts, dtype=np.int64), np.array(ranks, dtype=np.int64)


def difficulty_weights(corpus: Corpus, most: tuple[int, int] | None = None) -> Floats:
    """Weights (n,) that balance the genders in :func:`names_and_ranks`, capped at ``most``; 0 for NEITHER."""
    values = names_and_ranks(corpus)
    names, rank = np.minimum(values, np.array(most)[:, None]) if most else values
    return balancing_weights(corpus.genders, {"names": names, "rank": rank}, corpus.labels != Label.NEITHER)


def balancing_weights(genders: Strings, attributes: Mapping[str, Ints], eligible: Bools) -> Floats:
    """Weights (n,) that balance feminine and masculine rows by what makes a row hard; 0 outside of ``eligible``.

    The linear program of Kocijan, Camburu and Lukasiewicz (2020, "The Gap on GAP"): non-negative weights, 1 on average,
    with the same sum for both genders, overall and for each value of each of ``attributes`` (n,), that are otherwise as
    equal as possible: with the smallest sum of max(w_i, w_j) over all pairs of a gender. Rows with equal gender and
    attributes get equal weights, which is optimal since the objective is convex, so the variables are such cells.
    Raises DataError if there are no such weights, for example if the genders share no value of an attribute.
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import coo_matrix

    rows = np.flatnonzero(eligible & np.isin(genders, [Gender.MASCULINE.value, Gender.FEMININE.value]))
    is_feminine = genders[rows] == Gender.FEMININE.value
    keys = np.column_stack([is_feminine, *(values[rows] for values in attributes.values())]).astype(np.int64)
    if len(np.unique(is_feminine)) < 2:
        raise DataError("there are no rows of both genders to weigh", expected="some of each")
    cells, place, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    feminine, count = cells[:, 0] == 1, len(cells)
    # variables of the program: the weights of the cells, then a maximum for each pair of cells of a gender
    sides = (np.flatnonzero(feminine), np.flatnonzero(~feminine))
    pairs = np.array([p for side in sides for p in combinations(side, 2)], dtype=np.int64).reshape(-1, 2)
    # within a cell all pairs have the cell's weight for their maximum
    cost = np.concatenate([sizes * (sizes - 1) / 2, sizes[pairs[:, 0]] * sizes[pairs[:, 1]]])
    # w_c - max <= 0 and w_d - max <= 0 for each pair
    row = np.arange(2 * len(pairs))
    columns = np.concatenate([pairs.T.ravel(), count + np.tile(np.arange(len(pairs)), 2)])
    above = coo_matrix(
        (np.repeat([1.0, -1.0], len(row)), (np.tile(row, 2), columns)), shape=(len(row), len(cost))
    )
    signed = np.where(feminine, sizes, -sizes)
    equal = [sizes, signed]
    for column in cells[:, 1:].T:
        equal += [np.where(column == value, signed, 0) for value in np.unique(column)]
    solved = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        cost / max(cost.max(), 1.0),
        A_ub=above.tocsr(),
        b_ub=np.zeros(len(row)),
        A_eq=np.pad(equal, ((0, 0), (0, len(pairs)))),
        b_eq=np.array([len(rows), *np.zeros(len(equal) - 1)]),
        bounds=(0, None),
        method="highs-ipm",  # ten times as fast here as the simplex, to the same corner
    )
    if not solved.success:
        raise DataError(
            f"no weights make the genders alike ({solved.message})",
            expected="genders that share some value of every attribute",
        )
    weights = np.zeros(len(genders))
    weights[rows] = np.clip(solved.x[:count], 0, None)[place.ravel()]
    return weights
