"""Which layers are read of an encoder, and the vectors of the mentions."""

import numpy as np
import pytest

from gapstack.encoding.activations import span_activations
from gapstack.encoding.encoders import load_encoder
from gapstack.members import create
from gapstack.members.parts.encoder_member import at_depth, mean_vectors


@pytest.mark.parametrize(
    ("layers", "depth", "of", "expected"),
    [
        ((20,), 24, 24, (20,)),
        ((9,), 12, 6, (4,)),
        ((21, 20, 19), 24, 24, (21, 20, 19)),
        ((21, 20, 19), 24, 6, (5,)),  # they fall together
        ((21, 22), 24, 12, (10, 11)),
    ],
)
def test_layers_are_found_as_deep_in_another_encoder(layers, depth, of, expected):
    assert at_depth(of, layers, depth) == expected


def test_a_mention_is_the_mean_of_its_pieces(sample_test, tiny_encoder):
    found = span_activations(sample_test[:9], tiny_encoder, (1, 2))
    means = mean_vectors(found)
    pieces, spans = found.padded()
    assert means.shape == (9, 3, 64)
    for row in range(9):
        for mention in range(3):
            start, end = spans[row, mention]
            np.testing.assert_allclose(means[row, mention], pieces[row, start:end].mean(0), atol=1e-5)
    assert mean_vectors(span_activations(sample_test[:0], tiny_encoder, (1, 2))).shape == (0, 3, 64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_and_quotients_have_the_precision_asked_for(dtype, sample_test, tiny_encoder):
    activations = span_activations(sample_test[:3], tiny_encoder, (1,))
    means = mean_vectors(activations, dtype)
    assert means.dtype == dtype
    count = activations.counts[0, 0]
    expected = activations.vectors[:count, 0].astype(dtype).sum(0) / dtype(count)
    np.testing.assert_allclose(means[0, 0], expected, rtol=1e-6 if dtype is np.float32 else 1e-14)


@pytest.mark.parametrize("name", ["frozen_spans", "kernel_svm", "rgcn", "bidaf"])
def test_without_a_paper_s_layer_the_default_is_two_thirds_up_and_a_setting_overrides_it(name):
    member, encoder = create(name), load_encoder()
    assert encoder.num_layers == 6
    assert member._default_or(None, encoder) == (4,)
    assert member._default_or(0, encoder) == (0,)
    assert member._default_or([5, 6], encoder) == (5, 6)
