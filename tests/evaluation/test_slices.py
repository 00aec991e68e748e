"""A slice is scored as if its rows were all there is; its interval is that of the whole where it is the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.errors import MismatchError
from gapstack.evaluation import bootstrap, contributions, score
from gapstack.evaluation.slices import SLICE_SCORES, slice_scores

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
    made = slice_scores(
        corpus.groups,
        corpus.genders,
        {str(k): contributions(corpus, each) for k, each in enumerate(members)},
        {"part": np.array(parts)},
        replicates=3,
    )
    assert [found.value for found in made] == sorted(set(parts))
    for found in made:
        here = np.flatnonzero(np.array(parts) == found.value)
        taken = corpus.take(here)
        assert (found.rows, found.masculine) == (len(here), (taken.genders == "masculine").sum())
        for column, each in enumerate(members):
            expected = score(taken, each[here])
            ours = {key: values[column, 0] for key, values in found.scores.items()}
            for key in ("logloss", "accuracy", "f1_overall"):
                assert ours[key] == pytest.approx(expected.value(key))
            if found.masculine and found.feminine:
                assert ours["f1_gap"] == pytest.approx(expected.f1_feminine - expected.f1_masculine)
            else:
                assert np.isnan(ours["f1_gap"])


def planted(make_corpus, n=240):
    rng = np.random.default_rng(1)
    corpus = make_corpus(
        rng.integers(0, 3, n).tolist(), ["he", "she"] * (n // 2), [f"p{r // 3}" for r in range(n)]
    )
    sharp = np.where(corpus.genders == "masculine", 4.0, 1.0)[:, None]
    raw = np.exp(sharp * np.eye(3)[corpus.labels] + rng.normal(size=(n, 3)))
    return corpus, {"m": contributions(corpus, raw / raw.sum(axis=1, keepdims=True))}


def test_slice_of_everything_has_the_intervals_of_the_bootstrap(make_corpus):
    corpus, members = planted(make_corpus)
    (whole,) = slice_scores(
        corpus.groups,
        corpus.genders,
        members,
        {"all": np.full(len(corpus), "yes")},
        replicates=700,
        seed=9,
    )
    expected = bootstrap(corpus.groups, members, replicates=700, seed=9)
    for metric in ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine"):
        assert whole.scores[metric][0] == pytest.approx(list(expected.interval("m", metric)), rel=1e-4)
    assert set(whole.scores) == set(SLICE_SCORES)


def test_order_is_kept_and_rows_without_a_value_are_left_out(make_corpus):
    corpus, members = planted(make_corpus, 12)
    values = np.array(["near", "far", "", "odd"] * 3)
    made = slice_scores(
        corpus.groups,
        corpus.genders,
        members,
        {"distance": values},
        order={"distance": ("near", "far", "nowhere")},
        replicates=4,
    )
    assert [(found.value, found.rows) for found in made] == [("near", 3), ("far", 3), ("odd", 3)]


def test_a_dimension_of_other_rows_is_refused(make_corpus):
    corpus, members = planted(make_corpus, 12)
    with pytest.raises(MismatchError, match="dimension 'd'"):
        slice_scores(corpus.groups, corpus.genders, members, {"d": np.array(["x"])})
