"""PPA-PCA-PPA: dimensionality reduction that removes the dominant common directions of vectors."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from gapstack.errors import MemberError
from gapstack.types import Floats


class PostProcessedPCA:
    """PPA-PCA-PPA: post-processing, principal components, post-processing (Raunak 2017).

    Post-processing (PPA; Mu and Viswanath 2018, algorithm 1) subtracts the mean and the ``removed`` first principal
    components, which reflect frequency more than meaning.

    All three steps work on the same principal components: the first removes 1 to D, the second keeps D + 1 to D + k,
    and the third removes the first D of those. So it is one projection by one decomposition.

    Parameters
    ----------
    components : int
        Most dimensions k to keep: vectors that span fewer keep fewer.
    removed : int
        D; 7 in Raunak 2017. The first D of the k output columns are 0.

    Attributes
    ----------
    mean_ : (H,) float64
    projection_ : (H, k) float64
    """

    mean_: Floats
    projection_: Floats

    def __init__(self, components: int = 256, removed: int = 7):
        self.components = components
        self.removed = removed

    def fit(self, vectors: NDArray[np.floating]) -> Self:
        """Learn mean and projection from vectors (n, H).

        Raises
        ------
        MemberError
            If nothing would be left.
        """
        from sklearn.decomposition import PCA

        most = min(len(vectors) - 1, vectors.shape[1]) - self.removed
        size = min(self.components, most)
        if not 0 <= self.removed < size:
            raise MemberError(
                f"PPA-PCA-PPA to {self.components} dimensions without {self.removed} leaves nothing of "
                f"{len(vectors)} vectors of width {vectors.shape[1]}; remove fewer or turn the reduction off"
            )
        pca = PCA(self.removed + size, svd_solver="covariance_eigh").fit(vectors.astype(np.float64))
        self.mean_ = pca.mean_
        self.projection_ = pca.components_[self.removed :].T.copy()
        self.projection_[:, : self.removed] = 0.0
        return self

    def transform(self, vectors: NDArray[np.floating]) -> Floats:
        """Give (n, k) for (n, H)."""
        return np.asarray((vectors - self.mean_) @ self.projection_)
