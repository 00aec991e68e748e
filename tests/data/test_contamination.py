"""Rows of test sets are known by their ids, whoever learned from them."""

import pytest

from gapstack.data.contamination import known_test_sets, warn_of_contamination

STAGE2 = "000075809a8e6b062f5fb3c191a8ed52"


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (("test-1", "development-20", "test-3"), ("gap-development", "gap-test")),
        ((STAGE2,), ("gap-stage2",)),
        (("mine-1", "mytest-1", "test-1~swap_gender", STAGE2[1:]), ()),
        ((), ()),
    ],
)
def test_the_sets_that_rows_are_of(ids, names):
    assert known_test_sets(iter(ids)) == names


@pytest.mark.parametrize(
    ("contaminated_by", "ids", "warning"),
    [
        (
            ("winogender", "gap-stage2"),
            (STAGE2, "mine-1"),
            "the predictor learned from data that share rows with gap-stage2, and 1 of these 2 rows have its ids "
            "(soft labels of these rows were trained on). A score on them means nothing",
        ),
        (
            ("gap-test",),
            ("test-1", "test-20"),
            "the predictor learned from data that share rows with gap-test, and 2 of these 2 rows have its ids. "
            "A score on them means nothing",
        ),
        (("gap-stage2",), ("test-1", "development-3"), None),
        (("winogender",), ("test-1",), None),
        ((), (STAGE2,), None),
    ],
)
def test_a_warning_says_what_was_learned_from(contaminated_by, ids, warning, caplog):
    warn_of_contamination(contaminated_by, ids)
    assert caplog.messages == ([warning] if warning else [])
