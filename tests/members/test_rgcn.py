import numpy as np
import pytest
import torch

from gapstack.encoding.hidden_states import hidden_states
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.rgcn import PUBLISHED, GraphHead


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "training": {"epochs": 1}}


def test_nodes_are_means_of_their_words_pieces(sample_test, settings, tiny_encoder):
    rows = sample_test[:12]
    arrays = create("rgcn", **settings)._arrays(rows)
    assert arrays["nodes"].shape[:2] == (12, arrays["edges"].shape[-1])
    view = align(rows, tiny_encoder)
    for row, states in enumerate(hidden_states(view, tiny_encoder, (1,)).entries()):
        for mention, (first, last) in enumerate(view.mentions[row]):
            expected = states[first:last].astype(float).mean(axis=0)
            np.testing.assert_allclose(arrays["nodes"][row, mention], expected, atol=2e-3)
        there = arrays["edges"][row, 0].diagonal() > 0
        assert there.sum() > 3
        assert (np.abs(arrays["nodes"][row]).sum(axis=1) > 0).tolist() == there.tolist()


def test_words_that_the_window_left_out_are_no_nodes(sample_test, settings):
    rows = sample_test[:24]
    whole, cut = (create("rgcn", max_pieces=size, **settings)._arrays(rows)["edges"] for size in (512, 96))
    assert cut[:, 0].sum() < whole[:, 0].sum()
    gone = (whole[:, 0] - cut[:, 0]).diagonal(axis1=1, axis2=2) > 0
    assert not cut.transpose(0, 2, 1, 3)[gone].any()
    assert not cut.transpose(0, 3, 1, 2)[gone].any()


def test_the_graph_reaches_the_answer_and_padding_does_not():
    torch.manual_seed(0)
    head = GraphHead(6, (5, 4), text=7, hidden=8, dropout=0.5, node_dropout=0.5).eval()
    nodes = torch.randn(2, 5, 6)
    edges = torch.zeros(2, 3, 5, 5)
    edges[:, 0] = torch.eye(5) * (torch.arange(5) < 4)
    edges[:, 0, 2, 2] = 0.0  # a node that was cut off has others behind it
    edges[:, 1, 0, 3] = 1.0  # node 3 governs the pronoun
    answers = head(nodes, edges)
    moved = nodes.clone()
    moved[:, 4] = 9.0
    torch.testing.assert_close(head(moved, edges), answers)
    torch.testing.assert_close(head(nodes[1:, :4], edges[1:, :, :4, :4]), answers[1:])
    moved[:, 3] = 9.0
    assert (head(moved, edges) - answers).abs().max() > 1e-3


@pytest.mark.parametrize("widths", [(), (4,), (6, 5, 4)])
def test_any_number_of_layers_of_any_width(widths, sample_train, sample_test, settings):
    member = create("rgcn", widths=list(widths), **settings).fit(
        sample_train[:33]
    )  # a batch of one row as well
    assert len(member.networks_[0].graph) == len(widths)
    assert member.predict_proba(sample_test[:4]).shape == (4, 3)


def test_a_layer_that_is_not_there_is_refused(sample_train, settings):
    with pytest.raises(MemberError, match="has layers 0 to 2"):
        create("rgcn", layer=3, **settings).fit(sample_train[:8])


def test_the_papers_settings_are_settings_of_the_member():
    plan = create("rgcn", **PUBLISHED)._plan(0)
    assert (plan.epochs, plan.batch_size, plan.head_lr) == (100, 4, 1e-4)
    # ten epochs to warm up, 1.5e-5 at the end
    assert plan.schedule.warmup * plan.epochs == 10
    assert plan.head_lr * plan.schedule.floor == pytest.approx(1.5e-5)
