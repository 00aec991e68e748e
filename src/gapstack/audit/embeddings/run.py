"""Every measure of a space, as it is and after each debiaser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gapstack.audit.embeddings.base import Yardstick
from gapstack.audit.embeddings.clustering import Clustering
from gapstack.audit.embeddings.direct_bias import DirectBias
from gapstack.audit.embeddings.gipe import Gipe
from gapstack.audit.embeddings.recoverability import Recoverability
from gapstack.audit.embeddings.sembias import SemBias
from gapstack.audit.embeddings.weat import SingleWeat, WeatCareer, WeatMath, WeatScience
from gapstack.corpus.word_lists import Lists
from gapstack.errors import DataError
from gapstack.views.debias import DEBIASERS
from gapstack.views.static_vectors import Vectors
from gapstack.views.word_gender import Coverage

ORIGINAL = "as given"
"""What the space without debiasing is called."""

YARDSTICKS: dict[str, type[Yardstick]] = {
    "direct_bias": DirectBias,
    "weat6": WeatCareer,
    "weat7": WeatMath,
    "weat8": WeatScience,
    "single_weat": SingleWeat,
    "clustering": Clustering,
    "recoverability": Recoverability,
    "gipe": Gipe,
    "sembias": SemBias,
}
"""By name, in the order of the report."""


@dataclass(frozen=True)
class EmbeddingAudit:
    """What was found.

    Attributes
    ----------
    name : str
        Of the space.
    words, dimensions : int
        Its size.
    seed : int
        Of everything that was drawn.
    spaces : dict of str to str
        What each column is, by its heading.
    figures : mapping of str to mapping
        Figures by space and measure's key.
    yardsticks : dict of str to Yardstick
        Those that the vocabulary allowed; with their coverage.
    refused : dict of str to str
        Why the others did not.
    """

    name: str
    words: int
    dimensions: int
    seed: int
    spaces: Mapping[str, str]
    figures: Mapping[str, Mapping[str, float]]
    yardsticks: Mapping[str, Yardstick]
    refused: Mapping[str, str]

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """Of all lists that were used, each once."""
        return tuple(
            dict.fromkeys(found for yardstick in self.yardsticks.values() for found in yardstick.coverage)
        )


def audit_embeddings(
    vectors: Vectors,
    lists: Lists,
    debiasers: Sequence[str] = (),
    *,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> EmbeddingAudit:
    """Measure a space as it is and after each debiaser.

    Parameters
    ----------
    vectors : Vectors
    lists : Lists
    debiasers : sequence of str
        Keys of :data:`~gapstack.views.debias.DEBIASERS`; each works on the space as it was given.
    seed : int
        Of partitions, clusters and splits.

    Raises
    ------
    UnknownNameError
        If there is no debiaser of a name.
    DataError
        If a debiaser cannot work on the space, or the vocabulary covers too little for every measure.
    """
    chosen = {name: DEBIASERS[name] for name in debiasers}
    ready: dict[str, Yardstick] = {}
    refused: dict[str, str] = {}
    for name, kind in YARDSTICKS.items():
        try:
            ready[name] = kind(vectors, lists, seed)
        except DataError as problem:
            refused[name] = str(problem)
    if not ready:
        raise DataError(f"nothing can be measured. {'. '.join(refused.values())}")
    spaces: dict[str, str] = {}
    figures: dict[str, dict[str, float]] = {}
    for heading in (ORIGINAL, *dict.fromkeys(debiasers)):
        say(heading)
        space = vectors if heading == ORIGINAL else chosen[heading]().apply(vectors, lists)
        spaces[heading] = space.name
        figures[heading] = {}
        for yardstick in ready.values():
            figures[heading] |= yardstick.measure(space)
    return EmbeddingAudit(
        vectors.name, len(vectors), vectors.matrix.shape[1], seed, spaces, figures, ready, refused
    )
