"""Debiasers of word vectors, and iterative null-space projection, which also debiases a member's features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.data.word_lists import Lists
from gapstack.encoding.static_vectors import Vectors
from gapstack.encoding.word_gender import (
    indirect_bias,
    locate,
    locate_pairs,
    most_biased,
    neighbours,
    principal_direction,
)
from gapstack.errors import DataError
from gapstack.progress import progress
from gapstack.registry import Entry, Registry
from gapstack.settings import OneOf
from gapstack.types import Matrix, Rows

_SEPARATES = 0.95  # minimum area under the ROC curve of GN-GloVe's last component
_CHUNK = 512


class Debiaser(ABC):
    """Changes the vectors of a space. Constructor arguments are settings; their defaults are the paper's."""

    @abstractmethod
    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Return the debiased space, with the same words; DataError if the space lacks words the method needs."""


class NullSpace(NamedTuple):
    """A projection (d, d), the number of directions that it removes, and the remaining accuracy on held-out rows."""

    projection: Matrix
    removed: int
    accuracy: float


def null_space(
    features: Matrix,
    labels: NDArray[np.bool_],
    *,
    iterations: int = 35,
    tolerance: float = 0.01,
    seed: int = 0,
) -> NullSpace:
    """Remove directions that linearly separate two classes, until none is left (Ravfogel et al. 2020, algorithm 1).

    ``features`` are (n, d), ``labels`` (n,) bool. Where the paper removes a fixed number of directions, iterations stop
    once a new classifier's accuracy on a held-out half of the rows is at most ``tolerance`` above the larger class's
    share.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    train, test = train_test_split(
        np.arange(len(features)), test_size=0.5, stratify=labels, random_state=seed
    )
    dimensions = features.shape[1]
    majority = max(float(labels[test].mean()), 1 - float(labels[test].mean()))
    basis = np.zeros((0, dimensions))
    projected = np.asarray(features, dtype=np.float64)
    while True:
        classifier = LinearSVC(dual=False, class_weight="balanced", random_state=seed)
        classifier.fit(projected[train], labels[train])
        # not cross-validated: once class means are equal, accuracy across folds falls below chance
        accuracy = float(classifier.score(projected[test], labels[test]))
        if accuracy <= majority + tolerance or len(basis) >= min(iterations, dimensions - 1):
            break
        # already orthogonal to the basis up to rounding, which would accumulate
        direction = classifier.coef_[0] - basis.T @ (basis @ classifier.coef_[0])
        basis = np.vstack([basis, direction / np.linalg.norm(direction)])
        projected = features - (features @ basis.T) @ basis
    return NullSpace(np.eye(dimensions) - basis.T @ basis, len(basis), accuracy)


class HardDebias(Debiaser):
    """Hard debiasing (Bolukbasi et al. 2016, section 6): neutral words lose their component along the gender direction.

    Equalized and definitional pairs differ in nothing else.
    """

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """See :class:`Debiaser`; vectors have length 1."""
        pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
        direction = principal_direction(space, pairs)
        neutral = np.array([word.lower() not in lists.gendered for word in space.words])
        debiased = space.unit.copy()
        rest = debiased[neutral] - (debiased[neutral] @ direction)[:, None] * direction
        length = np.linalg.norm(rest, axis=1, keepdims=True)
        # of a vector along the direction only rounding errors remain
        debiased[neutral] = np.divide(rest, length, out=np.zeros_like(rest), where=length > 1e-9)
        # most of these pairs are rare words, and none is necessary
        others, _ = locate_pairs(space, lists.equalize, "equalized pairs", minimum=0.0)
        used: set[int] = set()
        for one, other in np.concatenate([pairs, others]).tolist():
            # a word of two pairs is equalized with the first one, the definitional
            if one == other or {one, other} & used:
                continue
            used |= {one, other}
            middle = (space.unit[one] + space.unit[other]) / 2
            middle -= (middle @ direction) * direction
            along = np.sqrt(max(0.0, 1 - float(middle @ middle)))
            side = 1.0 if (space.unit[one] - space.unit[other]) @ direction >= 0 else -1.0
            debiased[one], debiased[other] = (middle + s * along * direction for s in (side, -side))
        return space.changed(debiased, f"{space.name}, hard debiased")


@dataclass
class GnGlove(Debiaser):
    """Drops the last ``components`` of GN-GloVe vectors (Zhao et al. 2018, section 3), trained to hold gender."""

    components: int = 1

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Drop the components; DataError if the last one does not separate masculine from feminine words."""
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
        return space.changed(space.matrix[:, : -self.components], f"{space.name}, neutral components")


@dataclass
class RanDebias(Debiaser):
    """RAN-Debias: repulsion, attraction and neutralization by gradient descent (Kumar et al. 2020, section 5).

    ``weights`` are those three's; the authors' code weights neutralization as attraction. Each word is repelled by
    those of its ``count`` nearest neighbours whose indirect bias is at least ``threshold``; ``steps`` and
    ``learning_rate`` are Adam's.
    """

    weights: tuple[float, float, float] = (1 / 8, 6 / 8, 1 / 8)
    threshold: float = 0.05
    count: int = 100
    steps: int = 300
    learning_rate: float = 0.01

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """See :class:`Debiaser`; gendered words do not change, and vectors have length 1."""
        pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
        direction = principal_direction(space, pairs)
        debiased = space.unit.copy()
        neutral = np.array([word.lower() not in lists.gendered for word in space.words])
        rows = np.flatnonzero(neutral & space.unit.any(axis=1))
        with progress("words", len(rows)) as ticker:
            for chunk in np.split(rows, range(_CHUNK, len(rows), _CHUNK)):
                debiased[chunk] = self._debiased(space.unit, direction, chunk)
                ticker.advance(len(chunk))
        return space.changed(debiased, f"{space.name}, RAN-Debias")

    def _debiased(self, unit: Matrix, direction: Matrix, rows: Rows) -> Matrix:
        import torch

        near = neighbours(unit, rows, min(self.count, len(unit) - 1))
        repel = indirect_bias(unit, direction, rows, near) >= self.threshold
        # each word's mean is over the neighbours that repel it; 0 without any
        share = torch.from_numpy(repel / np.maximum(repel.sum(axis=1, keepdims=True), 1)).float()  # (b, k)
        around = torch.from_numpy(unit[near]).float()  # (b, k, d)
        start, gender = torch.from_numpy(unit[rows]).float(), torch.from_numpy(direction).float()
        vectors = start.clone().requires_grad_()
        optimizer = torch.optim.Adam([vectors], lr=self.learning_rate)
        for _ in range(self.steps):
            at = torch.nn.functional.normalize(vectors, dim=1)
            repulsion = (torch.einsum("bd,bkd->bk", at, around).abs() * share).sum(dim=1)
            attraction = ((at * start).sum(dim=1) - 1).abs() / 2
            neutralization = (at @ gender).abs()
            terms = zip(self.weights, (repulsion, attraction, neutralization), strict=True)
            loss = torch.stack([weight * term for weight, term in terms]).sum()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return np.asarray(torch.nn.functional.normalize(vectors.detach(), dim=1).numpy(), dtype=np.float64)


@dataclass
class Inlp(Debiaser):
    """Projects all words to the null space of linear classifiers of the most biased words' gender (:func:`null_space`).

    Ravfogel et al. 2020, section 4, where there is a third class of neutral words; here the ``words`` most biased words
    of either side.
    """

    words: int = 7500
    iterations: int = 35
    tolerance: float = 0.01
    seed: int = 0

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Project the vectors of length 1; the name of the result has the number of dimensions removed."""
        biased = most_biased(space, lists, self.words)
        result = null_space(
            space.unit[biased.rows],
            biased.feminine,
            iterations=self.iterations,
            tolerance=self.tolerance,
            seed=self.seed,
        )
        return space.changed(
            space.unit @ result.projection,
            f"{space.name}, INLP ({result.removed} of {space.matrix.shape[1]} dimensions removed, "
            f"{100 * result.accuracy:.1f}% accuracy left on held-out words)",
        )


DEBIASERS: Registry[type[Debiaser]] = Registry(
    "debiaser",
    {
        "hard": Entry(HardDebias, "without the gender direction"),
        "gn_glove": Entry(GnGlove, "vectors trained with a gender component"),
        "ran": Entry(RanDebias, "repelled, attracted and neutralised"),
        "inlp": Entry(Inlp, "without what linear classifiers find gender by"),
    },
)
"""By name."""
DebiaserName = Annotated[str, OneOf(DEBIASERS)]
