import pytest
import torch

from gapstack.training import seeded
from gapstack.training.devices import QuickDropout

SHAPES = ((), (1,), (3,), (64, 999), (0, 5))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_elements_are_zero_or_scaled_up_and_gradients_likewise(shape, dtype):
    given = torch.full(shape, 2.0, dtype=dtype, requires_grad=True)
    found = QuickDropout(0.25)(given)
    assert found.shape == given.shape
    assert found.dtype == dtype
    scaled = torch.tensor(2 / 0.75, dtype=dtype)
    assert torch.all((found == 0) | torch.isclose(found, scaled, rtol=0.01))
    found.sum().backward()
    torch.testing.assert_close(given.grad * 2, found)


@pytest.mark.parametrize(
    ("p", "training", "expected"), [(0.0, True, 1.0), (1.0, True, 0.0), (0.5, False, 1.0)]
)
def test_at_the_ends_and_in_evaluation_nothing_is_left_to_chance(p, training, expected):
    assert torch.equal(QuickDropout(p).train(training)(torch.ones(50)), torch.full((50,), expected))


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9])
def test_elements_are_dropped_independently_at_the_rate(p):
    with seeded(1):
        dropped = (QuickDropout(p)(torch.ones(200_000, 4)) == 0).double()
    assert dropped.mean().item() == pytest.approx(p, abs=4 * (p * (1 - p) / dropped.numel()) ** 0.5)
    torch.testing.assert_close(
        torch.corrcoef(dropped.T), torch.eye(4, dtype=torch.float64), rtol=0, atol=0.01
    )
