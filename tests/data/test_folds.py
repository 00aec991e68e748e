"""Folds keep pages whole and strata even, and know the corpus they belong to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Label
from gapstack.data.folds import make_folds
from gapstack.errors import DataError

PAGE = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["he", "her"])), min_size=1, max_size=4)
# with 24 pages the commonest of the six kinds of rows has one for each of four folds
ROWS = st.lists(PAGE, min_size=24, max_size=40).map(
    lambda pages: [(*row, number) for number, page in enumerate(pages) for row in page]
)


def corpus_of(rows):
    """Examples "<pronoun> Ann Bob" with the labels, pronouns and pages given."""
    return Corpus(
        Example.from_text(
            f"{pronoun} Ann Bob", pronoun, "Ann", "Bob", id=f"r{row}", url=f"page {page}", label=Label(label)
        )
        for row, (label, pronoun, page) in enumerate(rows)
    )


def plain(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return corpus_of(
        [(int(rng.integers(3)), "he" if rng.random() < 0.5 else "her", row // 2) for row in range(n)]
    )


@settings(max_examples=40)
@given(ROWS, st.integers(2, 4), st.integers(0, 5))
def test_every_row_is_held_out_once_and_no_page_is_torn(rows, k, seed):
    corpus = corpus_of(rows)
    folds = make_folds(corpus, k, seed=seed)
    held = [folds.split(fold)[1] for fold in range(k)]
    assert sorted(np.concatenate(held).tolist()) == list(range(len(corpus)))
    for fold in range(k):
        fitted, out = folds.split(fold)
        assert not set(corpus.groups[fitted]) & set(corpus.groups[out])
        assert sorted([*fitted, *out]) == list(range(len(corpus)))


def test_gender_and_label_are_even_on_gap(gap_splits):
    corpus = gap_splits["development"] + gap_splits["validation"]
    strata = np.char.add(corpus.genders, corpus.labels.astype(str))
    folds = make_folds(corpus, 5, seed=1)
    for stratum in np.unique(strata):
        counts = [int((strata[folds.split(fold)[1]] == stratum).sum()) for fold in range(5)]
        assert max(counts) - min(counts) <= 2, (stratum, counts)


def test_a_copy_is_in_the_fold_of_its_row():
    rows = [replace(row, url=None, text=f"{row.text} {row.id}") for row in plain(n=30)]
    copies = [replace(row, id=f"{row.id}~swap_names", text=f"{row.text} .") for row in rows]
    folds = make_folds(Corpus([*rows, *copies]), 5)
    assert folds.assignment[:30].tolist() == folds.assignment[30:].tolist()


def test_folds_need_labels_and_enough_rows():
    for k in (1, 0, 61):
        with pytest.raises(DataError, match="folds"):
            make_folds(plain(), k)
    with pytest.raises(DataError, match="no label"):
        make_folds(plain().unlabelled())
