"""The embedded sample has GAP's format and its shares of labels, genders and patterns; its parts share no page."""

from itertools import combinations

import pytest

from gapstack.data import sources

SIZES = {"train": 160, "test": 88}


@pytest.fixture(params=SIZES)
def part(request):
    return sources.sample()[request.param]


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
