import numpy as np
import pytest

from gapstack.data import Span
from gapstack.language.grammar import Parse, empty_parse
from gapstack.members.rgcn import mention_graph

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
