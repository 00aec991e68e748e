"""SemBias (Zhao, Zhou, Li, Wang & Chang 2018, "Learning Gender-Neutral Word Embeddings", section 4.1).

Which of four pairs of words is most like he and she? One differs by gender by definition, one by stereotype, two not
at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gapstack.audit.embeddings.measure import Yardstick
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Matrix, Rows, Vectors
from gapstack.vectors.word_gender import MINIMUM, Coverage, he_she

KINDS = ("definition", "none", "none", "stereotype")
"""Of a question's pairs, in the order of the file."""
_SUBSET = 40  # the last questions: their definitional pairs are not among what GN-GloVe was trained with


def chosen(unit: Matrix, direction: Matrix, questions: Rows) -> Rows:
    """The pair (n,) of each of the questions, rows (n, 4, 2), whose difference is most in the direction (d,).

    Pairs are masculine word first, and ``direction`` goes from masculine to feminine. Words at one place differ in no
    direction.
    """
    difference = unit[questions[..., 1]] - unit[questions[..., 0]]  # (n, 4, d)
    length = np.linalg.norm(difference, axis=2)
    along = difference @ direction
    return np.asarray(np.argmax(np.divide(along, length, out=np.zeros_like(along), where=length > 0), axis=1))


class SemBias(Yardstick):
    """Shares of questions in percent, of all and of the subset that GN-GloVe did not see."""

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
            for question, there in zip(lists.sembias, whole, strict=True)
            if not there
        )
        self.coverage = (Coverage("SemBias questions", len(rows), missing),)
        self.coverage[0].check(original)
        self.questions = np.array(
            [row for row, there in zip(rows, whole, strict=True) if there], dtype=np.int64
        )
        subset = whole[-_SUBSET:]
        self.subset = self.questions[len(self.questions) - int(subset.sum()) :]
        self.note = f"the subset has {len(self.subset)} of its {len(subset)} questions"
        if len(self.subset) < MINIMUM * len(subset):
            self.note += ", too few to be shown"
            self.subset = self.subset[:0]

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Along the difference of she and he in the space at hand."""
        figures: dict[str, float] = {}
        for which, questions in (("sembias", self.questions), ("subset", self.subset)):
            if len(questions):
                kinds = np.array(KINDS)[chosen(space.unit, he_she(space), questions)]
                figures |= {f"{which}_{k}": 100 * float((kinds == k).mean()) for k in dict.fromkeys(KINDS)}
        return figures
