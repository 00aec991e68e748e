"""Nothing is shared between GAP's splits; what is planted is found, by its kind."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.data.contamination import leaks, shared_with


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


def test_gap_splits_share_no_row_page_or_text(gap_splits):
    found = shared_with(gap_splits["validation"], gap_splits["test"])
    assert not found["id"].any() | found["page"].any() | found["text"].any()
