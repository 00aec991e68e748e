"""What is known of the real corpus and of the embedded sample, so that a change of a file or of a reader shows."""

from itertools import combinations

import numpy as np
import pytest

from gapstack.data import Gender, gap_data
from gapstack.data.sources import DATASETS
from gapstack.files import sha256


@pytest.fixture(scope="module")
def stage2():
    return gap_data.stage2()


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


SIZES = {"train": 160, "test": 88}


@pytest.fixture(params=SIZES)
def part(request):
    return gap_data.sample()[request.param]


def test_rows_are_well_formed(part):
    name = part.name.removeprefix("gap-sample-")
    assert part.ids == [f"sample-{name}-{i}" for i in range(1, SIZES[name] + 1)]
    for example in part:
        assert example.a < example.b
        assert example.a_text != example.b_text
        assert example.pronoun_text.lower() in {"she", "her", "he", "his", "him"}
        assert example.url.startswith("http://en.wikipedia.org/wiki/")
        assert 40 <= len(example.text.split()) <= 110
        for start, end in (example.pronoun, example.a, example.b):
            assert not (example.text[start - 1 : start] + example.text[end : end + 1]).isalnum()


def test_no_page_or_text_is_in_both_parts(sample_train, sample_test):
    assert not set(sample_train.groups) & set(sample_test.groups)
    texts = sample_train.texts + sample_test.texts
    assert len(set(texts)) == len(texts)
    grams = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in map(str.split, texts)]
    assert max(len(one & other) / len(one | other) for one, other in combinations(grams, 2)) < 0.2
