"""The embedded sample has GAP's format and its shares of labels, genders and patterns; its parts share no page."""

from collections import Counter
from itertools import combinations

import pytest

from gapstack.data import Label, sources

SIZES = {"train": 160, "test": 88}
LABEL_SHARES = {Label.A: 0.44, Label.B: 0.46, Label.NEITHER: 0.10}
# Webster et al. (2018), section 3.1: where the pronoun stands among the two names
PATTERN_SHARES = {"FinalPro": 0.75, "MedialPro": 0.12, "InitialPro": 0.13}


@pytest.fixture(params=SIZES)
def part(request):
    return sources.sample()[request.param]


def pattern(example):
    if example.pronoun > example.b:
        return "FinalPro"
    return "MedialPro" if example.pronoun > example.a else "InitialPro"


def assert_shares(counts, shares, tolerance):
    for key, share in shares.items():
        assert counts[key] / counts.total() == pytest.approx(share, abs=tolerance), (key, counts)


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


def test_labels_genders_and_patterns_have_gaps_shares(part):
    genders = Counter(part.genders.tolist())
    assert genders["feminine"] == genders["masculine"]
    for gender in genders:
        labels = Counter(example.label for example in part if example.gender == gender)
        assert_shares(labels, LABEL_SHARES, 0.03)
    assert_shares(Counter(map(pattern, part)), PATTERN_SHARES, 0.02)


def test_no_page_or_text_is_in_both_parts(sample_train, sample_test):
    assert not set(sample_train.groups) & set(sample_test.groups)
    texts = sample_train.texts + sample_test.texts
    assert len(set(texts)) == len(texts)
    grams = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in map(str.split, texts)]
    assert max(len(one & other) / len(one | other) for one, other in combinations(grams, 2)) < 0.2
