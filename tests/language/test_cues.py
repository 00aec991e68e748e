"""Each cue and each of its back-offs, on trees whose answer is plain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.errors import DataNotFoundError
from gapstack.language import cues, parses
from gapstack.language.cues import OURS, PAPER, Cue, Definition, decide, sieve
from gapstack.language.scenes import Setting
from tests.trees import PARSER, corpus, example, keep, tree

# Ann met Eve . She left .
MET = "Ann/p/nsubj/1 met/v/ROOT/1 Eve/p/obj/1 ./u/punct/1|She/r/nsubj/1 left/v/ROOT/1"
# Ann 's friend met Eve . She left .
OWNER = "Ann/p/nmod:poss/2 's/a/case/0 friend/n/nsubj/3 met/v/ROOT/3 Eve/p/obj/3|She/r/nsubj/1 left/v/ROOT/1"
# Ann left with Eve and told her .
TOLD = (
    "Ann/p/nsubj/1 left/v/ROOT/1 with/a/case/3 Eve/p/obl/1 and/c/cc/5 told/v/conj/1 her/r/obj/5 ./u/punct/1"
)
WIKI = "http://en.wikipedia.org/wiki/"


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """The trees here give one text several parses, which no real parser does."""
    cues._cache.forget()


TWO, DETECTED = "gold-two-mention", "detected"


def one(doc, pronoun, cue, candidates=TWO, url=None, a="Ann", b="Eve", definition=OURS):
    keep(doc)
    rows = corpus(example(doc, pronoun, a, b, url))
    found = decide(rows, cue, Setting(candidates), PARSER, definition)
    return found.answers[0].tolist(), int(found.levels[0]), float(found.margins[0])


A, B, NONE = [True, False], [False, True], [False, False]


@pytest.mark.parametrize(("spec", "pronoun", "cue", "url", "answer", "level", "margin"), [
    pytest.param(MET, "She", Cue.TOKEN_DISTANCE, None, B, 0, 2, id="the fewest words between"),
    pytest.param(MET, "She", Cue.TOPICAL_ENTITY, None, B, 0, 2, id="no word is more frequent"),
    pytest.param(OWNER, "She", Cue.SYNTACTIC_DISTANCE, None, B, 0, 1, id="the shortest path"),
    pytest.param(MET, "She", Cue.SYNTACTIC_DISTANCE, None, B, 1, 2, id="paths tie: token distance"),
    pytest.param(TOLD, "her", Cue.SYNTACTIC_DISTANCE, None, B, 0, np.inf, id="the subject is barred"),
    pytest.param(MET, "She", Cue.PARALLELISM, None, A, 0, np.inf, id="a subject for a subject"),
    pytest.param(OWNER, "She", Cue.PARALLELISM, None, B, 1, 1, id="no parallel: syntactic distance"),
    pytest.param(TOLD, "her", Cue.PARALLELISM, None, B, 1, np.inf, id="an oblique is not parallel"),
    pytest.param(MET, "She", Cue.URL, WIKI + "Eve_Lee", B, 0, np.inf, id="the title names B"),
    pytest.param(MET, "She", Cue.URL, WIKI + "Bo", A, 1, np.inf, id="the title names nobody: parallelism"),
    pytest.param(MET, "She", Cue.URL, None, A, 1, np.inf, id="no page: parallelism"),
    pytest.param(TOLD, "her", Cue.URL, WIKI + "Ann_Lee", B, 2, np.inf, id="the title names who is barred"),
])  # fmt: skip
def test_cues_between_two_names(spec, pronoun, cue, url, answer, level, margin):
    assert one(tree(spec), pronoun, cue, url=url) == (answer, level, margin)


def test_where_both_names_are_barred_plain_closeness_decides():
    doc = tree("Ann/p/nsubj/3 and/c/cc/2 Eve/p/conj/0 saw/v/ROOT/3 her/r/obj/3")
    assert one(doc, "her", Cue.SYNTACTIC_DISTANCE) == (B, 2, 2)


def test_topical_entity_counts_the_words_of_all_names():
    # Ann Lee ; Eve ; Ann
    doc = tree(
        "Ann/p/nsubj/2 Lee/p/flat/0 met/v/ROOT/2 Eve/p/obj/2|Eve/p/nsubj/1 liked/v/ROOT/1 Ann/p/obj/1|"
        "Bo/p/nsubj/1 saw/v/ROOT/1 Ann/p/obj/1 and/c/cc/4 Eve/p/conj/2|She/r/nsubj/1 left/v/ROOT/1",
        persons=["Ann Lee", "Eve", "Ann", "Bo", "Ann"],
    )
    assert one(doc, "She", Cue.TOPICAL_ENTITY, DETECTED, a="Ann")[:2] == (A, 0)


DETECTED_WORDS = Definition(counted="detected")
# Ann met Bo . Ann saw Eve . She left .   (Eve is the nearer, Ann the more frequent)
TOPIC = (
    "Ann/p/nsubj/1 met/v/ROOT/1 Bo/p/obj/1|Ann/p/nsubj/1 saw/v/ROOT/1 Eve/p/obj/1|She/r/nsubj/1 left/v/ROOT/1"
)


@pytest.mark.parametrize(
    ("persons", "definition", "answer", "level"),
    [
        pytest.param(["Ann", "Bo", "Ann", "Eve"], DETECTED_WORDS, A, 0, id="Ann is detected twice"),
        pytest.param(["Bo"], DETECTED_WORDS, B, 1, id="neither name is frequent: token distance"),
        pytest.param([], DETECTED_WORDS, B, 1, id="nobody is detected: token distance"),
        pytest.param(["Ann", "Bo", "Ann", "Eve"], PAPER, B, 0, id="of A and B no word is more frequent"),
    ],
)
def test_topical_entity_of_two_names_counts_the_given_names(persons, definition, answer, level):
    assert one(tree(TOPIC, persons), "She", Cue.TOPICAL_ENTITY, definition=definition)[:2] == (answer, level)


def test_closest_parallel_name_by_words_or_by_path():
    # three words and six edges between Eve and "she", seven words and three edges between Ann and "she"
    doc = tree(
        "Ann/p/nsubj/1 knew/v/ROOT/1 that/c/mark/6 what/r/nsubj/6 Eve/p/nsubj/5 said/v/acl/3 hurt/v/ccomp/1 "
        "and/c/cc/9 she/r/nsubj/9 left/v/conj/1"
    )
    ours = one(doc, "she", Cue.PARALLELISM)
    assert ours[:2] == (A, 0)
    assert one(doc, "she", Cue.PARALLELISM, definition=PAPER)[:2] == (B, 0)
    # URL backs off to the same parallelism
    assert one(doc, "she", Cue.URL, url=WIKI + "Bo", definition=PAPER)[:2] == (B, 1)


def snippet(persons, cue=Cue.PARALLELISM, a="Ann", b="Eve", url=None):
    doc = tree(
        "Bo/p/nsubj/3 and/c/cc/2 Cy/p/conj/0 met/v/ROOT/3 Ann/p/obj/3 Lee/p/flat/4|She/r/nsubj/1 saw/v/ROOT/1 "
        "Eve/p/obj/1",
        persons,
    )
    return one(doc, "She", cue, DETECTED, url, a, b)


@pytest.mark.parametrize(
    ("persons", "answer", "level"),
    [
        pytest.param(["Bo", "Cy", "Ann Lee", "Eve"], NONE, 0, id="a third person wins: neither"),
        pytest.param(["Ann Lee", "Eve"], A, 1, id="part of the chosen name counts, and Eve is barred"),
        pytest.param(["Eve"], B, 3, id="only a barred name is left"),
        pytest.param([], NONE, -1, id="no PERSON at all"),
    ],
)
def test_all_detected_names_compete(persons, answer, level):
    assert snippet(persons)[:2] == (answer, level)


def test_token_distance_needs_no_parser(monkeypatch):
    doc = tree(MET)
    monkeypatch.setattr(parses, "_PROJECT_PARSERS", ())
    monkeypatch.delenv(parses.ENVIRONMENT, raising=False)
    rows = corpus(example(doc, "She", "Ann", "Eve"))
    assert decide(rows, Cue.TOKEN_DISTANCE).answers.tolist() == [B]
    with pytest.raises(DataNotFoundError, match="models/parser"):
        decide(rows, Cue.PARALLELISM)


@given(st.lists(st.floats(0, 50), min_size=1, max_size=6))
def test_the_nearest_wins(distances):
    winner, level, margin = sieve([np.array(distances)])
    assert distances[winner] == min(distances)
    assert level == 0
    assert margin >= 0
