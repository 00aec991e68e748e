"""Beyond the contract: what is learned from, what is averaged, and the end-to-end head against its equations."""

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.augment import variants
from gapstack.members import create
from gapstack.members.anonymised import VARIANTS, distance_buckets
from tests.trees import PARSER, corpus, example, keep, tree

# "Ann Lee" and "Eve" may be anonymised; in the second row "Ann" is a part of the other name, so it may not
ROWS = Corpus(
    [
        Example(
            "free", "Ann Lee met Eve when she left.", Span(21, 24), Span(0, 7), Span(12, 15), label=Label.A
        ),
        Example("bound", "Ann met Anna when she left.", Span(18, 21), Span(0, 3), Span(8, 12), label=Label.B),
    ]
)


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "max_pieces": 96, "training": {"epochs": 2}}


@pytest.mark.parametrize(
    ("words", "bucket"),
    [(0, 0), (1, 1), (2, 2), (4, 4), (5, 5), (7, 5), (8, 6), (15, 6), (16, 7), (63, 8), (64, 9), (999, 9)],
)
def test_distances_have_the_buckets_of_lee(words, bucket):
    assert distance_buckets(np.array([float(words)])).tolist() == [bucket]


def test_copies_are_learned_from_where_the_rules_allow_them(settings):
    arrays, rows = create("anonymised", **settings)._inputs().to_learn(ROWS)
    assert rows.tolist() == [0, 1, 0, 0, 0, 0]
    assert len(arrays["mentions"]) == 6
    # another name, another vector, but the row's own scalars and distance
    assert np.abs(arrays["mentions"][0] - arrays["mentions"][2]).max() > 0.1
    for name in ("names", "distances"):
        for copy in range(2, 6):
            np.testing.assert_array_equal(arrays[name][copy], arrays[name][0])
    alone, own = create("anonymised", **settings, copies=[])._inputs().to_learn(ROWS)
    assert own.tolist() == [0, 1]
    np.testing.assert_array_equal(alone["mentions"], arrays["mentions"][:2])


def test_answers_are_the_weighted_mean_over_the_ways_of_telling(settings, sample_train, sample_test):
    weights = [0.1, 0.4, 0.2, 0.2, 0.1]
    member = create("anonymised", **settings, weights=weights).fit(sample_train[:40])
    answers = member.predict_proba(sample_test[:30])
    copies = variants(sample_test[:30], VARIANTS)
    own = member._other_inputs(sample_test[:30])
    each = [member._mean_of_networks({"mentions": member._mentions(v.corpus), **own}) for v in copies]
    for row in range(30):
        counts = [w * (v.changed[row] or v.name == "original") for v, w in zip(copies, weights, strict=True)]
        expected = sum(count * one[row] for count, one in zip(counts, each, strict=True)) / sum(counts)
        np.testing.assert_allclose(answers[row], expected, atol=1e-6)
    assert np.abs(each[1] - each[0]).max() > 1e-3


def test_the_papers_scalars_of_a_name_that_the_pronouns_place_excludes(monkeypatch):
    monkeypatch.setenv("GAP_PARSER", PARSER)
    doc = tree(
        "Ann/p/nsubj/1 slept/v/ROOT/1 ./u/punct/1|She/r/nsubj/1 saw/v/ROOT/1 Mia/p/obj/1 ./u/punct/1",
        ["Ann", "Mia"],
    )
    keep(doc)
    row = example(doc, "She", "Ann", "Mia", "http://en.wikipedia.org/wiki/Ann_Lee")
    found = create("anonymised", scalars="fill_the_gap")._other_inputs(corpus(row))
    ann, mia = found["names"][0]
    # c-commanded, nearness in the tree, theta-prominence, words of the title, excluded
    assert ann.tolist() == [0, 0, 1, 1, 0]
    assert mia.tolist() == [1, -5, 0, 0, 1]
    assert create("anonymised", head="pure")._other_inputs(corpus(row)) == {}
