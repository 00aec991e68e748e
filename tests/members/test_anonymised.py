"""Beyond the contract: what is learned from, what is averaged, and the end-to-end head against its equations."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.corpus.augment import variants
from gapstack.encoding import activations
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.anonymised import (
    PUBLISHED,
    SCALARS,
    VARIANTS,
    EndToEndHead,
    PureHead,
    distance_buckets,
)

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


def test_the_end_to_end_head_scores_each_name_against_zero():
    chance = np.random.default_rng(0)
    head = EndToEndHead(6, scalars=5, hidden=7, distance_units=4, dropout=0.5).eval()
    mentions = chance.normal(size=(3, 3, 6)).astype(np.float32)
    names, distances = chance.normal(size=(3, 2, 5)).astype(np.float32), chance.integers(0, 10, (3, 2))
    found = head(*map(torch.from_numpy, (mentions, names, distances))).detach().numpy()
    w = {name: value.detach().numpy() for name, value in head.named_parameters()}
    for row in range(3):
        p = mentions[row, 0]
        for side in range(2):
            a = mentions[row, side + 1]
            pair = np.concatenate([p, a, p * a, w["distance.weight"][distances[row, side]], names[row, side]])
            hidden = np.maximum(w["score.0.weight"] @ pair + w["score.0.bias"], 0)
            score = w["score.3.weight"] @ hidden + w["score.3.bias"]
            np.testing.assert_allclose(found[row, side], score[0], atol=1e-5)
        assert found[row, 2] == 0


def test_copies_are_learned_from_where_the_rules_allow_them(settings):
    arrays, labels = create("anonymised", **settings)._to_learn(ROWS)
    assert labels.tolist() == [Label.A, Label.B, *[Label.A] * 4]
    assert len(arrays["mentions"]) == 6
    # another name, another vector, but the row's own scalars and distance
    assert np.abs(arrays["mentions"][0] - arrays["mentions"][2]).max() > 0.1
    for name in ("names", "distances"):
        for copy in range(2, 6):
            np.testing.assert_array_equal(arrays[name][copy], arrays[name][0])
    alone, own = create("anonymised", **settings, copies=False)._to_learn(ROWS)
    assert own.tolist() == [Label.A, Label.B]
    np.testing.assert_array_equal(alone["mentions"], arrays["mentions"][:2])


def test_a_name_in_the_page_title_stays_known_when_it_is_replaced(settings):
    titled = ROWS.map(lambda e: replace(e, url="http://en.wikipedia.org/wiki/Ann_Lee"))
    arrays, _ = create("anonymised", **settings)._to_learn(titled)
    share = arrays["names"][:, :, SCALARS.index("title_share")]
    assert share[0].tolist() == [1, 0]
    np.testing.assert_array_equal(share[2:], np.tile([1, 0], (4, 1)))


def test_answers_are_the_weighted_mean_over_the_ways_of_telling(settings, sample_train, sample_test):
    weights = [0.1, 0.4, 0.2, 0.2, 0.1]
    member = create("anonymised", **settings, weights=weights).fit(sample_train[:40])
    answers = member.predict_proba(sample_test[:30])
    copies = variants(sample_test[:30], VARIANTS)
    own = member._beside(sample_test[:30])
    each = [member._answer({"mentions": member._mentions(v.corpus), **own}) for v in copies]
    for row in range(30):
        counts = [w * (v.changed[row] or v.name == "original") for v, w in zip(copies, weights, strict=True)]
        expected = sum(count * one[row] for count, one in zip(counts, each, strict=True)) / sum(counts)
        np.testing.assert_allclose(answers[row], expected, atol=1e-6)
    assert np.abs(each[1] - each[0]).max() > 1e-3


def test_prepared_rows_are_not_encoded_again(settings, sample_train, sample_test, monkeypatch):
    member = create("anonymised", **settings)
    member.prepare(sample_train[:30] + sample_test[:10])

    def refuse(*_):
        raise AssertionError("a text was encoded again")

    monkeypatch.setattr(activations, "encode", refuse)
    member.fit(sample_train[:30]).predict_proba(sample_test[:10])


def test_the_papers_settings_make_members():
    end_to_end, pure = create("anonymised", **PUBLISHED), create("anonymised", head="pure")
    plan = end_to_end._plan(0)
    assert (plan.head_lr, plan.batch_size, plan.patience, plan.schedule.shape) == (3e-5, 128, 100, "constant")
    assert (end_to_end.seeds, end_to_end.validation_share, end_to_end.weights[0]) == (5, 0.2, 0.1)
    assert isinstance(
        end_to_end._head({"mentions": np.empty((0, 3, 8)), "names": np.empty((0, 2, 5))}), EndToEndHead
    )
    assert isinstance(pure._head({"mentions": np.empty((0, 3, 8))}).network, PureHead)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"head": "both"}, 'head: found "both", expected one of "end_to_end", "pure"'),
        ({"weights": [1, 1]}, r"weights are \[1, 1\]; expected 5"),
    ],
)
def test_what_it_does_not_know_is_refused(wrong, message, settings, sample_train):
    with pytest.raises(MemberError, match=message):
        create("anonymised", **{**settings, **wrong}).fit(sample_train[:20]).predict_proba(sample_train[:2])
