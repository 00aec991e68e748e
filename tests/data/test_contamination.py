"""Rows of test sets are known by their ids; what two corpora share is found, by its kind."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.data.contamination import known_test_sets, leaks, shared_with, warn_of_contamination

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
    ("contaminated_by", "ids", "words"),
    [
        (("winogender", "gap-stage2"), (STAGE2, "mine-1"), ["gap-stage2", "1 of these 2", "soft labels"]),
        (("gap-test",), ("test-1", "test-20"), ["gap-test", "2 of these 2"]),
        (("gap-stage2",), ("test-1", "development-3"), None),
        (("winogender",), ("test-1",), None),
    ],
)
def test_a_warning_says_what_was_learned_from(contaminated_by, ids, words, caplog):
    warn_of_contamination(contaminated_by, ids)
    assert len(caplog.messages) == (words is not None)
    assert all(word in caplog.messages[0] for word in words or ())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {"id", "page", "text", "passage"}),
        ({"id": "new"}, {"page", "text", "passage"}),
        ({"id": "new", "url": None}, {"text", "passage"}),
        ({"id": "new", "url": "http://elsewhere", "text": "x " * 400}, set()),
    ],
)
def test_a_planted_row_is_found_by_all_that_it_shares(sample_train, change, expected):
    rows = sample_train[:5]
    planted = Corpus([replace(sample_train[2], **change)], name="planted")
    found = shared_with(rows, planted)
    assert {kind for kind, shared in found.items() if shared.any()} == expected
    assert all(np.flatnonzero(shared).tolist() == [2] for shared in found.values() if shared.any())
    assert len(leaks(rows, planted)) == len(expected)
    assert all(line.startswith("1 of 5 rows") and "planted" in line for line in leaks(rows, planted))
