"""The feature block ``cues``: what its columns say on plain trees, and that it takes no side."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.features import blocks as parse_features
from gapstack.features import cues as module
from gapstack.features.cue_names import CANDIDATE
from gapstack.features.cues import SHARED, cue_features
from gapstack.text.grammar import Role
from tests.trees import PARSER, corpus, example, keep, tree

# Ann Lee met Eve in Rome . Bo slept . When she left , Ann 's friend called .
STORY = (
    "Ann/p/nsubj/2 Lee/p/flat/0 met/v/ROOT/2 Eve/p/obj/2 in/a/case/5 Rome/p/obl/2 ./u/punct/2"
    "|Bo/p/nsubj/1 slept/v/ROOT/1 ./u/punct/1"
    "|When/x/mark/2 she/r/nsubj/2 left/v/advcl/7 ,/u/punct/2 Ann/p/nmod:poss/6 's/a/case/4 friend/n/nsubj/7 "
    "called/v/ROOT/7 ./u/punct/7"
)
PERSONS = ["Ann Lee", "Eve", "Bo", "Ann"]


@pytest.fixture(autouse=True)
def _nothing_remembered():
    module.cue_features._cache.forget()


@pytest.fixture
def story():
    doc = tree(STORY, PERSONS)
    keep(doc)
    return corpus(example(doc, "she", "Ann Lee", "Eve", "http://en.wikipedia.org/wiki/Eve"))


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("path", 5, 5),  # two edges up to "called", two sentence links, one edge down
        ("clauses", 3, 3),
        ("function", Role.SUBJECT, Role.OBJECT),
        ("parallel", 1, 0),
        ("theta", 1.0, 0.8),
        ("main_subject", 1, 0),
        ("mentions", 2, 1),  # "Ann 's friend" is Ann Lee's second
        ("subjects", 1, 0),
        ("salience", 0.25, 0.2),  # two sentences back
        ("centre", 0, 0),  # Bo's sentence lies between
        ("person", 1, 1),
        ("commands", 0, 0),
        ("commands_rival", 1, 0),
        ("chosen_parallel", 0, 0),  # Bo is nearer
        ("chosen_url", 0, 1),
        ("nearer_parallel", 1, 1),  # Bo
    ],
)
def test_what_is_said_of_each_name(story, name, a, b):
    found = cue_features(story, PARSER)
    assert found.candidates[0, :, found.candidate_names.index(f"cue_{name}")].tolist() == [a, b]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("p_role", Role.SUBJECT),
        ("p_fronted", 1),
        ("p_clause_depth", 1),
        ("p_own_subject", 1),
        ("ab_path", 2),
        ("ab_clause", 1),
        ("people", 4),
        ("thirds", 1),
        ("third_parallel", 1),
        ("third_url", 0),
        ("third_titled", 0),
        ("companions", 0),
    ],
)
def test_what_is_said_of_the_row(story, name, value):
    found = cue_features(story, PARSER)
    assert found.shared[0, found.shared_names.index(f"cue_{name}")] == value


def test_exchanging_the_names_exchanges_their_columns(story):
    plain = cue_features(story, PARSER)
    swapped = cue_features(story.map(lambda e: replace(e, a=e.b, b=e.a)), PARSER)
    assert np.array_equal(swapped.candidates, plain.candidates[:, ::-1], equal_nan=True)
    assert np.array_equal(swapped.shared, plain.shared, equal_nan=True)


def test_the_sample_takes_no_side(sample):
    from gapstack.errors import DataNotFoundError

    try:
        plain = cue_features(sample[:60])
    except DataNotFoundError as missing:
        pytest.skip(str(missing))
    swapped = cue_features(sample[:60].map(lambda e: replace(e, a=e.b, b=e.a)))
    assert np.array_equal(swapped.candidates, plain.candidates[:, ::-1], equal_nan=True)
    assert np.array_equal(swapped.shared, plain.shared, equal_nan=True)
    assert not np.isnan(plain.candidates).all(axis=(1, 2)).any()


def test_a_row_that_the_parse_has_no_token_for_is_unknown_throughout(monkeypatch):
    doc = tree("Ann/p/nsubj/1 met/v/ROOT/1 Eve/p/obj/1 ./u/punct/1 She/r/nsubj/5 left/v/parataxis/1")
    row = example(doc, "She", "Ann", "Eve")
    from gapstack.text.grammar import empty_parse

    monkeypatch.setattr(parse_features, "parses", lambda texts, parser: [empty_parse(t) for t in texts])
    found = cue_features(corpus(row), PARSER)
    assert np.isnan(found.candidates).all()
    assert np.isnan(found.shared).all()
    assert found.candidates.shape == (1, 2, len(CANDIDATE))
    assert found.shared.shape == (1, len(SHARED))


def test_no_rows_give_empty_tables():
    found = cue_features(corpus(), PARSER)
    assert found.candidates.shape == (0, 2, len(CANDIDATE))
    assert found.shared.shape == (0, len(SHARED))
