"""PPA-PCA-PPA in one projection is what its three steps give one after the other."""

import numpy as np
import pytest

from gapstack.errors import MemberError
from gapstack.members.kernel_svm.reduction import PostProcessedPCA


def directions(vectors: np.ndarray) -> np.ndarray:
    """Principal directions, the strongest first, (H, H) with one in each column."""
    values, found = np.linalg.eigh(np.cov(vectors.T))
    return found[:, np.argsort(-values)]


def post_processed(vectors: np.ndarray, removed: int) -> np.ndarray:
    """Algorithm 1 of Mu and Viswanath 2018, vector by vector and direction by direction."""
    centred = vectors - vectors.mean(axis=0)
    top = directions(vectors)[:, :removed].T
    return np.array([v - sum((u @ v) * u for u in top) for v in centred])


def stepwise(vectors: np.ndarray, components: int, removed: int) -> np.ndarray:
    """Raunak 2017."""
    first = post_processed(vectors, removed)
    reduced = (first - first.mean(axis=0)) @ directions(first)[:, :components]
    return post_processed(reduced, removed)


@pytest.mark.parametrize(
    ("n", "width", "components", "removed"), [(200, 20, 10, 2), (60, 12, 8, 0), (90, 30, 9, 4)]
)
def test_one_projection_is_all_three_steps(n, width, components, removed):
    chance = np.random.default_rng(n)
    vectors = chance.normal(size=(n, width)) @ np.diag(np.linspace(5, 0.5, width)) + chance.normal(size=width)
    found = PostProcessedPCA(components, removed).fit(vectors).transform(vectors)
    expected = stepwise(vectors, components, removed)
    assert found.shape == expected.shape
    # directions have no sign of their own, so the dot products of all pairs are compared, and each column's size
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)
    assert not found[:, :removed].any()


def test_new_vectors_are_projected_as_those_learned_from():
    vectors = np.random.default_rng(0).normal(size=(50, 8))
    fitted = PostProcessedPCA(5, 1).fit(vectors)
    np.testing.assert_allclose(fitted.transform(vectors[3:5]), fitted.transform(vectors)[3:5])
    # the mean of transformed vectors is the transformed mean: so means of pieces may be taken first
    np.testing.assert_allclose(
        fitted.transform(vectors).mean(0), fitted.transform(vectors.mean(0)[None])[0], atol=1e-12
    )


def test_fewer_dimensions_are_kept_where_there_are_fewer():
    vectors = np.random.default_rng(0).normal(size=(9, 30))
    assert PostProcessedPCA(256, 2).fit(vectors).transform(vectors).shape == (9, 6)


@pytest.mark.parametrize(("components", "removed", "n"), [(7, 7, 100), (256, 7, 15), (4, -1, 100)])
def test_what_would_leave_nothing_is_refused(components, removed, n):
    with pytest.raises(
        MemberError, match=f"PPA-PCA-PPA to {components} dimensions without {removed} leaves nothing"
    ):
        PostProcessedPCA(components, removed).fit(np.random.default_rng(0).normal(size=(n, 20)))
