"""Red pairs can be annotated and read again, and the text's statistics count what they say."""

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import DataError
from gapstack.papers.webster2018_agreement import (
    RED_ROWS,
    agreement_with_gold,
    read_red,
    red_template,
)


@pytest.fixture
def template(sample):
    found = agreement_with_gold(sample, {"none": np.zeros((len(sample), 2), dtype=bool)})
    return red_template(sample, found), found


def test_a_template_has_red_pairs_alone_each_once(template, sample):
    text, found = template
    lines = text.splitlines()[1:]
    assert len(lines) == min(RED_ROWS, len(found.red)) > 20
    ids = {(sample[row].id, "AB"[name]) for row, name in found.red.tolist()}
    pairs = [tuple(line.split("\t")[:2]) for line in lines]
    assert set(pairs) <= ids
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(
    ("word", "message"), [("", "has no category"), ("dunno", "line 2, column category: .*'dunno'")]
)
def test_files_without_a_category_or_with_an_unknown_one_are_refused(template, tmp_path, word, message):
    path = tmp_path / "red.tsv"
    path.write_text(template[0].replace("\t\t", f"\t{word}\t", 1), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_red(path)


def corpus(labels: str) -> Corpus:
    spans = (Span(0, 3), Span(4, 7), Span(8, 11))
    return Corpus(
        Example(f"r{i}", "she Ann Bob", *spans, label=Label("ABN".index(c))) for i, c in enumerate(labels)
    )


def decisions(answers: str) -> np.ndarray:
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
    found = agreement_with_gold(corpus(gold), {str(i): decisions(s) for i, s in enumerate(systems)})
    assert tuple(found.counts) == bins
