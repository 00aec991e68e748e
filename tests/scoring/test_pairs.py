"""All pairs: the same numbers as one pair at a time, Holm's correction, and no winner where there is none."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gapstack.errors import DataError, MismatchError
from gapstack.scoring import (
    METRICS,
    bootstrap,
    contributions,
    contributions_of_decisions,
    decisions,
    example_losses,
    permutation_test,
    score,
)
from gapstack.scoring.pairs import all_pairs, holm
from gapstack.scoring.resampling import Pages, sign_flips

SIDED = [name for name, metric in METRICS.items() if metric.better != "one"]


@pytest.fixture(scope="module")
def made(make_corpus):
    """Three members of different strength on 90 rows of 40 pages, one of them decisions alone."""
    rng = np.random.default_rng(3)
    pages = [f"p{page}" for page in rng.integers(0, 40, 90)]
    corpus = make_corpus(rng.integers(0, 3, 90).tolist(), rng.choice(["he", "she"], 90).tolist(), pages)
    truth = np.eye(3)[corpus.labels]
    answers = {}
    for name, sharpness in (("good", 3.0), ("poor", 0.5), ("said", 2.0)):
        raw = np.exp(sharpness * truth + rng.normal(size=truth.shape))
        answers[name] = raw / raw.sum(axis=1, keepdims=True)
    members = {name: contributions(corpus, rows) for name, rows in answers.items()}
    members["said"] = contributions_of_decisions(corpus, decisions(answers["said"]))
    return corpus, answers, members, bootstrap(corpus.groups, members, replicates=400, seed=1)


def test_each_pair_is_what_the_bootstrap_says_of_it(made):
    corpus, _, members, replicates = made
    for metric, pairs in all_pairs(corpus.groups, members, replicates, SIDED, replicates=50).items():
        for (i, one), (j, two) in combinations(enumerate(members), 2):
            for row, column, found in (
                (i, j, replicates.difference(one, two, metric)),
                (j, i, replicates.difference(two, one, metric)),
            ):
                ours = [each[row, column] for each in (pairs.value, pairs.low, pairs.high, pairs.p_bootstrap)]
                assert ours == pytest.approx(list(found), nan_ok=True)


def test_permutation_of_losses_is_the_test_of_one_pair(made):
    corpus, answers, members, replicates = made
    pairs = all_pairs(corpus.groups, members, replicates, ["logloss"], replicates=300, seed=7)["logloss"]
    losses = [example_losses(corpus.labels, answers[name]) for name in ("good", "poor")]
    expected = permutation_test(corpus.groups, *losses, replicates=300, seed=7)
    assert pairs.p_permutation[0, 1] == pairs.p_permutation[1, 0] == expected
    assert np.isnan(pairs.p_permutation[2]).all(), "decisions have no logloss"


def test_permutation_of_f1_swaps_what_was_said_on_whole_pages(made):
    """Against a loop that swaps two members' answers and scores both corpora."""
    corpus, answers, members, _ = made
    two = {name: members[name] for name in ("good", "poor")}
    few = bootstrap(corpus.groups, two, replicates=5)
    found = all_pairs(corpus.groups, two, few, ["f1_overall"], replicates=60, seed=4)["f1_overall"]
    pages = Pages.of(corpus.groups)
    (signs,) = sign_flips(pages.count, 60, 4)
    observed = score(corpus, answers["good"]).f1_overall - score(corpus, answers["poor"]).f1_overall
    beyond = 1
    for sign in signs:
        kept = (sign[pages.place] > 0)[:, None]
        one = np.where(kept, answers["good"], answers["poor"])
        two_ = np.where(kept, answers["poor"], answers["good"])
        difference = score(corpus, one).f1_overall - score(corpus, two_).f1_overall
        beyond += abs(difference) >= abs(observed) - 1e-9
    assert found.p_permutation[0, 1] == pytest.approx(beyond / 61)


def test_the_better_one_wins_whichever_side_is_better(made):
    corpus, _, members, replicates = made
    found = all_pairs(
        corpus.groups, members, replicates, ["logloss", "accuracy", "f1_overall"], replicates=2000
    )
    for pairs in found.values():
        wins = pairs.wins()
        assert wins[0, 1] == 1
        assert (wins == -wins.T).all()
    assert found["logloss"].wins()[2].tolist() == [0, 0, 0]


def test_twins_are_never_told_apart(made):
    corpus, _, members, _ = made
    twins = {"a": members["good"], "b": members["good"]}
    replicates = bootstrap(corpus.groups, twins, replicates=50)
    pairs = all_pairs(corpus.groups, twins, replicates, SIDED, replicates=50)
    for found in pairs.values():
        assert found.p_permutation[0, 1] == found.p_bootstrap[0, 1] == 1
        assert not found.wins().any()


def test_holm_by_hand():
    # .01 x 4, .02 x 3, .03 x 2 but no less than the one before, .04 x 1 likewise
    assert holm([0.03, 0.01, 0.04, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, np.nan, 0.4]).tolist() == pytest.approx([0.8, np.nan, 0.8], nan_ok=True)
    assert holm([]).tolist() == []


@given(p=arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)), level=st.floats(0.001, 0.5))
def test_holm_rejects_what_the_steps_reject(p, level):
    """Step down: the smallest at level / k, the next at level / (k - 1), until one is not rejected."""
    rejected = set()
    for step, at in enumerate(np.argsort(p, kind="stable")):
        # values next to the threshold may fall on either side of it by rounding
        if abs(p[at] * (len(p) - step) - level) < 1e-12:
            return
        if p[at] * (len(p) - step) > level:
            break
        rejected.add(int(at))
    assert set(np.flatnonzero(holm(p) <= level)) == rejected
    assert (holm(p) >= p).all()


def test_what_cannot_be_compared_is_refused(made):
    corpus, _, members, replicates = made
    with pytest.raises(DataError, match="bias has no better side"):
        all_pairs(corpus.groups, members, replicates, ["bias"])
    with pytest.raises(MismatchError, match="replicates of"):
        all_pairs(corpus.groups, {"good": members["good"]}, replicates, ["logloss"])
