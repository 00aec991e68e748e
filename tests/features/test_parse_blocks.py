"""Feature blocks computed from parses: their columns on plain trees, and that exchanging A and B exchanges columns."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack import features as blocks
from gapstack.data import Corpus, Example
from gapstack.errors import DataNotFoundError
from gapstack.features import features, needs_parses
from gapstack.features.cue_features import cue_features
from gapstack.features.published import fill_the_gap_features, position_features
from gapstack.language.grammar import empty_parse
from gapstack.members import create
from tests.trees import PARSER, corpus, example, keep, tree

WIKI = "http://en.wikipedia.org/wiki/"
START = "Ann/p/nsubj/2 Lee/p/flat/0 met/v/ROOT/2 Eve/p/obj/2"
BO = "|Bo/p/nsubj/1 slept/v/ROOT/1 ./u/punct/1"
# block: parse, PERSON names, pronoun, page
STORIES = {
    cue_features: (
        f"{START} in/a/case/5 Rome/p/obl/2 ./u/punct/2{BO}"
        "|When/x/mark/2 she/r/nsubj/2 left/v/advcl/7 ,/u/punct/2 Ann/p/nmod:poss/6 's/a/case/4 friend/n/nsubj/7 "
        "called/v/ROOT/7 ./u/punct/7",
        ["Ann Lee", "Eve", "Bo", "Ann"],
        "she",
        WIKI + "Eve",
    ),
    # Mia is barred: an argument of the pronoun's predicate
    fill_the_gap_features: (
        f"{START} ./u/punct/2{BO}|She/r/nsubj/1 saw/v/ROOT/1 Mia/p/obj/1 ./u/punct/1",
        ["Ann Lee", "Eve", "Bo", "Mia"],
        "She",
        WIKI + "Eve_Lee",
    ),
    position_features: (
        f"{START} ./u/punct/2{BO}|His/r/nmod:poss/1 dog/n/nsubj/2 saw/v/ROOT/2 her/r/obj/2 ./u/punct/2",
        [],
        "her",
        WIKI + "Ann_Lee_(painter)",
    ),
}


@pytest.fixture(params=STORIES, ids=["cues", "fill_the_gap", "positions"])
def block(request):
    request.param._cache.forget()
    return request.param


@pytest.fixture
def story(block):
    words, persons, pronoun, url = STORIES[block]
    doc = tree(words, persons)
    keep(doc)
    return corpus(example(doc, pronoun, "Ann Lee", "Eve", url))


def assert_symmetric(block, rows, *parser):
    plain, swapped = (block(each, *parser) for each in (rows, rows.map(lambda e: replace(e, a=e.b, b=e.a))))
    np.testing.assert_allclose(swapped.candidates, plain.candidates[:, ::-1])
    np.testing.assert_allclose(swapped.shared, plain.shared)


def test_exchanging_the_names_exchanges_their_columns(block, story, sample):
    assert_symmetric(block, story, PARSER)
    try:
        assert_symmetric(block, sample[:60])
    except DataNotFoundError as missing:
        pytest.skip(str(missing))


def test_without_tokens_what_a_parse_shows_is_missing(block, story, monkeypatch):
    monkeypatch.setattr(blocks, "parses", lambda texts, parser: [empty_parse(text) for text in texts])
    found = block(story, PARSER)
    kept = {cue_features: 0, fill_the_gap_features: 1, position_features: 3}[block]
    assert np.isfinite(found.candidates[0]).sum(axis=1).tolist() == [kept, kept]
    assert np.isfinite(found.shared).sum() == {position_features: 3}.get(block, 0)


def test_no_rows_give_empty_tables(block):
    found = block(corpus(), PARSER)
    assert found.candidates.shape == (0, 2, len(found.candidate_names))
    assert found.shared.shape == (0, len(found.shared_names))


@pytest.mark.parametrize("block", [fill_the_gap_features], indirect=True)
def test_a_barred_name_has_no_scores(block, story):
    barred = story.map(lambda e: replace(e, b=type(e.b)(e.text.index("Mia"), e.text.index("Mia") + 3)))
    found = block(barred, PARSER).candidates[0]
    assert found[1, block(barred, PARSER).candidate_names.index("gap_commanded")] == 1
    assert np.isnan(found[1, 2:]).all()
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize("block", [position_features], indirect=True)
def test_a_row_without_url_matches_no_title_and_a_missing_parser_is_an_error(block, story):
    row = story[0]
    assert (block(corpus(replace(row, url=None)), PARSER).candidates[:, :, 0] == 0).all()
    with pytest.raises(DataNotFoundError):
        block(corpus(replace(row, text=row.text.replace("dog", "cat"))), "no_such_pipeline")


def test_the_block_gender_is_the_pronouns_gender(sample_train, tiny_encoder_folder):
    rows = [
        Example.from_text(f"Kate told Mary that {p} left.", p, "Kate", "Mary") for p in ("she", "he", "they")
    ]
    found = features(Corpus(rows), ["gender"])
    assert found.shared.tolist() == [[1.0], [0.0], [0.5]]
    assert found.candidates.shape == (3, 2, 0)
    assert features(Corpus([]), ["gender"]).shared.shape == (0, 1)
    assert not needs_parses("gender")
    # a block without columns of the names is enough for a head
    member = create("siamese", encoder=str(tiny_encoder_folder), blocks=["gender"], training={"epochs": 1})
    assert member.fit(sample_train[:40]).predict_proba(sample_train[40:50]).shape == (10, 3)
