"""Kinds of rows, and weights that balance the genders: the conditions hold, and no weights are more equal."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gapstack.comparison.strata import STRATA, balancing_weights, names_and_ranks, strata
from gapstack.data import Corpus, Example, Label
from gapstack.errors import DataError

TEXT = "His father told Tom that on the way to the old town hall Ann met Bob."


def test_names_are_counted_and_the_right_one_ranked_from_the_pronoun():
    rows = [Example.from_text(TEXT, "His", "Ann", "Bob", id=label.name, label=label) for label in Label]
    counts, ranks = names_and_ranks(Corpus(rows))
    assert counts.tolist() == [3, 3, 3]
    assert ranks.tolist() == [2, 3, 0], "Tom is nearer than Ann, Ann nearer than Bob"


def test_every_value_is_in_the_table(sample):
    for name, values in strata(sample).items():
        assert set(values) <= {"", *STRATA[name].values}
    counts, ranks = names_and_ranks(sample)
    assert (ranks <= counts).all()


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["masculine", "feminine"]), st.integers(0, 2), st.integers(0, 2), st.booleans()
    ),
    min_size=2,
    max_size=11,
)


def inequality(weights, genders) -> float:
    """Kocijan's objective: the larger weight of every pair of a gender, summed."""
    return sum(
        (np.sort(weights[genders == side]) * np.arange((genders == side).sum())).sum()
        for side in np.unique(genders)
    )


def by_pairs(genders, attributes) -> float | None:
    """The program as published, a variable for each row and each pair; its least objective."""
    n = len(genders)
    pairs = [(i, j) for i in range(n) for j in range(i) if genders[i] == genders[j]]
    above = np.zeros((2 * len(pairs), n + len(pairs)))
    for k, pair in enumerate(pairs):
        for row, end in enumerate(pair):
            above[2 * k + row, end], above[2 * k + row, n + k] = 1, -1
    sign = np.where(genders == "feminine", 1.0, -1.0)
    equal = [np.ones(n), sign, *(np.where(a == v, sign, 0) for a in attributes for v in np.unique(a))]
    solved = linprog(
        [0] * n + [1] * len(pairs),
        A_ub=above if pairs else None,
        b_ub=np.zeros(len(above)) if pairs else None,
        A_eq=np.column_stack([equal, np.zeros((len(equal), len(pairs)))]),
        b_eq=[n] + [0] * (len(equal) - 1),
    )
    return solved.fun if solved.success else None


@settings(max_examples=30)
@given(rows=ROWS)
def test_weights_make_the_genders_alike_and_are_as_equal_as_can_be(rows):
    genders, names, ranks, eligible = (np.array(column) for column in zip(*rows, strict=True))
    assume(len(np.unique(genders[eligible])) == 2)
    attributes = {"names": names, "rank": ranks}
    best = by_pairs(genders[eligible], [names[eligible], ranks[eligible]])
    if best is None:
        with pytest.raises(DataError, match="no weights make the genders alike"):
            balancing_weights(genders, attributes, eligible)
        return
    weights = balancing_weights(genders, attributes, eligible)
    assert (weights >= 0).all()
    assert not weights[~eligible].any()
    assert weights.sum() == pytest.approx(eligible.sum())
    for values in (np.zeros_like(names), names, ranks):
        for value in np.unique(values):
            sides = [
                weights[(values == value) & (genders == side)].sum() for side in ("masculine", "feminine")
            ]
            assert sides[0] == pytest.approx(sides[1], abs=1e-6)
    assert inequality(weights[eligible], genders[eligible]) == pytest.approx(best, abs=1e-5)


def test_one_gender_alone_is_refused():
    with pytest.raises(DataError, match="both genders"):
        balancing_weights(np.array(["masculine"] * 3), {"names": np.zeros(3, int)}, np.ones(3, bool))
