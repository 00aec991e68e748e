"""Networks side by side are each a network of its own, and pool as the field's library does."""

import numpy as np
import pytest
import torch
from allennlp_light.modules.span_extractors import SelfAttentiveSpanExtractor

from gapstack.members.frozen_spans import SiameseSpans


@pytest.fixture
def network() -> SiameseSpans:
    torch.manual_seed(0)
    network = SiameseSpans(3, 6, 4, 5, 7, (0.5, 0.5, 0.5))
    for parameter in network.parameters():  # some start at zero
        torch.nn.init.normal_(parameter)
    return network.eval()


@pytest.fixture
def rows() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pieces (4, 9, 6), mentions end to end (4, 3, 2) and relations (4, 2, 4)."""
    ends = torch.tensor([[1, 2, 3], [2, 4, 9], [1, 5, 6], [3, 4, 6]])
    spans = torch.stack([torch.nn.functional.pad(ends, (1, 0))[:, :-1], ends], dim=-1)
    return torch.randn(4, 9, 6), spans, torch.randn(4, 2, 4)


def test_mentions_are_pooled_as_by_the_field_s_library(network, rows):
    pieces, spans, _ = rows
    projected = network.project(pieces.flatten(0, 1)).unflatten(0, pieces.shape[:2])
    keep = torch.arange(9) < spans[:, -1, 1:]
    found = network._pooled(projected[keep], (spans[..., 1] - spans[..., 0]).flatten())
    inclusive = torch.stack([spans[..., 0], spans[..., 1] - 1], dim=-1)
    for number in range(3):
        library = SelfAttentiveSpanExtractor(5)
        attention = library._global_attention._module
        attention.weight.data = network.attend.weight[number].T.clone()
        attention.bias.data = network.attend.bias[number, 0].clone()
        expected = library(projected[..., number, :], inclusive).flatten(0, 1)
        np.testing.assert_allclose(found[:, number].detach(), expected.detach(), atol=1e-5)
