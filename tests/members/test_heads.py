"""Every head computes what it did: logits of fixed weights and inputs, and no row depends on the others."""

import pytest
import torch

from gapstack.members.anonymised import EndToEndHead, PureHead
from gapstack.members.bidaf import FlowHead
from gapstack.members.frozen_mlp import TowersNetwork
from gapstack.members.frozen_spans import SiameseSpans
from gapstack.members.grep import EvidenceHead
from gapstack.members.layers import SwapEquivariant
from gapstack.members.masked_lm import TiedHead
from gapstack.members.msnet import MSNetHead
from gapstack.members.multiple_choice import ChoiceHead
from gapstack.members.pair_product import PairProductHead
from gapstack.members.probert import PronounHead
from gapstack.members.question_answering import AnswerSpanHead
from gapstack.members.rgcn import GraphHead
from gapstack.members.sequence import SequenceHead
from gapstack.members.siamese import SiameseTower
from gapstack.members.span_head import Classifier, SelfAttentiveHead, SpanHead, SpanHeads


def wave(*shape: int, pace: float = 0.7) -> torch.Tensor:
    """Values between -1 and 1 without randomness."""
    return torch.sin(torch.arange(torch.Size(shape).numel()) * pace).reshape(shape)


RANGES = torch.tensor([[[2, 4], [0, 2], [4, 7]], [[5, 6], [1, 2], [2, 5]]])
"""Of pronoun, A and B in two rows of seven pieces."""
END_TO_END = torch.tensor([[[0, 2], [2, 4], [4, 7]], [[0, 1], [1, 2], [2, 5]]])
VECTORS = {"mentions": wave(2, 3, 6)}
FEATURES = {"names": wave(2, 2, 3, pace=0.3), "row": wave(2, 2, pace=0.9)}
PLACES = torch.arange(2 * 2 * 2 * 2).reshape(2, 2, 2, 2) % 7
KEPT = torch.tensor([True, True, True, False] * 3 + [False] * 4).reshape(2, 2, 2, 2)
EDGES = torch.stack([torch.eye(5), wave(5, 5).abs(), wave(5, 5, pace=0.4).abs()]).expand(2, -1, -1, -1)
SPANS = 6, 4, 5, 7
SMALL = SpanHead(width=4, units=4, feature_units=3)

HEADS = {
    "probert": (PronounHead(4), {"hidden": wave(2, 7, 4), "mentions": RANGES}),
    "grep": (
        EvidenceHead(6, 3),
        {"hidden": wave(2, 7, 6), "mentions": RANGES, "places": PLACES, "kept": KEPT},
    ),
    "msnet": (MSNetHead(4, 2, 3, 0.4, 0.6, "attention"), {"hidden": wave(2, 7, 8), "mentions": RANGES}),
    "msnet, mean": (MSNetHead(4, 2, 3, 0.4, 0.6, "mean"), {"hidden": wave(2, 7, 8), "mentions": RANGES}),
    "sequence": (SequenceHead(4), {"hidden": wave(2, 7, 4), "mentions": RANGES}),
    "pair_product": (PairProductHead(4), {"hidden": wave(2, 7, 4), "mentions": RANGES}),
    "span_head": (
        SpanHeads([SelfAttentiveHead(8, 4, Classifier(SMALL, 8)) for _ in range(2)], 3, 2),
        {"hidden": wave(2, 7, 8), "mentions": RANGES, **FEATURES},
    ),
    "siamese": (SiameseTower(6, 3, 4, 5), VECTORS),
    "frozen_mlp": (TowersNetwork(6, 8, 0.9, 0.8), {**VECTORS, **FEATURES}),
    "anonymised": (
        EndToEndHead(6, 3, 7, 4, 0.5),
        {**VECTORS, "names": FEATURES["names"], "distances": torch.tensor([[0, 9], [3, 4]])},
    ),
    "anonymised, pure": (PureHead(6, 0.5), VECTORS),
    "bidaf": (
        FlowHead(4, 3, 0.5),
        {
            "hidden": wave(2, 7, 4),
            "mentions": RANGES,
            "others": torch.arange(14).reshape(2, 7) % 5 == 3,
            "keep": torch.arange(7)[None] < torch.tensor([[7], [6]]),
        },
    ),
    "rgcn": (
        GraphHead(6, (5, 4), text=7, hidden=8, dropout=0.5, node_dropout=0.5),
        {"nodes": wave(2, 5, 6), "edges": EDGES},
    ),
    "question_answering": (AnswerSpanHead(4, 3), {"hidden": wave(2, 3, 4), "text": RANGES[:, 1]}),
    "multiple_choice": (ChoiceHead(4), {"hidden": wave(6, 7, 4)}),
    "masked_lm": (TiedHead(4, 3), {"hidden": wave(2, 4), "embeddings": wave(3, 4, pace=0.2)}),
    "frozen_spans": (
        SiameseSpans(2, *SPANS, (0.0, 0.0, 0.0)),
        {"pieces": wave(2, 7, 6), "spans": END_TO_END, "relations": wave(2, 2, 4, pace=0.5)},
    ),
}
GOLDEN = {
    "probert": [0.57801, 0.78893, 0.14428, 0.92385, 0.14754, 0.51765],
    "grep": [1.00017, 1.21572, 1.07059, 0.09184, 0.61404, 1.69853],
    "msnet": [1.7234, 0.85214, 0.32809, -0.03691, 1.10746, 0.06811],
    "msnet, mean": [1.55009, 0.85814, 0.3393, -0.03492, 1.10264, 0.07028],
    "sequence": [39.41995, 38.13798, 33.89326, 42.29359, 44.07587, 46.56517],
    "pair_product": [0.85337, 0.53103, 1.13893, 0.48008, -0.44334, 2.19044],
    "span_head": [0.88258, 0.18257, -0.15777, 0.49129, 0.13724, -0.46303],
    "siamese": [2.77742, 3.05082, 2.7466, 1.94752, 0.91807, 1.73896],
    "frozen_mlp": [4.24013, 15.06381, -10.25955, 4.33363, 15.02427, -10.42867],
    "anonymised": [0.31788, 3.02985, 0.0, 0.50002, 1.7, 0.0],
    "anonymised, pure": [16.92331, 15.8692, 13.59636, 16.91469, 15.86105, 13.58868],
    "bidaf": [0.82321, 0.82835, 0.82575, 0.25964, 0.42633, 0.34936],
    "rgcn": [-0.96884, 0.73178, 1.15053, -0.76157, 0.55484, 1.22862],
    "question_answering": [1.18459, 1.50403, -0.88424, -0.46689, -10000.0, -10000.0],
    "multiple_choice": [0.44437, 0.50869, 0.76548, 0.91779, 0.72589, 0.5958],
    "masked_lm": [0.53278, 1.31527, 1.4458, 0.86515, 2.1912, 2.33396],
    "frozen_spans": [0.87672, 0.89989, 3.29237, 0.72371, 0.80322, 3.1077],
}
"""The first logits,."""


def fixed(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """The head with the same weights everywhere, in evaluation mode, and its inputs."""
    head, inputs = HEADS[name]
    for number, (key, value) in enumerate(head.state_dict().items()):
        if value.is_floating_point():
            weights = wave(*value.shape, pace=0.37 + 0.1 * number) * 0.5 + 0.1
            value.copy_(weights.abs() + 0.1 if "running_var" in key or "square" in key else weights)
    return head.eval(), inputs


@pytest.mark.parametrize("name", HEADS)
def test_logits_are_the_stored_ones(name):
    head, inputs = fixed(name)
    found = head(**inputs).detach().flatten()
    torch.testing.assert_close(found[: len(GOLDEN[name])], torch.tensor(GOLDEN[name]), rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", sorted(HEADS.keys() - {"multiple_choice", "masked_lm", "frozen_spans"}))
def test_rows_do_not_depend_on_each_other(name):
    head, inputs = fixed(name)
    alone = head(**{key: value[1:] for key, value in inputs.items()})
    torch.testing.assert_close(alone, head(**inputs)[1:], rtol=0, atol=1e-5)


def test_swapping_the_names_swaps_their_columns():
    rows = {**VECTORS, **FEATURES}
    swapped = rows | {"mentions": rows["mentions"][:, [0, 2, 1]], "names": rows["names"][:, [1, 0]]}
    plain, _ = fixed("frozen_mlp")
    network = SwapEquivariant(plain)
    assert (plain(**rows)[:, [1, 0, 2]] - plain(**swapped)).abs().max() > 1e-3
    for mode in (True, False):
        network.train(mode)
        for part in network.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        torch.testing.assert_close(network(**rows)[:, [1, 0, 2]], network(**swapped), rtol=0, atol=1e-5)
