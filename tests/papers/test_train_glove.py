"""GloVe and GN-GloVe on texts whose counts and genders are known."""

import numpy as np
import pytest

from gapstack.data.gap_data import gap_split, stage2
from gapstack.encoding.word_vectors import read_vectors
from gapstack.papers import train_glove as glove
from gapstack.papers.embedding_measures import direct_bias
from gapstack.papers.word_lists import read_lists

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


def test_spaces_are_made_once_share_their_words_and_hold_less_gender(gap_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))
    monkeypatch.setattr(glove, "texts", lambda: gap_split("development").texts)
    monkeypatch.setattr(glove, "EPOCHS", 1)
    monkeypatch.setattr(glove, "DEBIASED", {"glove_hard": ("glove", "hard")})
    monkeypatch.setattr(glove, "SPACES", ("glove", "gn_glove", "glove_hard"))
    files = glove.spaces()
    plain, hard = (read_vectors(files[name], limit=None) for name in ("glove", "glove_hard"))
    assert plain.words == hard.words
    lists = read_lists()
    assert direct_bias(plain, lists).measure(hard)["direct_bias"] < 1e-6
    before = files["glove"].stat().st_mtime_ns
    files["glove_hard"].unlink()
    assert glove.spaces() == files
    assert files["glove_hard"].is_file()
    assert files["glove"].stat().st_mtime_ns == before, "what is there is not made again"
