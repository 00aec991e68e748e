"""The bins of "agreement with gold" count the pairs of footnote 21: the right name's, or both of a Neither row."""

import numpy as np
import pytest

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.errors import DataError
from gapstack.reproduce.difficulty import agreement_with_gold


def corpus(labels: str) -> Corpus:
    spans = (Span(0, 3), Span(4, 7), Span(8, 11))
    return Corpus(
        Example(f"r{i}", "she Ann Bob", *spans, label=Label("ABN".index(c))) for i, c in enumerate(labels)
    )


def said(answers: str) -> np.ndarray:
    """A or B, N for neither, 2 for both."""
    return np.array([[c in "A2", c in "B2"] for c in answers])


# gold, what three systems say, pairs right by 3, 2, 1 and 0 of them
BINS = [
    ("ABN", ("ABN", "ABN", "ABN"), (4, 0, 0, 0)),
    ("AB", ("BA", "NN", "BA"), (0, 0, 0, 2)),
    ("AB", ("22", "22", "22"), (2, 0, 0, 0)),  # the other name's pair does not count
    ("N", ("A", "A", "B"), (0, 1, 1, 0)),  # both pairs of a Neither row do
    ("N", ("2", "2", "2"), (0, 0, 0, 2)),
    ("AAAA", ("AAAN", "AANN", "ANNN"), (1, 1, 1, 1)),
]


@pytest.mark.parametrize(("gold", "systems", "bins"), BINS)
def test_pairs_fall_into_the_bin_of_how_many_systems_are_right(gold, systems, bins):
    found = agreement_with_gold(corpus(gold), {str(i): said(s) for i, s in enumerate(systems)})
    assert tuple(found.counts) == bins
    assert found.shares.sum() == pytest.approx(100)
    assert found.average == pytest.approx(np.dot(bins, (3, 2, 1, 0)) / sum(bins))
    assert found.colours() == ["Green", "Yellow", "Yellow", "Red"]


def test_red_pairs_are_named_by_row_and_name():
    found = agreement_with_gold(corpus("ABN"), {"one": said("NBB"), "other": said("BAB")})
    assert found.red.tolist() == [[0, 0], [2, 1]]


def test_the_papers_number_of_pairs(gap_splits):
    found = agreement_with_gold(gap_splits["development"], {"none": np.zeros((2000, 2), dtype=bool)})
    assert found.counts.tolist() == [402, 1799]  # 2,201 by footnote 21


def test_decisions_of_another_length_and_no_system_are_refused():
    with pytest.raises(DataError, match="shape"):
        agreement_with_gold(corpus("AB"), {"short": said("A")})
    with pytest.raises(DataError, match="at least one"):
        agreement_with_gold(corpus("AB"), {})
