"""The seventeen features on a plain tree, and that they take no side."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.errors import DataNotFoundError
from gapstack.features import blocks as parse_features
from gapstack.features import fill_the_gap as module
from gapstack.features.fill_the_gap import CANDIDATE, SHARED, fill_the_gap_features
from gapstack.text.grammar import empty_parse
from tests.trees import PARSER, corpus, example, keep, tree

# "Ann Lee met Eve . Bo slept . She saw Mia ." - Mia is barred: an argument of the pronoun's predicate
STORY = (
    "Ann/p/nsubj/2 Lee/p/flat/0 met/v/ROOT/2 Eve/p/obj/2 ./u/punct/2"
    "|Bo/p/nsubj/1 slept/v/ROOT/1 ./u/punct/1"
    "|She/r/nsubj/1 saw/v/ROOT/1 Mia/p/obj/1 ./u/punct/1"
)
PERSONS = ["Ann Lee", "Eve", "Bo", "Mia"]
# edges to "She": Ann and Eve 1 + two steps between sentences + 1, Bo 1 + one step + 1
TREE = {"Ann": 4.0, "Eve": 4.0, "Bo": 3.0}
# characters to "She" at 29
CHARS = {"Ann": 29.0, "Eve": 17.0, "Bo": 11.0}


@pytest.fixture(autouse=True)
def _nothing_remembered():
    module.fill_the_gap_features._cache.forget()


@pytest.fixture
def story():
    doc = tree(STORY, PERSONS)
    keep(doc)
    row = example(doc, "She", "Ann Lee", "Eve", "http://en.wikipedia.org/wiki/Eve_Lee")
    assert row.pronoun.start - row.text.index("Bo") == CHARS["Bo"]
    return corpus(row)


def near(distances: dict[str, float], name: str) -> float:
    return sum(distances.values()) / 3 - distances[name]


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("title_chars", 3, 3),  # "Lee" and "Eve"
        ("commanded", 0, 0),
        ("parallel", 1, 0),
        ("theta", 1.0, 0.8),
        ("tree", near(TREE, "Ann"), near(TREE, "Eve")),
        ("chars", near(CHARS, "Ann"), near(CHARS, "Eve")),
    ],
)
def test_what_is_said_of_each_name(story, name, a, b):
    found = fill_the_gap_features(story, PARSER)
    np.testing.assert_allclose(found.candidates[0, :, CANDIDATE.index(name)], [a, b])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("other_parallel", 1),
        ("other_theta", 1.0),
        ("other_tree", near(TREE, "Bo")),
        ("other_chars", near(CHARS, "Bo")),
        ("candidates", 3),
    ],
)
def test_what_is_said_of_the_row(story, name, value):
    found = fill_the_gap_features(story, PARSER)
    np.testing.assert_allclose(found.shared[0, SHARED.index(name)], value)


def test_they_are_seventeen():
    assert 2 * len(CANDIDATE) + len(SHARED) == 17


def test_a_barred_name_has_no_scores(story):
    barred = story.map(lambda e: replace(e, b=type(e.b)(e.text.index("Mia"), e.text.index("Mia") + 3)))
    found = fill_the_gap_features(barred, PARSER).candidates[0]
    assert found[1, CANDIDATE.index("commanded")] == 1
    assert np.isnan(found[1, 2:]).all()
    assert np.isfinite(found[0]).all()


def test_exchanging_the_names_exchanges_their_columns(sample):
    try:
        plain = fill_the_gap_features(sample[:60])
    except DataNotFoundError as missing:
        pytest.skip(str(missing))
    swapped = fill_the_gap_features(sample[:60].map(lambda e: replace(e, a=e.b, b=e.a)))
    np.testing.assert_allclose(swapped.candidates, plain.candidates[:, ::-1])
    np.testing.assert_allclose(swapped.shared, plain.shared)


def test_a_row_that_the_parse_has_no_token_for_keeps_its_title(story, monkeypatch):
    monkeypatch.setattr(parse_features, "parses", lambda texts, parser: [empty_parse(t) for t in texts])
    found = fill_the_gap_features(story, PARSER)
    np.testing.assert_array_equal(found.candidates[0, :, 0], [3, 3])
    assert np.isnan(found.candidates[0, :, 1:]).all()
    assert np.isnan(found.shared).all()


def test_no_rows_give_empty_tables():
    found = fill_the_gap_features(corpus(), PARSER)
    assert found.candidates.shape == (0, 2, 6)
    assert found.shared.shape == (0, 5)
