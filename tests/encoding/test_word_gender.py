"""Words of a list, the direction of gender and who leans to it, on spaces where they are known."""

import numpy as np
import pytest

from gapstack.encoding.static_vectors import Vectors
from gapstack.encoding.word_gender import (
    he_she,
    locate,
    most_biased,
    neutral_rows,
    principal_direction,
)
from gapstack.errors import DataError
from tests.planted_spaces import LISTS, planted


class TestDirection:
    @pytest.mark.parametrize("direction", [principal_direction, lambda s, p: he_she(s)])
    def test_a_space_in_which_pairs_do_not_differ_has_none(self, direction):
        space, _ = planted()
        with pytest.raises(DataError, match="direction"):
            direction(space.changed(np.ones_like(space.matrix), "flat"), np.array([[0, 1], [2, 3]]))


class TestLookup:
    SPACE = Vectors("small", ("Mary", "john", "us"), np.eye(3))

    def test_exact_words_come_before_their_lower_case_and_what_is_missing_is_listed(self):
        rows, coverage = locate(self.SPACE, ["Mary", "John", "Ann"], "names")
        assert rows.tolist() == [0, 1]
        assert (coverage.missing, coverage.size, str(coverage)) == (("Ann",), 3, "names: 2 of 3 (67%)")

    def test_too_little_is_refused_with_the_coverage(self):
        with pytest.raises(DataError, match=r"names: 1 of 3 \(33%\)") as refused:
            locate(self.SPACE, ["Mary", "Ann", "Bob"], "names")
        assert "Ann, Bob" in str(refused.value)


class TestMostBiased:
    def test_sides_are_the_ends_of_the_difference_of_she_and_he(self):
        space, _ = planted(800)
        found = most_biased(space, LISTS, 60)
        along = space.unit @ he_she(space)
        neutral = neutral_rows(space, LISTS)
        order = sorted(neutral, key=lambda row: along[row])
        assert set(found.rows[found.feminine]) == set(order[-60:])
        assert set(found.rows[~found.feminine]) == set(order[:60])

    def test_fewer_are_taken_from_few_words_and_too_few_are_refused(self):
        assert (
            "100 words of either side (the papers take 500; there are 400"
            in most_biased(planted(400)[0], LISTS, 500).note
        )
        with pytest.raises(DataError, match=r"has 150 neutral words \(75%"):
            most_biased(planted(150)[0], LISTS, 500)

    def test_gendered_words_numbers_and_capitals_are_not_neutral(self):
        words = ("he", "beard", "Nun", "tree", "Tree", "a1", "x" * 20)
        space = Vectors("some", words, np.eye(len(words)))
        assert [space.words[row] for row in neutral_rows(space, LISTS)] == ["tree"]
