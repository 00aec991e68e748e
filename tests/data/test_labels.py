"""Label sets change the rows their lists name, and nothing where a list and the corpus disagree."""

import csv

import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.gap_data import relabel
from gapstack.data.labels import lists_of, with_labels
from gapstack.errors import DataError, MismatchError

A, B, NEITHER = Label


def corpus_of(**labels):
    return Corpus(
        Example(i.replace("_", "-"), "she Ann Eve", Span(0, 3), Span(4, 7), Span(8, 11), label=label)
        for i, label in labels.items()
    )


@pytest.fixture
def lists(tmp_path):
    """Three small lists: rows 1 to 9 of development, all A in official GAP."""

    def write(name, header, *rows):
        lines = ["\t".join(["ID", "old_label", "new_label", *header])]
        lines += ["\t".join([f"development-{row[0]}", *row[1:]]) for row in rows]
        (tmp_path / f"corrections_{name}.tsv").write_text("\n".join(lines) + "\n")

    write("liu", [], ("1", "A", "B"), ("2", "A", "B"), ("3", "A", "B"), ("5", "A", "NEITHER"))
    write("kaggle", [], ("1", "A", "B"), ("2", "A", "NEITHER"), ("4", "A", "A"), ("6", "A", "B"))
    write(
        "attree",
        ["raw_line"],
        *[
            ("1", "A", "B", "1-x (B)"),
            ("3", "A", "NEITHER", "3-neither"),
            ("4", "A", "UNCLEAR", "4 - either"),
        ],
        *[("5", "A", "NEITHER", "#5-neither?"), ("6", "A", "B", "6-(B)"), ("6", "A", "UNCLEAR", "#6?")],
        *[("7", "A", "B", "7-(B)"), ("7", "A", "B", "#7-(B)??"), ("8", "A", "NEITHER", "#8-neither?")],
    )
    return lambda name: [tmp_path / f"corrections_{one}.tsv" for one in lists_of(name)]


@pytest.fixture
def official():
    return corpus_of(**{f"development_{n}": A for n in range(1, 10)})


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("official", {}),
        ("liu", {1: B, 2: B, 3: B, 5: NEITHER}),
        ("kaggle", {1: B, 2: NEITHER, 6: B}),
        ("attree", {1: B, 3: NEITHER, 6: B, 7: B}),  # lines with # are comments
        ("majority", {1: B, 5: NEITHER}),  # 5 by a doubtful line; 6 voided by one
    ],
)
def test_label_sets_by_hand(lists, official, name, changed):
    found = with_labels(official, name, lists(name))
    assert found.label_set == name
    assert {int(e.id.split("-")[1]): e.label for e in found if e.label != A} == changed
    assert found.fingerprint == official.fingerprint


def test_a_list_made_for_other_labels_is_refused_with_its_line(lists):
    with pytest.raises(DataError, match="found A; expected the label of development-2") as caught:
        with_labels(corpus_of(development_1=A, development_2=B), "liu", lists("liu"))
    assert caught.value.place.line == 3
    assert with_labels(corpus_of(development_2=A, test_1=B), "liu", lists("liu")).labels.tolist() == [B, B]


def test_label_sets_are_made_from_official_labels_of_gap_alone(lists, official, sample):
    with pytest.raises(MismatchError, match="made from official ones, and corpus has liu"):
        with_labels(with_labels(official, "liu", lists("liu")), "kaggle", lists("kaggle"))
    with pytest.raises(MismatchError, match="only rows of GAP"):
        with_labels(sample, "liu", lists("liu"))


@pytest.fixture(scope="module")
def gap(gap_splits):
    return gap_splits["development"] + gap_splits["validation"] + gap_splits["test"]


def test_majority_is_the_one_that_was_counted_by_hand(gap, gap_folder):
    """``corrections_merged.tsv`` has the three lists side by side, with the votes for the commonest label."""
    with (gap_folder / "gap" / "corrections_merged.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    merged = {row["ID"]: Label[row["majority_new"]] for row in rows if int(row["votes_for_majority"]) >= 2}
    found = relabel(gap, "majority")
    changed = {new.id: new.label for new, old in zip(found, gap, strict=True) if new.label != old.label}
    assert changed == merged
