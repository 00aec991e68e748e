import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.errors import DataError, MismatchError
from gapstack.registry import UnknownNameError
from gapstack.scoring import (
    METRICS,
    bootstrap,
    bootstrap_label_sets,
    contributions,
    contributions_of_decisions,
    decisions,
    example_losses,
    permutation_test,
    resampling,
    score,
    score_decisions,
)

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["he", "her", "they"]), st.sampled_from("wxyz")),
    min_size=1,
    max_size=12,
)


def scored(scores) -> dict[str, float]:
    values = {name: scores.value(name) for name in METRICS}
    return {name: np.nan if value is None else value for name, value in values.items()}


@settings(max_examples=30)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_each_replicate_is_the_score_of_the_rows_it_drew(make_corpus, rows, seed) -> None:
    """Against a loop that builds each resampled corpus and scores it."""
    labels, pronouns, pages = (list(column) for column in zip(*rows, strict=True))
    corpus = make_corpus(labels, pronouns, pages)
    members = np.random.default_rng(seed).dirichlet([1, 1, 1], (2, len(rows)))
    made = bootstrap(
        corpus.groups,
        {
            "one": contributions(corpus, members[0]),
            "two": contributions(corpus, members[1]),
            "said": contributions_of_decisions(corpus, decisions(members[0])),
        },
        replicates=5,
        seed=seed,
    )
    names = sorted(set(pages))
    (weights,) = resampling.resamples(len(names), 5, seed)
    for replicate, drawn in enumerate(weights):
        assert drawn.sum() == len(names)
        times = [int(drawn[names.index(page)]) for page in pages]
        taken = np.repeat(np.arange(len(rows)), times)
        again = make_corpus(*([column[row] for row in taken] for column in (labels, pronouns)))
        expected = [
            *(scored(score(again, member[taken])) for member in members),
            scored(score_decisions(again, decisions(members[0])[taken])),
        ]
        for column, values in enumerate(expected):
            for name, value in values.items():
                found = made.samples[name][replicate, column]
                assert found == pytest.approx(value, abs=1e-9, nan_ok=True)
    for column, values in enumerate([scored(score(corpus, member)) for member in members]):
        for name, value in values.items():
            assert made.points[name][column] == pytest.approx(value, abs=1e-9, nan_ok=True)


@settings(max_examples=15)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_label_sets_together_are_each_by_itself(make_corpus, rows, seed) -> None:
    labels, pronouns, pages = (list(column) for column in zip(*rows, strict=True))
    generator = np.random.default_rng(seed)
    members = generator.dirichlet([1, 1, 1], (2, len(rows)))
    changed = [
        (label + change) % 3
        for label, change in zip(labels, generator.integers(0, 2, len(rows)), strict=True)
    ]
    sets = {}
    for name, each in {"first": labels, "same": labels, "other": changed}.items():
        corpus = make_corpus(each, pronouns, pages)
        said = contributions_of_decisions(corpus, decisions(members[1]))
        sets[name] = {"one": contributions(corpus, members[0]), "said": said}
    together = bootstrap_label_sets(corpus.groups, sets, replicates=20, seed=seed)
    for name, members_of_set in sets.items():
        alone = bootstrap(corpus.groups, members_of_set, replicates=20, seed=seed)
        for metric in METRICS:
            np.testing.assert_allclose(together[name].samples[metric], alone.samples[metric], atol=1e-9)
            np.testing.assert_allclose(together[name].points[metric], alone.points[metric], atol=1e-9)
    with pytest.raises(MismatchError, match="different members"):
        bootstrap_label_sets(corpus.groups, {"a": sets["first"], "b": {"one": sets["first"]["one"]}})


def test_mean_intervals_are_the_bootstraps(make_corpus) -> None:
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=50, right=0.8)
    made = bootstrap(corpus.groups, {"m": contributions(corpus, rows)}, replicates=600, seed=2)
    losses = example_losses(corpus.labels, rows)[:, None]
    found = resampling.mean_intervals(corpus.groups, losses, replicates=600, seed=2)
    assert found[0] == pytest.approx(list(made.interval("m", "logloss")))
    with pytest.raises(MismatchError, match="7 values"):
        resampling.mean_intervals(corpus.groups, losses[:7])


def planted(make_corpus, generator, pages: int, right: float, per_page: int = 3):
    """Corpus of A rows whose logloss and accuracy are those of a page-wide coin with chance ``right``."""
    n = pages * per_page
    corpus = make_corpus([0] * n, ["he", "she"] * (n // 2), [f"p{row // per_page}" for row in range(n)])
    hits = np.repeat(generator.random(pages) < right, per_page)
    return corpus, np.where(hits[:, None], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1])


def test_intervals_cover_the_truth_about_as_often_as_they_say(make_corpus) -> None:
    """95% intervals of 200 data sets; ignoring the pages would cover near 75%."""
    generator = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        corpus, rows = planted(make_corpus, generator, pages=100, right=0.7)
        made = bootstrap(corpus.groups, {"m": contributions(corpus, rows)}, replicates=400, seed=seed)
        _, low, high = made.interval("m", "accuracy")
        covered += low <= 0.7 <= high
    assert 0.90 <= covered / 200 <= 0.985


def test_permutation_p_is_uniform_where_nothing_differs(make_corpus) -> None:
    generator = np.random.default_rng(11)
    groups = np.repeat(np.arange(60), 2).astype(str)
    # pages differ, members do not: exchangeable by page
    noise = np.repeat(generator.normal(size=(300, 60)), 2, axis=1)
    p = permutation_test(groups, noise, np.zeros_like(noise), replicates=600, seed=3)
    for level in (0.05, 0.2, 0.5):
        assert (p <= level).mean() == pytest.approx(level, abs=0.07)


def test_planted_difference_is_found_and_its_sign_is_right(make_corpus) -> None:
    generator = np.random.default_rng(2)
    corpus, good = planted(make_corpus, generator, pages=300, right=0.9)
    _, bad = planted(make_corpus, generator, pages=300, right=0.7)
    made = bootstrap(
        corpus.groups,
        {"good": contributions(corpus, good), "bad": contributions(corpus, bad)},
        replicates=2000,
    )
    difference = made.difference("good", "bad", "logloss")
    assert difference.high < 0
    assert difference.p < 0.01
    backwards = made.difference("bad", "good", "logloss")
    assert (backwards.value, backwards.low) == pytest.approx((-difference.value, -difference.high))
    losses = [example_losses(corpus.labels, rows) for rows in (good, bad)]
    assert permutation_test(corpus.groups, *losses, replicates=2000) < 0.01


def test_member_against_itself_differs_by_nothing(make_corpus) -> None:
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=20, right=0.8)
    made = bootstrap(corpus.groups, dict.fromkeys("ab", contributions(corpus, rows)), replicates=200)
    assert made.difference("a", "b", "logloss") == (0, 0, 0, 1)
    losses = example_losses(corpus.labels, rows)
    assert permutation_test(corpus.groups, losses, losses, replicates=200) == 1


def test_seed_decides_and_other_members_do_not(make_corpus) -> None:
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=50, right=0.8)
    made = contributions(corpus, rows)
    alone = bootstrap(corpus.groups, {"a": made}, replicates=1200, seed=4)
    among = bootstrap(corpus.groups, {"b": made * 2, "a": made}, replicates=1200, seed=4)
    other = bootstrap(corpus.groups, {"a": made}, replicates=1200, seed=5)
    np.testing.assert_allclose(alone.samples["logloss"][:, 0], among.samples["logloss"][:, 1], rtol=1e-12)
    assert alone.interval("a", "logloss") != other.interval("a", "logloss")


def test_score_without_value_has_an_interval_without_value(make_corpus) -> None:
    corpus = make_corpus([0, 1], ["he", "he"])
    made = bootstrap(
        corpus.groups, {"m": contributions_of_decisions(corpus, np.ones((2, 2), bool))}, replicates=9
    )
    assert np.isnan(made.interval("m", "bias")).all()
    assert np.isnan(made.interval("m", "logloss")).all()
    assert np.isnan(made.difference("m", "m", "bias")).all()
    assert made.interval("m", "f1_masculine").value == pytest.approx(200 / 3)


def test_what_does_not_fit_is_refused(make_corpus) -> None:
    corpus, rows = planted(make_corpus, np.random.default_rng(0), pages=4, right=0.8)
    made = contributions(corpus, rows)
    with pytest.raises(DataError, match="nothing to resample"):
        bootstrap(corpus.groups, {})
    with pytest.raises(MismatchError, match="'m' have shape"):
        bootstrap(corpus.groups, {"m": made[1:]})
    with pytest.raises(UnknownNameError, match='no member is called "x"'):
        bootstrap(corpus.groups, {"m": made}, replicates=3).interval("x", "logloss")
    with pytest.raises(MismatchError, match="11 values for 12 rows"):
        permutation_test(corpus.groups, np.zeros(11), np.zeros(11))
