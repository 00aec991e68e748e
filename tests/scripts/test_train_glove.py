"""GloVe and GN-GloVe on texts whose counts and genders are known."""

import numpy as np
import pytest

from gapstack.data.sources import gap_split, stage2
from scripts import train_glove as glove

MASCULINE, FEMININE = ("he", "man", "king"), ("she", "woman", "queen")
NEUTRAL = ("tea", "bread", "rain", "stone")


@pytest.fixture(scope="module")
def gendered_pairs():
    """Sentences in which masculine and feminine words have companions of their own."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(600):
        side, own = ((MASCULINE, NEUTRAL[:2]), (FEMININE, NEUTRAL[2:]))[rng.integers(2)]
        lines.append(" ".join(rng.permutation([*rng.choice(side, 2), *own, "and"])))
    return glove.count_pairs(lines, min_count=1)


def test_pairs_are_counted_both_ways_by_the_inverse_of_their_distance_and_not_across_texts():
    vocabulary, pairs = glove.count_pairs(["A b, c a", "c"], min_count=1, window=2)
    assert set(vocabulary) == {"a", "b", "c"}
    named = {
        (vocabulary[i], vocabulary[j]): count
        for i, j, count in zip(*(p.tolist() for p in pairs), strict=True)
    }
    expected = {"ab": 1 + 1 / 2, "ac": 1 / 2 + 1, "bc": 1}
    assert named == pytest.approx(
        {(one, other): n for pair, n in expected.items() for one, other in (pair, pair[::-1])}
    )


def test_gn_glove_puts_gender_into_the_last_component_and_nowhere_else(gendered_pairs):
    vocabulary, pairs = gendered_pairs
    rows = [[vocabulary.index(word) for word in side] for side in (MASCULINE, FEMININE)]
    others = [vocabulary.index(word) for word in NEUTRAL]

    def along(vectors):
        """Share of the neutral words' first components that lies along the gender direction."""
        direction = vectors[rows[1], :-1].mean(axis=0) - vectors[rows[0], :-1].mean(axis=0)
        rest = vectors[others, :-1]
        return (
            np.abs(rest @ direction).mean() / np.linalg.norm(rest, axis=1).mean() / np.linalg.norm(direction)
        )

    plain = glove.train(len(vocabulary), pairs, dimensions=6, epochs=120)
    neutral = glove.train(len(vocabulary), pairs, *rows, dimensions=6, epochs=120)
    assert neutral[rows[0], -1].min() > 0.5
    assert neutral[rows[1], -1].max() < -0.5
    assert along(neutral) < along(plain) / 2


def test_gap_test_is_not_read_but_for_the_one_text_that_is_in_stage_2_too(gap_folder):
    found = set(glove.texts())
    shared = found & set(gap_split("test").texts)
    assert shared == set(stage2().texts) & shared
    assert len(shared) == 1
    assert set(gap_split("development").texts) <= found
