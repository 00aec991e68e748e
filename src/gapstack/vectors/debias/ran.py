"""RAN-Debias: repulsion, attraction, neutralization (Kumar et al. 2020, section 5).

Gradient descent moves each neutral word away from neighbours of high indirect bias, towards its original vector, and
off the gender direction. The authors' code weights neutralization by attraction's weight; here it has its own, as in
the paper's equation.
"""

from __future__ import annotations

import numpy as np
import torch

from gapstack.corpus.word_lists import Lists
from gapstack.errors import DataError
from gapstack.progress import progress
from gapstack.types import Matrix, Rows
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import indirect_bias, locate_pairs, neighbours, principal_direction

_CHUNK = 512


class RanDebias(Debiaser):
    """Repulsion, attraction and neutralization combined.

    Parameters
    ----------
    weights : tuple of three floats
        Of repulsion, attraction and neutralization.
    threshold : float
        Minimum indirect bias of a neighbour that repels.
    count : int
        Number of neighbours; fewer if the vocabulary is small.
    steps : int
        Steps of Adam.
    learning_rate : float
    """

    name = "ran"
    paper = "Kumar et al. 2020"

    def __init__(
        self,
        weights: tuple[float, float, float] = (1 / 8, 6 / 8, 1 / 8),
        threshold: float = 0.05,
        count: int = 100,
        steps: int = 300,
        learning_rate: float = 0.01,
    ):
        self.weights = weights
        self.threshold = threshold
        self.count = count
        self.steps = steps
        self.learning_rate = learning_rate

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """See :class:`Debiaser`; gendered words do not move, and the vectors have length 1."""
        if len(space) < 2:
            raise DataError(f"{space.name} has no neighbours", expected="more than one word")
        pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
        direction = principal_direction(space, pairs)
        debiased = space.unit.copy()
        rows = np.array(
            [
                row
                for row, word in enumerate(space.words)
                if word.lower() not in lists.gendered and space.unit[row].any()
            ],
            dtype=np.int64,
        )
        with progress("words", len(rows)) as ticker:
            for chunk in np.split(rows, range(_CHUNK, len(rows), _CHUNK)):
                debiased[chunk] = self._debiased(space.unit, direction, chunk)
                ticker.advance(len(chunk))
        return space.changed(debiased, f"{space.name}, RAN-Debias")

    def _debiased(self, unit: Matrix, direction: Matrix, rows: Rows) -> Matrix:
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
