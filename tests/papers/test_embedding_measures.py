"""The measures against their formulas written out word by word, and against planted answers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.encoding.word_vectors import read_vectors
from gapstack.errors import DataError
from gapstack.papers.associations import partition_test, weat
from gapstack.papers.embedding_measures import (
    clustering,
    most_gendered_pairs,
    recoverability,
    single_weat_test,
    weat_test,
)
from gapstack.papers.word_lists import read_lists
from tests.planted_spaces import LISTS, planted


def units(count, dimensions, seed):
    found = np.random.default_rng(seed).normal(size=(count, dimensions))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


@settings(max_examples=10)
@given(st.integers(2, 4), st.integers(2, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 1000))
def test_statistic_effect_and_exact_p_are_those_of_the_formulas(nx, ny, na, nb, seed):
    x, y, a, b = np.split(units(nx + ny + na + nb, 5, seed), np.cumsum([nx, ny, na]))

    def s(w):
        return np.mean([cosine(w, v) for v in a]) - np.mean([cosine(w, v) for v in b])

    scores = [s(w) for w in (*x, *y)]
    statistic = np.mean(scores[:nx]) - np.mean(scores[nx:])
    beyond = [
        np.mean([scores[i] for i in part]) - np.mean([scores[i] for i in range(nx + ny) if i not in part])
        >= statistic - 1e-12
        for part in combinations(range(nx + ny), nx)
    ]
    found = weat(x, y, a, b)
    assert found.exact
    assert found[:3] == pytest.approx((statistic, statistic / np.std(scores, ddof=1), np.mean(beyond)))


def test_single_weat_compares_the_adjectives_with_each_pair_of_attributes():
    space, _ = planted()
    matrix = space.matrix.copy()
    matrix[[space.row(word) for word in ("aae", "aaf")]] = matrix[space.row("she")]
    found = single_weat_test(space, LISTS).measure(space.changed(matrix, "feminine adjectives"))
    assert set(found) == {"latent", "latent_p", "definitional", "definitional_p"}
    she, he = (space.unit[space.row(word)] for word in ("she", "he"))
    assert found["definitional"] == pytest.approx(1 - she @ he)
    assert found["definitional_p"] == 1 / 2


def test_no_p_value_is_0_and_targets_that_are_alike_have_no_effect():
    assert 0 < partition_test(np.ones(9), np.zeros(9), most_exact=1, samples=1000).p < 0.01
    assert partition_test(np.ones(3), np.zeros(3)).p == pytest.approx(1 / 20)
    assert partition_test(np.ones(3), np.ones(3))[:3] == (0, 0, 1)
    with pytest.raises(DataError, match="empty"):
        partition_test(np.ones(3), np.ones(0))


def test_word2vec_has_the_effects_that_caliskan_et_al_found(gap_folder):
    """Their table 1, to its two decimals."""
    lists = read_lists()
    space = read_vectors(gap_folder / "vectors/w2v_gnews_weat348.txt", keep=lists.every_word)
    expected = {"1": 1.54, "2": 1.63, "6": 1.89, "7": 0.97, "8": 1.24, "9": 1.30}
    for number, effect in expected.items():
        found = weat_test(number, "", space, lists).measure(space)
        assert round(found[f"weat{number}_effect"], 2) == effect


def test_two_groups_far_apart_are_found():
    space, _ = planted(strength=9)
    assert clustering(space, LISTS).measure(space)["kmeans"] == pytest.approx(100)
    assert set(recoverability(space, LISTS).measure(space).values()) == {100}


def test_the_pair_that_differs_most_like_he_and_she_is_chosen():
    unit = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]], dtype=float)
    questions = np.array([[[0, 1], [2, 3], [1, 0], [4, 2]], [[0, 1], [3, 4], [0, 4], [3, 3]]])
    assert most_gendered_pairs(unit, np.eye(3)[0], questions).tolist() == [2, 1]
