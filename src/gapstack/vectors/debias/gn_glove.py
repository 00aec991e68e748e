"""GN-GloVe's neutral components (Zhao et al. 2018, "Learning Gender-Neutral Word Embeddings", section 3).

GN-GloVe is GloVe trained so that gender goes into the last component; debiasing drops that component. It applies to no
other vectors.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from gapstack.corpus.word_lists import Lists
from gapstack.errors import DataError
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import locate

_SEPARATES = 0.95


class GnGlove(Debiaser):
    """Drops the last ``components`` of GN-GloVe vectors."""

    name = "gn_glove"
    paper = "Zhao et al. 2018"

    def __init__(self, components: int = 1):
        self.components = components

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Drop the gender components.

        Raises DataError if the last component does not separate masculine from feminine words: these are no GN-GloVe
        vectors.
        """
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
                remedy="Give vectors that were trained as GN-GloVe, or leave gn_glove out",
            )
        return space.changed(space.matrix[:, : -self.components], f"{space.name}, neutral components")
