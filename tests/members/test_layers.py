"""Parallel layers equal single layers, and a batch of one row works."""

import numpy as np
import torch

from gapstack.members.layers import BatchNorm


def test_a_lone_training_row_is_normalised_by_what_was_seen_before():
    norm = BatchNorm(4)
    norm(3 + 2 * torch.randn(50, 4))
    row = torch.randn(1, 4)
    seen = norm.running_mean.clone()
    learning = norm(row)
    np.testing.assert_array_equal(norm.running_mean, seen)
    np.testing.assert_allclose(learning.detach(), norm.eval()(row).detach(), atol=1e-6)
