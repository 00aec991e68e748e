"""The seventeen features on a plain tree."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from gapstack.errors import DataNotFoundError
from gapstack.features import blocks as parse_features
from gapstack.features import positions as module
from gapstack.features.positions import CANDIDATE, SHARED, position_features
from gapstack.text.grammar import empty_parse
from tests.trees import PARSER, corpus, example, keep, tree

STORY = (
    "Ann/p/nsubj/2 Lee/p/flat/0 met/v/ROOT/2 Eve/p/obj/2 ./u/punct/2"
    "|Bo/p/nsubj/1 slept/v/ROOT/1 ./u/punct/1"
    "|His/r/nmod:poss/1 dog/n/nsubj/2 saw/v/ROOT/2 her/r/obj/2 ./u/punct/2"
)
URL = "http://en.wikipedia.org/wiki/Ann_Lee_(painter)"


@pytest.fixture(autouse=True)
def _nothing_remembered():
    module.position_features._cache.forget()


@pytest.fixture
def row():
    doc = tree(STORY)
    keep(doc)
    return example(doc, "her", "Ann Lee", "Eve", URL)


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("titled", 1, 0),
        ("place", 0, 12 / 47),
        ("sentence", 0, 0),
        ("depth", 0.1, 0.1),
        ("words", log(10) / 5, log(8) / 5),  # 9 and 7 words and marks between
        ("tree", 0.4, 0.4),  # 1 + two sentences + 1
    ],
)
def test_what_is_said_of_each_name(row, name, a, b):
    assert len(row.text) == 47
    found = position_features(corpus(row), PARSER)
    np.testing.assert_allclose(found.candidates[0, :, CANDIDATE.index(name)], [a, b])


@pytest.mark.parametrize(
    ("name", "value"),
    [("place", 41 / 47), ("sentence", 2 / 3), ("depth", 0.1), ("ab_words", log(2) / 5), ("feminine", 1)],
)
def test_what_is_said_of_the_row(row, name, value):
    found = position_features(corpus(row), PARSER)
    np.testing.assert_allclose(found.shared[0, SHARED.index(name)], value)


def test_seventeen_columns_and_no_side_taken(row):
    found = position_features(corpus(row), PARSER)
    assert 2 * len(found.candidate_names) + len(found.shared_names) == 17
    other = position_features(corpus(replace(row, a=row.b, b=row.a)), PARSER)
    np.testing.assert_array_equal(other.candidates, found.candidates[:, ::-1])
    np.testing.assert_array_equal(other.shared, found.shared)


def test_without_a_page_nobody_is_in_its_title(row):
    found = position_features(corpus(replace(row, url=None)), PARSER)
    assert (found.candidates[:, :, CANDIDATE.index("titled")] == 0).all()


def test_what_no_parse_tells_is_missing_and_the_rest_is_not(row, monkeypatch):
    monkeypatch.setattr(parse_features, "parses", lambda texts, parser: [empty_parse(text) for text in texts])
    found = position_features(corpus(row), PARSER)
    lost = [name in {"sentence", "depth", "tree"} for name in CANDIDATE]
    np.testing.assert_array_equal(np.isnan(found.candidates[0]), [lost, lost])
    assert np.isnan(found.shared[0]).sum() == 2


def test_a_text_that_nothing_can_parse_is_refused(row):
    with pytest.raises(DataNotFoundError):
        position_features(corpus(replace(row, text=row.text.replace("dog", "cat"))), "no_such_pipeline")
