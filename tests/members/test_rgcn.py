import numpy as np
import pytest
import torch

from gapstack.corpus import Span
from gapstack.encoding.hidden_states import hidden_states
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.rgcn import PUBLISHED, GatedGraphConvolution, GraphHead, adjacency, mention_graph
from gapstack.text.grammar import Parse, empty_parse


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


TEXT = "Old Ann Lee told Bob that she won the cup"
#       0   1   2   3    4   5    6   7   8   9
HEADS = [1, 3, 1, 3, 3, 7, 7, 3, 9, 7]


def at(words: str) -> Span:
    return Span(TEXT.index(words), TEXT.index(words) + len(words))


@pytest.fixture
def parse() -> Parse:
    made = empty_parse(TEXT)
    starts = np.array([TEXT.index(f" {word}") + 1 if i else 0 for i, word in enumerate(TEXT.split())])
    made.spans = np.stack([starts, starts + [len(word) for word in TEXT.split()]], axis=1).astype(np.int32)
    made.heads = np.array(HEADS, dtype=np.int32)
    made.roles = made.pos = np.zeros(10, dtype=np.int8)
    made.sentence = np.zeros(10, dtype=np.int32)
    return made


GRAPHS = (
    # pronoun, A and B; then (head, dependent) by their words
    (("she", "Ann Lee", "Bob"), {("won", "she"), ("told", "Ann Lee"), ("Ann Lee", "Old"), ("told", "Bob")}),
    # a mention of one word of a name has the rest as a neighbour
    (("she", "Lee", "Bob"), {("won", "she"), ("Ann", "Lee"), ("told", "Bob")}),
    # mentions that govern one another are linked to one another, and a root has no head
    (("told", "Ann Lee", "Bob"), {("told", "Ann Lee"), ("told", "Bob"), ("told", "won"), ("Ann Lee", "Old")}),
)


@pytest.mark.parametrize(("mentions", "expected"), GRAPHS, ids=[" ".join(names) for names, _ in GRAPHS])
def test_nodes_are_mentions_and_their_direct_neighbours(parse, mentions, expected):
    spans, pairs = mention_graph(parse, [at(words) for words in mentions])
    named = [TEXT[span.start : span.end] for span in spans]
    assert tuple(named[:3]) == mentions
    assert {(named[head], named[dependent]) for head, dependent in pairs} == expected
    assert len(pairs) == len(expected)
    assert set(named) == set(mentions) | {word for pair in expected for word in pair}


def test_a_word_that_two_mentions_share_is_part_of_the_first(parse):
    spans, pairs = mention_graph(parse, [at("Ann"), at("Ann Lee"), at("Bob")])
    assert len(spans) == 5
    assert {(0, 1), (3, 0), (3, 2), (0, 4)} == set(pairs)  # 3 is "told", 4 is "Old"


def test_a_text_without_tokens_has_its_mentions_alone():
    spans, pairs = mention_graph(empty_parse("x y z"), [Span(0, 1), Span(2, 3), Span(4, 5)])
    assert (len(spans), pairs) == (3, [])


def test_edges_weigh_one_over_those_that_come_in():
    # 0 governs 1 and 2, 3 governs 0; node 4 was cut off with what it is linked to
    edges = adjacency([(0, 1), (0, 2), (3, 0), (0, 4)], np.array([True, True, True, True, False]))
    third = np.float32(1 / 3)
    expected = np.zeros((3, 5, 5), dtype=np.float32)
    expected[0] = np.diag([1, 1, 1, 1, 0])
    expected[1, 1, 0] = expected[1, 2, 0] = 1
    expected[1, 0, 3] = expected[2, 0, 1] = expected[2, 0, 2] = third
    expected[2, 3, 0] = 1
    np.testing.assert_allclose(edges, expected)


def test_a_layer_is_the_papers_sum_of_messages():
    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    pairs = ([(0, 1), (2, 0), (1, 3)], [(3, 0), (1, 2)])
    present = (np.ones(4, dtype=bool), np.array([True, True, True, False]))
    layers = [GatedGraphConvolution(5, 3), GatedGraphConvolution(3, 2)]
    nodes = chance.normal(size=(2, 4, 5)).astype(np.float32)
    edges = np.stack([adjacency(*row) for row in zip(pairs, present, strict=True)])
    found = torch.from_numpy(nodes)
    for layer in layers:
        found = layer(found, torch.from_numpy(edges))
    for row in range(2):
        h = {u: nodes[row, u].astype(float) for u in range(4) if present[row][u]}
        arrows = [(u, u, 0) for u in h]
        for head, dependent in pairs[row]:
            if head in h and dependent in h:
                arrows += [(head, dependent, 1), (dependent, head, 2)]
        for layer in layers:
            w, g = layer.weight.detach().numpy(), layer.gate.detach().numpy()
            sums = {v: np.zeros(w.shape[2]) for v in h}
            for u, v, r in arrows:
                degree = sum(target == v for _, target, _ in arrows)
                norm = 1.0 if r == 0 else 1 / (degree - 1)
                sums[v] += (h[u] @ w[r]) * norm / (1 + np.exp(-(h[u] @ g[r])))
            h = {v: np.maximum(total, 0) for v, total in sums.items()}
        for node, expected in h.items():
            np.testing.assert_allclose(found[row, node].detach(), expected, atol=1e-5)
