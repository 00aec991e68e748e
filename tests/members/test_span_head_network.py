import numpy as np
import pytest
import torch

from gapstack.members.parts.running_scale import RunningScale
from gapstack.members.span_head.network import SpanHeads


def test_features_are_scaled_by_all_rows_seen_and_missing_ones_are_the_mean():
    values = torch.randn(96, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 50.0, 0.1])
    values += torch.tensor([0.0, 200.0, -3.0])
    values[::7, 1] = torch.nan
    scale = RunningScale(3).train()
    for batch in values.split(32):
        scale(batch)
    found = scale.eval()(values).numpy()
    mean, spread = np.nanmean(values.numpy(), axis=0), np.nanstd(values.numpy(), axis=0)
    expected = np.nan_to_num((values.numpy() - mean) / spread).clip(-5, 5)
    np.testing.assert_allclose(found, expected, atol=1e-2)
    assert (found[::7, 1] == 0).all()


def test_what_was_never_seen_or_never_varies_changes_nothing():
    values = torch.tensor([[4.0, torch.nan]]).expand(8, -1)
    scale = RunningScale(2).train()
    assert torch.equal(scale(values), torch.zeros(8, 2))
    assert torch.equal(scale.eval()(values), torch.zeros(8, 2))
    assert torch.equal(scale(torch.tensor([[4.5, 2.0]])), torch.tensor([[0.5, 2.0]]))


def test_asking_changes_no_scale():
    scale = RunningScale(1).eval()
    scale(torch.tensor([[9.0]]))
    assert scale.mean.item() == 0


@pytest.fixture
def inputs():
    chance = torch.Generator().manual_seed(0)
    return {
        "hidden": torch.randn(5, 6, 8, generator=chance),
        "mentions": torch.tensor([[[0, 1], [1, 3], [4, 6]]]).expand(5, -1, -1),
        "names": torch.randn(5, 2, 3, generator=chance),
        "row": torch.randn(5, 2, generator=chance),
    }


def test_heads_give_their_own_logits_in_training_and_their_mean_when_asked(inputs):
    heads = SpanHeads(8, (3, 2), seeds=3, width=4, units=4)
    assert heads.train()(**inputs).shape == (5, 3, 3)
    found = heads.eval()(**inputs)
    scaled = {
        "names": heads.names_scale(inputs["names"].flatten(0, 1)).view(5, 2, 3),
        "row": heads.row_scale(inputs["row"]),
    }
    own = [head(**inputs | scaled) for head in heads.heads]
    torch.testing.assert_close(found, sum(own) / 3)
    assert (own[0] - own[1]).abs().max() > 1e-3


@pytest.mark.parametrize("feature_units", [0, 4])
def test_either_order_exchanges_the_answers_with_the_names(inputs, feature_units):
    heads = SpanHeads(8, (3, 2), seeds=2, width=4, units=4, feature_units=feature_units, either_order=True)
    exchanged = {
        **inputs,
        "mentions": inputs["mentions"][:, [0, 2, 1]],
        "names": inputs["names"][:, [1, 0]],
    }
    torch.testing.assert_close(heads.eval()(**exchanged), heads(**inputs)[:, [1, 0, 2]])
