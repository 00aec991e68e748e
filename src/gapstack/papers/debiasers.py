"""Gender in word vectors: coverage of word lists, gender directions, the most biased words, and debiasers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.encoding.null_space import null_space
from gapstack.encoding.word_vectors import Vectors
from gapstack.errors import DataError
from gapstack.papers.word_lists import Lists
from gapstack.progress import progress
from gapstack.registry import Entry, Registry
from gapstack.types import Matrix, Rows

_SEPARATES = 0.95  # minimum area under the ROC curve of GN-GloVe's last component
MINIMUM = 0.5  # minimum share of a list that a vocabulary must cover
FEWEST = 50  # minimum number of most biased words on either side


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of a word list by a vocabulary: ``size`` entries, of which ``missing`` are not in the vocabulary."""

    name: str
    size: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the entries that are covered, between 0 and 1."""
        return 1 - len(self.missing) / self.size if self.size else 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.size - len(self.missing):,} of {self.size:,} ({100 * self.share:.0f}%)"

    def check(self, space: Vectors, minimum: float = MINIMUM) -> None:
        """Raise DataError if the coverage is below ``minimum``."""
        if self.share < minimum:
            raise DataError(
                f"{space.name} covers too little of {self}",
                expected=f"at least {100 * minimum:.0f}%",
                remedy=f"It lacks {', '.join(self.missing[:8])}" + (", ..." if len(self.missing) > 8 else ""),
            )


def locate(
    space: Vectors, words: Sequence[str], name: str, minimum: float = MINIMUM
) -> tuple[Rows, Coverage]:
    """Rows (n,) of the words in the space, and the coverage; DataError if that is below ``minimum``."""
    rows = {word: space.row(word) for word in words}
    coverage = Coverage(name, len(rows), tuple(word for word, row in rows.items() if row is None))
    coverage.check(space, minimum)
    return np.array(list(dict.fromkeys(row for row in rows.values() if row is not None)), np.int64), coverage


def locate_pairs(
    space: Vectors, pairs: Sequence[tuple[str, str]], name: str, minimum: float = MINIMUM
) -> tuple[Rows, Coverage]:
    """Rows (n, 2) of the pairs with both words in the space, and their coverage; DataError if that is too low."""
    rows = [(space.row(first), space.row(second)) for first, second in pairs]
    missing = tuple(":".join(pair) for pair, located in zip(pairs, rows, strict=True) if None in located)
    coverage = Coverage(name, len(pairs), missing)
    coverage.check(space, minimum)
    whole = list(dict.fromkeys(pair for pair in rows if None not in pair))
    return np.array(whole, dtype=np.int64).reshape(-1, 2), coverage


def neutral_rows(space: Vectors, lists: Lists, fewest: int = 0) -> Rows:
    """Rows (n,) of neutral words: lower-case letters, not on a gendered list; DataError if under ``fewest``."""
    rows = np.flatnonzero(
        [w.isalpha() and w.islower() and len(w) < 20 and w not in lists.gendered for w in space.words]
    )
    if len(rows) < fewest:
        raise DataError(
            f"{space.name} has {len(rows):,} neutral words ({100 * len(rows) / fewest:.0f}% of what is needed)",
            expected=f"at least {fewest:,}",
            remedy="Use a larger vocabulary",
        )
    return rows


def principal_direction(space: Vectors, pairs: Rows) -> Matrix:
    """The gender direction, (d,) of length 1, from masculine to feminine (Bolukbasi et al. 2016, section 5.1)."""
    halves = (space.unit[pairs[:, 0]] - space.unit[pairs[:, 1]]) / 2
    # the principal components of halves and -halves, whose mean is 0, are those of the halves uncentred
    _, values, components = np.linalg.svd(halves, full_matrices=False)
    if not len(values) or values[0] < np.finfo(np.float64).eps:
        raise DataError(
            f"{space.name} has no gender direction, since its definitional pairs do not differ",
            remedy="Use vectors that contain gender",
        )
    sign = 1.0 if (halves @ components[0]).sum() >= 0 else -1.0
    return np.asarray(components[0] * sign)


def he_she(space: Vectors) -> Matrix:
    """The direction she - he, (d,) of length 1; DataError if one of them is missing or they are equal."""
    rows, _ = locate(space, ("she", "he"), "the pronouns she and he", minimum=1.0)
    difference = space.unit[rows[0]] - space.unit[rows[1]]
    length = np.linalg.norm(difference)
    if length == 0:
        raise DataError(
            f"{space.name} has equal vectors for she and he, so no direction between them",
            remedy="Use vectors that contain gender",
        )
    return np.asarray(difference / length)


def indirect_bias(unit: Matrix, direction: Matrix, rows: Rows, others: Rows) -> Matrix:
    """Share of the similarity of unit vectors due to gender, (n, k) (Bolukbasi et al. 2016, section 5.2)."""
    # (n, k), from (n, 1, d) and (n, d, k)
    similar = np.matmul(unit[rows][:, None], unit[others].transpose(0, 2, 1))[:, 0]
    along = unit @ direction
    across = np.sqrt(np.clip(1 - along**2, 0, None))
    scale = across[rows][:, None] * across[others]
    without = np.divide(
        similar - along[rows][:, None] * along[others], scale, out=np.zeros_like(similar), where=scale > 0
    )
    return np.asarray(np.divide(similar - without, similar, out=np.zeros_like(similar), where=similar != 0))


def neighbours(unit: Matrix, rows: Rows, count: int) -> Rows:
    """Rows of the ``count`` nearest vectors by angle to each of ``rows``, except itself, (n, count)."""
    similar = unit[rows] @ unit.T
    similar[np.arange(len(rows)), rows] = -np.inf
    return np.asarray(np.argpartition(-similar, count - 1, axis=1)[:, :count])


class Biased(NamedTuple):
    """Rows (2n,) of neutral words, most biased first, and a mask (2n,) of those on the feminine side."""

    rows: Rows
    feminine: NDArray[np.bool_]
    note: str


def most_biased(space: Vectors, lists: Lists, count: int) -> Biased:
    """Neutral words with the ``count`` largest projections on she - he to either side, at most a quarter each."""
    neutral = neutral_rows(space, lists, 4 * FEWEST)
    size = min(count, len(neutral) // 4)
    order = neutral[np.argsort(space.unit[neutral] @ he_she(space), kind="stable")]
    sides = np.stack([order[::-1][:size], order[:size]], axis=1)  # feminine, masculine
    note = f"{size:,} words of either side" + (
        f" (the papers take {count:,}; there are {len(neutral):,} neutral words)" if size < count else ""
    )
    return Biased(sides.reshape(-1), np.tile([True, False], size), note)


def hard_debias(space: Vectors, lists: Lists) -> Vectors:
    """Remove the gender component of neutral words, and equalize pairs (Bolukbasi et al. 2016); unit vectors."""
    pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
    direction = principal_direction(space, pairs)
    neutral = np.array([word.lower() not in lists.gendered for word in space.words])
    debiased = space.unit.copy()
    rest = debiased[neutral] - (debiased[neutral] @ direction)[:, None] * direction
    length = np.linalg.norm(rest, axis=1, keepdims=True)
    # a vector along the direction leaves only rounding errors
    debiased[neutral] = np.divide(rest, length, out=np.zeros_like(rest), where=length > 1e-9)
    # most of these pairs are rare words, and none is necessary
    others, _ = locate_pairs(space, lists.equalize, "equalized pairs", minimum=0.0)
    used: set[int] = set()
    for first, second in np.concatenate([pairs, others]).tolist():
        # a word of two pairs is equalized in the first, the definitional one
        if first == second or {first, second} & used:
            continue
        used |= {first, second}
        middle = (space.unit[first] + space.unit[second]) / 2
        middle -= (middle @ direction) * direction
        along = np.sqrt(max(0.0, 1 - float(middle @ middle)))
        side = 1.0 if (space.unit[first] - space.unit[second]) @ direction >= 0 else -1.0
        debiased[first], debiased[second] = (middle + s * along * direction for s in (side, -side))
    return space.changed(debiased, f"{space.name}, hard debiased")


def gn_glove(space: Vectors, lists: Lists) -> Vectors:
    """Drop the last component of GN-GloVe vectors, which is trained to contain gender (Zhao et al. 2018, section 3).

    Raises DataError if it does not separate masculine from feminine words.
    """
    from sklearn.metrics import roc_auc_score

    # GN-GloVe's lists have many rare words, so low coverage is enough
    masculine, _ = locate(space, lists.masculine, "GN-GloVe's masculine words", minimum=0.1)
    feminine, _ = locate(space, lists.feminine, "GN-GloVe's feminine words", minimum=0.1)
    last = space.matrix[np.concatenate([masculine, feminine]), -1]
    area = float(roc_auc_score(np.arange(len(last)) < len(masculine), last))
    if max(area, 1 - area) < _SEPARATES:
        raise DataError(
            f"{space.name} is not GN-GloVe: its last component separates masculine from feminine words with an "
            f"area under the ROC curve of {max(area, 1 - area):.2f}",
            expected=f"at least {_SEPARATES}",
            remedy="Use vectors trained as GN-GloVe, or leave gn_glove out",
        )
    return space.changed(space.matrix[:, :-1], f"{space.name}, neutral components")


_WEIGHTS = (1 / 8, 6 / 8, 1 / 8)  # weights of repulsion, attraction and neutralization in RAN-Debias
_REPELS = 0.05  # minimum indirect bias of a neighbour that repels a word


def ran_debias(space: Vectors, lists: Lists, *, count: int = 100, steps: int = 300) -> Vectors:
    """RAN-Debias: repulsion, attraction and neutralization by gradient descent (Kumar et al. 2020, section 5).

    Each word is repelled by those of its ``count`` nearest neighbours whose indirect bias is large. Gendered words do
    not change, and vectors have length 1.
    """
    pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
    direction = principal_direction(space, pairs)
    debiased = space.unit.copy()
    neutral = np.array([word.lower() not in lists.gendered for word in space.words])
    rows = np.flatnonzero(neutral & space.unit.any(axis=1))
    with progress("words", len(rows)) as ticker:
        for chunk in np.split(rows, range(512, len(rows), 512)):
            debiased[chunk] = _repelled(space.unit, direction, chunk, count, steps)
            ticker.advance(len(chunk))
    return space.changed(debiased, f"{space.name}, RAN-Debias")


def _repelled(unit: Matrix, direction: Matrix, rows: Rows, count: int, steps: int) -> Matrix:
    import torch

    near = neighbours(unit, rows, min(count, len(unit) - 1))
    repel = indirect_bias(unit, direction, rows, near) >= _REPELS
    # each word's mean is over the neighbours that repel it; 0 without any
    share = torch.from_numpy(repel / np.maximum(repel.sum(axis=1, keepdims=True), 1)).float()  # (b, k)
    around = torch.from_numpy(unit[near]).float()  # (b, k, d)
    start, gender = torch.from_numpy(unit[rows]).float(), torch.from_numpy(direction).float()
    vectors = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([vectors], lr=0.01)
    for _ in range(steps):
        at = torch.nn.functional.normalize(vectors, dim=1)
        repulsion = (torch.einsum("bd,bkd->bk", at, around).abs() * share).sum(dim=1)
        attraction = ((at * start).sum(dim=1) - 1).abs() / 2
        neutralization = (at @ gender).abs()
        terms = zip(_WEIGHTS, (repulsion, attraction, neutralization), strict=True)
        loss = torch.stack([weight * term for weight, term in terms]).sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return np.asarray(torch.nn.functional.normalize(vectors.detach(), dim=1).numpy(), dtype=np.float64)


def inlp(space: Vectors, lists: Lists, *, words: int = 7500) -> Vectors:
    """Project to the null space of classifiers of the ``words`` most biased words (Ravfogel et al. 2020)."""
    biased = most_biased(space, lists, words)
    result = null_space(space.unit[biased.rows], biased.feminine)
    return space.changed(
        space.unit @ result.projection,
        f"{space.name}, INLP ({result.removed} of {space.matrix.shape[1]} dimensions removed, "
        f"{100 * result.accuracy:.1f}% accuracy left on held-out words)",
    )


Debiaser = Callable[[Vectors, Lists], Vectors]
"""Returns the debiased space, with the same words; DataError if the space lacks words that the method needs."""
DEBIASERS: Registry[Debiaser] = Registry(
    "debiaser",
    {
        "hard": Entry(hard_debias, "without the gender direction"),
        "gn_glove": Entry(gn_glove, "vectors trained with a gender component"),
        "ran": Entry(ran_debias, "repelled, attracted and neutralised"),
        "inlp": Entry(inlp, "without the directions by which linear classifiers find gender"),
    },
)
"""Debiasers by name."""
