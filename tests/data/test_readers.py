"""What is written is read back the same, whatever the text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import (
    Corpus,
    Example,
    Label,
    Span,
    read_gap,
    read_scorer_tsv,
    read_submission,
    write_gap,
    write_scorer_tsv,
    write_submission,
)
from gapstack.data.gap_files import MISSING
from gapstack.errors import DataError

SUFFIXES = st.sampled_from(["", ".gz", ".xz"])
# a cell of a table of lines: no tab, line break or NUL, and nothing that UTF-8 cannot write
WORDS = st.text(
    st.characters(exclude_characters="\t\r\n\0", exclude_categories=["Cs"]), min_size=1, max_size=8
)
LABELS = st.sampled_from(list(Label))
IDS = st.lists(WORDS.filter(str.strip), min_size=1, max_size=5, unique=True)


@st.composite
def corpora(draw, labels=LABELS):
    examples = []
    for i in draw(IDS):
        spans, text = [], ""
        for mention in draw(st.permutations([draw(WORDS), draw(WORDS), "Her"])):
            text += draw(WORDS)
            spans.append((mention, Span(len(text), len(text) + len(mention))))
            text += mention
        text += draw(WORDS)
        (_, pronoun), *names = sorted(spans, key=lambda pair: pair[0] != "Her")
        a, b = (span for _, span in names)
        examples.append(Example(i, text, pronoun, a, b, url=draw(st.none() | WORDS), label=draw(labels)))
    return Corpus(examples, name="written")


@settings(max_examples=40)
@given(corpora() | corpora(labels=st.none()), SUFFIXES)
def test_corpora_survive_writing_and_reading(tmp_path_factory, corpus, suffix):
    path = tmp_path_factory.mktemp("gap") / f"written.tsv{suffix}"
    write_gap(path, corpus)
    found = read_gap(path)
    assert found.examples == corpus.examples
    assert (found.name, found.fingerprint) == (corpus.name, corpus.fingerprint)
    assert found.label_fingerprint == corpus.label_fingerprint


@settings(max_examples=25)
@given(IDS, SUFFIXES, st.data())
def test_probabilities_survive_to_the_last_bit(tmp_path_factory, ids, suffix, data):
    numbers = st.floats(0, 1e6, allow_subnormal=True)
    rows = st.lists(numbers, min_size=3, max_size=3).filter(lambda row: sum(row) > 0)
    probabilities = np.array(data.draw(st.lists(rows, min_size=len(ids), max_size=len(ids))))
    path = tmp_path_factory.mktemp("submission") / f"s.csv{suffix}"
    write_submission(path, ids, probabilities)
    found = read_submission(path)
    assert found.ids == ids
    assert found.probabilities.dtype == np.float64
    np.testing.assert_array_equal(found.probabilities, probabilities)


@settings(max_examples=25)
@given(st.lists(st.tuples(WORDS.filter(str.strip), *[st.sampled_from([1, 0, MISSING])] * 2), min_size=1))
def test_decisions_survive_with_repeats_and_gaps(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("scorer") / "s.tsv"
    ids, decisions = [row[0] for row in rows], np.array([row[1:] for row in rows])
    if ids[0].lower() == "id":
        ids[0] = "row"
    write_scorer_tsv(path, ids, decisions)
    found = read_scorer_tsv(path)
    assert found.ids == ids
    np.testing.assert_array_equal(found.decisions, decisions)


def test_kaggle_format_is_what_is_written(tmp_path):
    path = tmp_path / "submission.csv"
    write_submission(path, ["r1", "r,2"], [[0.25, 0.5, 0.25], [1, 0, 1e-05]])
    assert path.read_text() == 'ID,A,B,NEITHER\nr1,0.25,0.5,0.25\n"r,2",1.0,0.0,1e-05\n'


@pytest.mark.parametrize("break_", ["\t", "\n", "\r", "\0"])
def test_texts_that_the_format_cannot_hold_are_not_written(tmp_path, sample_test, break_):
    first = sample_test[0]
    broken = Example(first.id, first.text + break_, first.pronoun, first.a, first.b)
    with pytest.raises(DataError, match="cannot write"):
        write_gap(tmp_path / "x.tsv", Corpus([broken]))
    assert not list(tmp_path.iterdir())


BAD_SUBMISSIONS = {
    "two columns": (["a"], [[0.5, 0.5]]),
    "rows": (["a", "b"], [[1, 0, 0]]),
    **{f"row {row}": (["a"], [row]) for row in ([np.nan, 1, 0], [np.inf, 1, 0], [-0.1, 1, 0.1], [0, 0, 0])},
    **{f"ids {ids}": (ids, [[1, 0, 0]] * len(ids)) for ids in (["a", "a"], [""], ["a\nb"])},
}


@pytest.mark.parametrize(("ids", "probabilities"), BAD_SUBMISSIONS.values(), ids=BAD_SUBMISSIONS)
def test_what_kaggle_would_refuse_is_not_written(tmp_path, ids, probabilities):
    with pytest.raises(DataError):
        write_submission(tmp_path / "x.csv", ids, probabilities)
    assert not list(tmp_path.iterdir())
