import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.language.grammar import Parse, Role, empty_parse, parse_of
from tests.trees import tree

# "Ann gave the book to Eve ." in both schemes
UD = "Ann/p/nsubj/1 gave/v/ROOT/1 books/n/obj/1 to/a/case/4 Eve/p/obl/1 ./u/punct/1"
CLEAR = "Ann/p/nsubj/1 gave/v/ROOT/1 books/n/dobj/1 to/a/prep/1 Eve/p/pobj/3 ./u/punct/1"


def test_both_schemes_give_one_tree():
    ud, clear = parse_of(tree(UD)), parse_of(tree(CLEAR))
    assert ud.heads.tolist() == clear.heads.tolist()
    assert ud.roles.tolist() == clear.roles.tolist()
    for parse in (ud, clear):  # a prepositional noun is two edges from its head, an object one
        assert parse.distances(0, 1.0).tolist() == [0, 1, 2, 4, 3, 2]
    dative = parse_of(tree("Ann/p/nsubj/1 gave/v/ROOT/1 it/r/dobj/1 to/a/dative/1 her/r/pobj/3"))
    assert (Role(dative.roles[4]), dative.heads[4]) == (Role.DATIVE, 1)


@pytest.mark.parametrize(
    ("spec", "span", "head"),
    [
        ("Ann/p/nsubj/2 Lee/p/flat/0 left/v/ROOT/2", "Ann Lee", "Ann"),  # UD: the first part heads a name
        ("Ann/p/compound/1 Lee/p/nsubj/2 left/v/ROOT/2", "Ann Lee", "Lee"),  # ClearNLP: the last
        ("Ann/p/nsubj/3 's/a/case/0 ,/u/punct/0 left/v/ROOT/3", "Ann 's ,", "Ann"),
        ("saw/v/ROOT/0 Ann/p/obj/0 Lee/p/obj/0", "Ann Lee", "Ann"),  # two heads outside: the earlier
        ("he/r/nsubj/1 saw/v/ROOT/1 the/x/det/3 Dido/p/obj/1", "the Dido", "Dido"),
        ("Her/r/nmod:poss/1 friend/n/nsubj/3 Bo/p/appos/1 left/v/ROOT/3", "Her friend Bo", "friend"),
        ("Her/r/nmod:poss/1 friend/n/nsubj/2 left/v/ROOT/2", "iend", "friend"),
    ],
)
def test_head_of_a_mention(spec, span, head):
    parse = parse_of(tree(spec))
    start = parse.text.index(span)
    assert parse.words(parse.head_of(parse.tokens_in(Span(start, start + len(span))))) == head


def test_coordination_apposition_and_name_parts_are_seen_through():
    # Ann Lee and Eve , a singer , met Bo .
    spec = (
        "Ann/p/nsubj/8 Lee/p/flat/0 and/c/cc/3 Eve/p/conj/0 ,/u/punct/6 a/x/det/6 singer/n/appos/3 ,/u/punct/6 "
        "met/v/ROOT/8 Bo/p/obj/8"
    )
    parse = parse_of(tree(spec))
    assert [Role(parse.functions[i]) for i in (0, 1, 3, 6, 9)] == [Role.SUBJECT] * 4 + [Role.OBJECT]
    assert parse.theta[[0, 3, 9]].tolist() == [1.0, 1.0, 0.8]


@pytest.mark.parametrize(
    ("token", "commanded"),
    [("Ann", {"Eve", "that", "Bo", "left"}), ("Eve", {"that", "Bo", "left"}), ("Bo", {"that"})],
)
def test_subjects_command_objects_and_never_the_reverse(token, commanded):
    parse = parse_of(
        tree("Ann/p/nsubj/1 told/v/ROOT/1 Eve/p/obj/1 that/x/mark/5 Bo/p/nsubj/5 left/v/ccomp/1")
    )
    i = [parse.words(j) for j in range(len(parse))].index(token)
    assert {parse.words(int(j)) for j in np.flatnonzero(parse.commands(i))} == commanded


@st.composite
def random_parses(draw):
    """A random forest: each token's head is an earlier-drawn one, so that there are no cycles."""
    n = draw(st.integers(1, 25))
    order = draw(st.permutations(range(n)))
    heads = np.zeros(n, dtype=np.int32)
    for rank, token in enumerate(order):
        heads[token] = order[draw(st.integers(0, rank))]
    heads[order[0]] = order[0]
    roles = np.array(draw(st.lists(st.integers(0, len(Role) - 1), min_size=n, max_size=n)), dtype=np.int8)
    roles[heads == np.arange(n)] = Role.ROOT
    spans = np.stack([np.arange(n) * 2, np.arange(n) * 2 + 1], axis=1).astype(np.int32)
    zeros = np.zeros(n, dtype=np.int32)
    return Parse("x " * n, spans, heads, roles, zeros.astype(np.int8), zeros, np.zeros((0, 2), np.int32))


@given(random_parses())
def test_distances_are_a_metric_on_every_tree(parse):
    table = np.stack([parse.distances(i, 2.0) for i in range(len(parse))])
    assert (table == table.T).all()
    assert (np.diag(table) == 0).all()
    assert (table[:, None, :] <= table[:, :, None] + table[None]).all()


@given(random_parses())
def test_what_dominates_never_commands(parse):
    for i in range(len(parse)):
        assert not (parse.commands(i) & (parse.ancestors[i] | parse.ancestors[:, i])).any()


def test_texts_of_no_and_of_one_token():
    for empty in (empty_parse(""), parse_of(tree(""))):
        assert empty.head_of(empty.tokens_in(Span(0, 3))) == -1
        assert empty.depth.tolist() == empty.clause.tolist() == []
    one = parse_of(tree("She/r/ROOT/0"))
    assert one.distances(0, 1.0).tolist() == [0]
    assert not one.commands(0).any()
