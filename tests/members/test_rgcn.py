import numpy as np
import pytest
import torch

from gapstack.data import Span
from gapstack.members.rgcn import GraphHead, mention_graph
from gapstack.text.grammar import Parse, empty_parse


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
