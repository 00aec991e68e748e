"""Intervals and p-values: against loops over resampled corpora, their coverage, and too few pages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gapstack.errors import DataError, MismatchError
from gapstack.evaluation import (
    METRICS,
    Predictions,
    all_pairs,
    bootstrap,
    contributions,
    decisions,
    example_losses,
    few_pages_warning,
    holm,
    paired,
    resampling,
    score,
    score_decisions,
)
from gapstack.evaluation.metrics import mean_score

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["he", "her", "they"]), st.sampled_from("wxyz")),
    min_size=1,
    max_size=12,
)
DIRECTED = [name for name, metric in METRICS.items() if metric.better]


def hard(probabilities):
    decided = decisions(probabilities)
    return Predictions(None, decided, np.ones_like(decided))


def scored(scores):
    return {name: np.nan if value is None else value for name, value in scores.values.items()}


@settings(max_examples=30)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_each_replicate_is_the_score_of_the_rows_it_drew(make_corpus, rows, seed):
    labels, pronouns, pages = (list(column) for column in zip(*rows, strict=True))
    corpus = make_corpus(labels, pronouns, pages)
    soft = np.random.default_rng(seed).dirichlet([1, 1, 1], len(rows))
    tables = {"soft": contributions(corpus, soft), "hard": contributions(corpus, hard(soft))}
    made = bootstrap(corpus.groups, tables, replicates=5, seed=seed)
    found = {name: made.points(name)[0] for name in METRICS}
    assert found == pytest.approx(scored(score(corpus, soft)), abs=1e-9, nan_ok=True)
    names = sorted(set(pages))
    if len(names) == 1:
        return
    (weights,) = resampling.resamples(len(names), 5, seed)
    for replicate, drawn in enumerate(weights):
        taken = np.repeat(np.arange(len(rows)), [int(drawn[names.index(page)]) for page in pages])
        again = make_corpus(*([column[row] for row in taken] for column in (labels, pronouns)))
        both = score(again, soft[taken]), score_decisions(again, decisions(soft)[taken])
        for column, scores in enumerate(both):
            found = {name: made.samples[name][replicate, column] for name in METRICS}
            assert found == pytest.approx(scored(scores), abs=1e-9, nan_ok=True)


def planted(make_corpus, generator, pages, right, per_page=3):
    """Corpus of A rows whose accuracy is that of a page-wide coin with chance ``right``."""
    n = pages * per_page
    corpus = make_corpus([0] * n, ["he", "she"] * (n // 2), [f"p{row // per_page}" for row in range(n)])
    hits = np.repeat(generator.random(pages) < right, per_page)
    return corpus, np.where(hits[:, None], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1])


def test_intervals_cover_the_truth_about_as_often_as_they_say(make_corpus):
    """95% intervals of 200 data sets; ignoring the pages would cover near 75%."""
    generator = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        corpus, rows = planted(make_corpus, generator, pages=100, right=0.7)
        hits = (rows[:, :1] > 0.5).astype(float)
        ((_, low, high),) = resampling.mean_intervals(corpus.groups, hits, replicates=400, seed=seed)
        covered += low <= 0.7 <= high
    assert 0.90 <= covered / 200 <= 0.985


@pytest.mark.parametrize(
    ("pages", "words"), [(1, "no intervals"), (2, "only 2 pages"), (29, "too narrow"), (30, "")]
)
def test_few_pages_have_a_warning_and_one_page_has_no_interval(make_corpus, pages, words):
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages, right=0.5, per_page=4)
    warning = few_pages_warning(corpus.groups)
    assert words in warning
    assert bool(warning) == (pages < 30)
    tables = {"m": contributions(corpus, rows), "n": contributions(corpus, np.ones((len(rows), 3)))}
    made = bootstrap(corpus.groups, tables, replicates=50)
    difference = all_pairs(corpus.groups, tables, made, ["logloss"], replicates=50)["logloss"].difference
    intervals = [made.interval("m", "logloss"), difference[0, 1], difference[1, 0]]
    assert np.isnan(intervals).tolist() == [[False, pages == 1, pages == 1]] * 3


def test_permutation_p_is_uniform_where_nothing_differs():
    generator = np.random.default_rng(11)
    groups = np.repeat(np.arange(60), 2).astype(str)
    # pages differ, members do not: exchangeable by page
    noise = np.repeat(generator.normal(size=(60, 300)), 2, axis=0)[..., None]
    rows = np.concatenate([np.zeros((120, 1, 1)), noise], axis=1)
    p = resampling.exchange_p(groups, rows, mean_score, replicates=200, seed=3)[0, 1:]
    for level in (0.05, 0.2, 0.5):
        assert (p <= level).mean() == pytest.approx(level, abs=0.07)


def test_planted_difference_is_found_and_its_sign_is_right(make_corpus):
    generator = np.random.default_rng(2)
    corpus, good = planted(make_corpus, generator, pages=300, right=0.9)
    _, bad = planted(make_corpus, generator, pages=300, right=0.7)
    losses = [example_losses(corpus.labels, rows)[:, None] for rows in (good, bad)]
    found = paired(corpus.groups, *losses, mean_score, replicates=2000)
    assert found.value == pytest.approx((losses[0] - losses[1]).mean())
    assert found.high < 0
    assert found.p < 0.01


def test_a_member_does_not_differ_from_itself(make_corpus):
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=40, right=0.8)
    twins = dict.fromkeys("ab", contributions(corpus, rows))
    made = bootstrap(corpus.groups, twins, replicates=200)
    for found in all_pairs(corpus.groups, twins, made, DIRECTED, replicates=50).values():
        assert np.abs(found.difference).max() < 1e-12
        assert found.p_permutation[0, 1] == found.p_bootstrap[0, 1] == 1
        assert not found.wins().any()


def test_replicates_depend_on_the_seed_and_not_on_other_members(make_corpus):
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=50, right=0.8)
    made = contributions(corpus, rows)
    alone = bootstrap(corpus.groups, {"a": made}, replicates=1200, seed=4)
    among = bootstrap(corpus.groups, {"b": made * 2, "a": made}, replicates=1200, seed=4)
    other = bootstrap(corpus.groups, {"a": made}, replicates=1200, seed=5)
    np.testing.assert_allclose(alone.samples["logloss"][:, 0], among.samples["logloss"][:, 1], rtol=1e-12)
    assert alone.interval("a", "logloss") != other.interval("a", "logloss")


@pytest.fixture(scope="module")
def three(make_corpus):
    """Three members of different strength on 90 rows of 40 pages, the last one without probabilities."""
    rng = np.random.default_rng(3)
    pages = [f"p{page}" for page in rng.integers(0, 40, 90)]
    corpus = make_corpus(rng.integers(0, 3, 90).tolist(), rng.choice(["he", "she"], 90).tolist(), pages)
    truth = np.eye(3)[corpus.labels]
    soft = {
        name: np.exp(sharpness * truth + rng.normal(size=truth.shape))
        for name, sharpness in (("good", 3.0), ("poor", 0.5), ("hard", 2.0))
    }
    members = {name: contributions(corpus, rows) for name, rows in soft.items()}
    members["hard"] = contributions(corpus, hard(soft["hard"]))
    return corpus, soft, members, bootstrap(corpus.groups, members, replicates=400, seed=1)


def test_holm_by_hand():
    # .01 x 4, .02 x 3, .03 x 2 but no less than the one before, .04 x 1 likewise
    assert holm([0.03, 0.01, 0.04, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, np.nan, 0.4]).tolist() == pytest.approx([0.8, np.nan, 0.8], nan_ok=True)
    assert holm([]).tolist() == []


@given(p=arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p):
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()


def test_nothing_and_other_rows_are_refused(three):
    corpus, _, members, _ = three
    with pytest.raises(DataError, match="nothing to resample"):
        bootstrap(corpus.groups, {})
    with pytest.raises(MismatchError, match="89"):
        bootstrap(corpus.groups, {"m": members["good"][1:]})
