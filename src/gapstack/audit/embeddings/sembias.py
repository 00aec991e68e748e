"""SemBias (Zhao, Zhou, Li, Wang & Chang 2018, "Learning Gender-Neutral Word Embeddings", section 4.1).

Which of four pairs of words is most similar to he and she? One pair differs in gender by definition, one by
stereotype, two not at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.types import Matrix, Rows
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import MINIMUM, Coverage, he_she

KINDS = ("definition", "none", "none", "stereotype")
"""Kinds of a question's pairs, in the order of the file."""
_SUBSET = 40  # the last questions: their definitional pairs are not in GN-GloVe's training lists


def most_gendered_pairs(unit: Matrix, direction: Matrix, questions: Rows) -> Rows:
    """Index (n,) of the pair of each question (n, 4, 2) whose difference has the largest cosine with the direction.

    The masculine word of a pair is first, and ``direction`` (d,) goes from masculine to feminine. The cosine of two
    words with equal vectors is 0.
    """
    difference = unit[questions[..., 1]] - unit[questions[..., 0]]  # (n, 4, d)
    length = np.linalg.norm(difference, axis=2)
    along = difference @ direction
    return np.asarray(np.argmax(np.divide(along, length, out=np.zeros_like(along), where=length > 0), axis=1))


class SemBias(EmbeddingMeasure):
    """Shares in percent of the kinds of pair chosen, over all questions and over the subset unseen by GN-GloVe."""

    title = "SemBias: what is most like he and she"
    paper = "Zhao et al. 2018"
    measures = tuple(
        Measure(f"{which}_{kind}", f"{title}{kind}, %")
        for which, title in (("sembias", ""), ("subset", "subset, "))
        for kind in dict.fromkeys(KINDS)
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        he_she(original)
        rows = [
            [(original.row(one), original.row(other)) for one, other in question]
            for question in lists.sembias
        ]
        whole = np.array([all(None not in pair for pair in question) for question in rows], dtype=bool)
        missing = tuple(
            " ".join(":".join(pair) for pair in question)
            for question, complete in zip(lists.sembias, whole, strict=True)
            if not complete
        )
        self.coverage = (Coverage("SemBias questions", len(rows), missing),)
        self.coverage[0].check(original)
        self.questions = np.array(
            [row for row, complete in zip(rows, whole, strict=True) if complete], dtype=np.int64
        )
        subset = whole[-_SUBSET:]
        self.subset = self.questions[len(self.questions) - int(subset.sum()) :]
        self.note = f"the subset has {len(self.subset)} of its {len(subset)} questions"
        if len(self.subset) < MINIMUM * len(subset):
            self.note += ", too few to be shown"
            self.subset = self.subset[:0]

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`; the direction is she - he in ``space``."""
        figures: dict[str, float] = {}
        for which, questions in (("sembias", self.questions), ("subset", self.subset)):
            if len(questions):
                kinds = np.array(KINDS)[most_gendered_pairs(space.unit, he_she(space), questions)]
                figures |= {f"{which}_{k}": 100 * float((kinds == k).mean()) for k in dict.fromkeys(KINDS)}
        return figures
