"""Heads of mentions are those of the parse."""

import numpy as np
import pytest

from gapstack.data import Span
from gapstack.resolvers.clusters import read_clusters
from gapstack.resolvers.recorded import recorded_files
from gapstack.text.grammar import empty_parse, parse_of
from gapstack.text.parses import head_span, heads_of
from tests.trees import PARSER, corpus, example, keep, tree

SPEC = "Her/r/nmod:poss/1 friend/n/nsubj/4 Bo/p/appos/1 Lee/p/flat/2 met/v/root/4 Ann/p/obj/4 ././punct/4"


@pytest.mark.parametrize(
    ("mention", "head"),
    [("Her friend Bo Lee", "friend"), ("Bo Lee", "Bo"), ("Her", "Her"), ("Ann .", "Ann"), ("iend", "friend")],
)
def test_the_head_of_a_mention_is_its_token_nearest_the_root(mention, head):
    parse = parse_of(tree(SPEC))
    at = parse.text.index(mention)
    assert parse.text[slice(*head_span(parse, Span(at, at + len(mention))))] == head


def test_where_the_parse_has_no_token_the_mention_is_its_own_head():
    assert head_span(empty_parse("Ann met Bo"), Span(0, 3)) == Span(0, 3)


def test_heads_are_of_the_corpus_s_texts():
    doc = tree(SPEC)
    keep(doc)
    one = example(doc, "Her", "Bo Lee", "Ann")
    heads = heads_of(corpus(one), PARSER)
    assert one.words(heads(one, one.a)) == "Bo"
    other = example(tree(SPEC.replace("Ann", "Eve")), "Her", "Bo Lee", "Eve")
    assert heads(other, other.a) == other.a


@pytest.mark.slow
def test_heads_and_words_align_a_real_resolver_alike_on_most_rows(gap_splits):
    rows = gap_splits["validation"]
    clusters = read_clusters(recorded_files("neuralcoref")[1], rows)
    some = rows.take(np.flatnonzero(clusters.covers(rows))[:60])
    words, heads = clusters.decide(some), clusters.decide(some, heads_of(some))
    assert 0.8 < (words == heads).mean() < 1
    assert not (heads & ~words).all(axis=1).any()
