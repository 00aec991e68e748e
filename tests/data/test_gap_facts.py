"""What is known of the real corpus, so that a change of a file or of a reader shows."""

from itertools import combinations

import numpy as np
import pytest

from gapstack.data import Gender, read_gap, read_scorer_tsv, read_submission, sources
from gapstack.data.datasets import DATASETS
from gapstack.files import sha256


@pytest.fixture(scope="module")
def stage2(gap_folder):
    return sources.stage2(gap_folder)


@pytest.mark.parametrize(
    ("split", "counts"),
    [("development", [874, 925, 201]), ("validation", [187, 205, 62]), ("test", [918, 855, 227])],
)
def test_rows_labels_genders_and_sums_of_gap(gap_folder, gap_splits, split, counts):
    corpus = gap_splits[split]
    assert np.bincount(corpus.labels).tolist() == counts
    assert (corpus.genders == Gender.FEMININE).mean() == 0.5
    assert sha256(gap_folder / "gap" / f"gap-{split}.tsv") == DATASETS[f"gap-{split}"].files[0].sha256
    assert all(example.a.end <= example.b.start and example.url for example in corpus)


def test_splits_share_nothing_and_stage_2_one_text_with_the_test_split(gap_splits, stage2):
    """Two pages of Wikipedia had the same paragraph, so one stage-2 row has a public label under another id."""
    for one, other in combinations(gap_splits.values(), 2):
        assert not set(one.groups) & set(other.groups)
        assert not set(one.texts) & set(other.texts)
    assert not any(example.label is not None for example in stage2)
    texts = set(stage2.texts)
    for corpus in gap_splits.values():
        assert not set(corpus.groups) & set(stage2.groups)
    assert [e.id for corpus in gap_splits.values() for e in corpus if e.text in texts] == ["test-1552"]


def test_every_mention_stands_where_its_offset_says(gap_folder, gap_splits, stage2):
    """Against the cells themselves, split here by hand."""
    files = {f"gap/gap-{split}.tsv": corpus for split, corpus in gap_splits.items()}
    seen = 0
    for file, corpus in (files | {"gap_stage2/test_stage_2.tsv": stage2}).items():
        header, *lines = (gap_folder / file).read_text(encoding="utf-8").split("\n")[:-1]
        names = header.split("\t")
        for example, line in zip(corpus, lines, strict=True):
            cells = dict(zip(names, line.split("\t"), strict=True))
            assert (example.id, example.text, example.url) == (cells["ID"], cells["Text"], cells["URL"])
            for name, span in (("Pronoun", example.pronoun), ("A", example.a), ("B", example.b)):
                assert example.words(span) == cells[name]
                assert span.start == int(cells[f"{name}-offset"])
            seen += 1
    assert seen == 2000 + 454 + 2000 + 12359


def test_every_submission_is_read(gap_folder):
    sizes = {
        str(path.relative_to(gap_folder)): len(read_submission(path).ids)
        for path in sorted((gap_folder / "submissions").glob("*/*.csv"))
    }
    of_gap = [size for name, size in sizes.items() if "stage2" not in name]
    assert sorted(of_gap) == [1998] + [2000] * 50
    assert [size for name, size in sizes.items() if "stage2" in name] == [11599] * 7


@pytest.mark.parametrize("split", sources.SPLITS)
def test_scorer_rows_of_the_resolver_are_read_in_the_corpus_order(gap_folder, gap_splits, split):
    rows = read_scorer_tsv(gap_folder / "resolvers" / f"neuralcoref_hf_{split}.pred.tsv")
    assert rows.ids == gap_splits[split].ids
    assert set(np.unique(rows.decisions)) <= {-1, 0, 1}


def test_the_extra_neither_rows_repeat_gap_test(gap_folder, gap_splits):
    corpus = read_gap(gap_folder / "gap" / "neither_attree.tsv")
    assert len(corpus) == 253
    assert set(corpus.labels) == {2}
    assert set(corpus.ids) <= set(gap_splits["test"].ids)
