"""A slice is scored as if its rows were all there is; its interval is that of the whole where it is the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.evaluation import bootstrap, contributions, score
from gapstack.evaluation.scores import SLICE_SCORES, slice_scores

ROWS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["he", "her"]), st.sampled_from("wxyz"), st.sampled_from("ab")
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=40)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_values_are_the_scores_of_the_rows(make_corpus, rows, seed):
    labels, pronouns, pages, parts = (list(column) for column in zip(*rows, strict=True))
    corpus = make_corpus(labels, pronouns, pages)
    members = np.random.default_rng(seed).dirichlet([1, 1, 1], (2, len(rows)))
    tables = {str(k): contributions(corpus, each) for k, each in enumerate(members)}
    made = slice_scores(corpus.groups, corpus.genders, tables, {"part": np.array(parts)}, replicates=3)
    assert [found.value for found in made] == sorted(set(parts))
    for found in made:
        here = np.flatnonzero(np.array(parts) == found.value)
        taken = corpus.take(here)
        assert (found.rows, found.masculine) == (len(here), (taken.genders == "masculine").sum())
        for column, each in enumerate(members):
            expected = score(taken, each[here])
            ours = {key: values[column, 0] for key, values in found.scores.items()}
            # without a name that is right there is no F1
            named = {gender for gender, label in zip(taken.genders, taken.labels, strict=True) if label != 2}
            gap = expected.f1_feminine - expected.f1_masculine if len(named) == 2 else np.nan
            assert ours["f1_gap"] == pytest.approx(gap, nan_ok=True)
            assert ours["f1_overall"] == pytest.approx(expected.f1_overall if named else np.nan, nan_ok=True)
            for key in ("logloss", "accuracy"):
                assert ours[key] == pytest.approx(expected.value(key))


@pytest.fixture(scope="module")
def planted(make_corpus):
    rng, n = np.random.default_rng(1), 240
    corpus = make_corpus(
        rng.integers(0, 3, n).tolist(), ["he", "she"] * (n // 2), [f"p{r // 3}" for r in range(n)]
    )
    sharp = np.where(corpus.genders == "masculine", 4.0, 1.0)[:, None]
    raw = np.exp(sharp * np.eye(3)[corpus.labels] + rng.normal(size=(n, 3)))
    return corpus, {"m": contributions(corpus, raw / raw.sum(axis=1, keepdims=True))}


def test_slice_of_everything_has_the_intervals_of_the_bootstrap(planted):
    corpus, members = planted
    everything = {"all": np.full(len(corpus), "yes")}
    (whole,) = slice_scores(corpus.groups, corpus.genders, members, everything, replicates=700, seed=9)
    expected = bootstrap(corpus.groups, members, replicates=700, seed=9)
    for metric in ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine"):
        assert whole.scores[metric][0] == pytest.approx(list(expected.interval("m", metric)), rel=1e-4)
    assert set(whole.scores) == set(SLICE_SCORES)


def test_order_is_kept_and_rows_without_a_value_are_left_out(planted):
    corpus, members = planted
    values = {"distance": np.array(["near", "far", "", "odd"] * 60)}
    order = {"distance": ("near", "far", "nowhere")}
    made = slice_scores(corpus.groups, corpus.genders, members, values, order=order, replicates=4)
    assert [(found.value, found.rows) for found in made] == [("near", 60), ("far", 60), ("odd", 60)]
