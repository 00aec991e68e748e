"""Interactions against a numpy reference, and a network that would take sides does not."""

import numpy as np
import torch
from torch import nn

from gapstack.members.parts.crossing import SwapEquivariant, cross
from gapstack.members.parts.dense import dense_block


def test_a_name_is_crossed_with_the_pronoun_in_four_ways():
    chance = np.random.default_rng(0)
    names, pronoun = chance.normal(size=(5, 2, 7)), chance.normal(size=(5, 1, 7))
    found = cross(torch.from_numpy(names), torch.from_numpy(pronoun)).numpy()
    for row in range(5):
        for name in range(2):
            a, p = names[row, name], pronoun[row, 0]
            np.testing.assert_array_equal(found[row, name], np.concatenate([a, p, a * p, p - a]))


class Partial(nn.Module):
    """A network with weights of its own for A, B and each class, and a batch norm on the way."""

    def __init__(self):
        super().__init__()
        self.norm = dense_block(3 * 4 + 2 * 3 + 5, 16, 0.0)
        self.last = nn.Linear(16, 3)

    def forward(self, mentions, names, row):
        return self.last(self.norm(torch.cat([mentions.flatten(1), names.flatten(1), row], dim=1)))


def inputs(count: int = 6) -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(1)
    shapes = {"mentions": (3, 4), "names": (2, 3), "row": (5,)}
    return {name: torch.randn(count, *shape, generator=made) for name, shape in shapes.items()}


def test_exchanging_the_names_exchanges_their_columns_in_training_too():
    rows = inputs()
    exchanged = {**rows, "mentions": rows["mentions"][:, [0, 2, 1]], "names": rows["names"][:, [1, 0]]}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        plain, network = Partial(), SwapEquivariant(Partial())
    assert (plain(**rows)[:, [1, 0, 2]] - plain(**exchanged)).abs().max() > 0.05
    for mode in (True, False):
        network.train(mode)
        with torch.no_grad():
            np.testing.assert_allclose(network(**rows)[:, [1, 0, 2]], network(**exchanged), atol=1e-5)


def test_it_is_the_mean_over_both_orders():
    rows = inputs()
    network = SwapEquivariant(Partial()).eval()
    exchanged = {**rows, "mentions": rows["mentions"][:, [0, 2, 1]], "names": rows["names"][:, [1, 0]]}
    with torch.no_grad():
        one, other = network.network(**rows), network.network(**exchanged)
        np.testing.assert_allclose(network(**rows), (one + other[:, [1, 0, 2]]) / 2, atol=1e-6)
