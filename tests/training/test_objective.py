import pytest
import torch

from gapstack.training import cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_soft_labels_that_sum_to_another_number_give_their_row_that_weight(smoothing):
    logits = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    target = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]])
    weights = torch.tensor([2.0, 0.25])
    weighted = cross_entropy(logits, target * weights[:, None], smoothing)
    torch.testing.assert_close(weighted, cross_entropy(logits, target, smoothing) * weights)
