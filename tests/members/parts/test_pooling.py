"""Pooling against loops in numpy."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from gapstack.members.parts.pooling import (
    first_pieces,
    inclusive,
    mean_of_pieces,
    mention_pieces,
    query_attention,
)

RANGES = torch.tensor([[[0, 1], [2, 5], [5, 7]], [[6, 7], [0, 2], [3, 4]]])


@pytest.fixture
def hidden() -> torch.Tensor:
    return torch.randn(2, 7, 6, generator=torch.Generator().manual_seed(3))


def each_mention():
    return [(row, place, *RANGES[row, place].tolist()) for row in range(2) for place in range(3)]


def test_every_mention_gets_its_own_pieces_and_no_others(hidden):
    vectors, keep = mention_pieces(hidden, RANGES)
    assert vectors.shape == (2, 3, 3, 6)
    means, firsts = mean_of_pieces(vectors, keep), first_pieces(hidden, RANGES)
    for row, place, start, end in each_mention():
        assert torch.equal(vectors[row, place][keep[row, place]], hidden[row, start:end])
        np.testing.assert_allclose(means[row, place], hidden[row, start:end].numpy().mean(0), rtol=1e-5)
        assert torch.equal(firsts[row, place], hidden[row, start])


def test_attention_weighs_pieces_by_their_likeness_to_the_query(hidden):
    vectors, keep = mention_pieces(hidden, RANGES)
    query = first_pieces(hidden, RANGES)[:, :1]
    found = query_attention(vectors, keep, query)
    other = query_attention(vectors, keep, query, scores_from=2 * vectors)
    for row, place, start, end in each_mention():
        pieces = hidden[row, start:end].numpy()
        scores = pieces @ query[row, 0].numpy() / np.sqrt(6)
        np.testing.assert_allclose(found[row, place], softmax(scores) @ pieces, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(other[row, place], softmax(2 * scores) @ pieces, rtol=1e-4, atol=1e-6)


def test_a_longer_mention_elsewhere_in_the_batch_changes_nothing(hidden):
    vectors, keep = mention_pieces(hidden, RANGES)
    alone = query_attention(*mention_pieces(hidden[:, :], RANGES[:, :1]), hidden[:, :1])
    together = query_attention(vectors, keep, hidden[:, :1])[:, :1]
    torch.testing.assert_close(alone, together)


def test_inclusive_ranges_end_on_the_last_piece():
    assert inclusive(RANGES)[0].tolist() == [[0, 0], [2, 4], [5, 6]]
