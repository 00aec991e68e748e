"""Stacking files: aligned by id, honest, refused by name where it cannot be."""

import numpy as np
import pytest

from gapstack.cli.tables import stack_table
from gapstack.comparison.results import score_stack
from gapstack.data.gap_files import write_scorer_tsv, write_submission
from gapstack.errors import DataError, MemberError
from gapstack.evaluation import log_loss
from gapstack.runs.cross_validation import stack_files

KINDS = ("conditional", "simplex")


@pytest.fixture
def files(sample_train, tmp_path):
    """Two submissions that know something each, in different orders."""
    rng = np.random.default_rng(0)
    truth = np.eye(3)[sample_train.labels]
    paths = []
    for number, sharpness in enumerate([2.0, 1.0]):
        weights = np.exp(sharpness * truth + rng.normal(size=truth.shape))
        order = rng.permutation(len(sample_train))
        paths.append(tmp_path / f"{number}.csv")
        ids = [sample_train.ids[row] for row in order]
        write_submission(paths[-1], ids, (weights / weights.sum(axis=1, keepdims=True))[order])
    return paths


def test_the_stack_is_better_than_its_files_and_the_table_has_them_all(files, sample_train):
    found = stack_files(files, sample_train, folds=4, kinds=KINDS)
    best = min(log_loss(sample_train.labels, answers) for answers in found.members.values())
    assert log_loss(sample_train.labels, found.nested.out_of_fold) < best
    table = stack_table(score_stack(found))
    assert [row["name"] for row in table.json()["sections"][0]["rows"]] == ["0", "1", "stack"]
    assert "95% intervals" in table.text()


def test_the_order_in_which_kinds_are_named_does_not_matter(files, sample_train):
    one = stack_files(files, sample_train, folds=3, kinds=KINDS).nested
    other = stack_files(files, sample_train, folds=3, kinds=KINDS[::-1]).nested
    assert (one.name, one.choices) == (other.name, other.choices)


def test_what_cannot_be_stacked_is_refused_by_name(files, sample_train, tmp_path):
    with pytest.raises(DataError, match="1 file to stack"):
        stack_files(files[:1], sample_train)
    write_submission(tmp_path / "few.csv", sample_train.ids[:5], np.full((5, 3), 1 / 3))
    with pytest.raises(DataError, match=r"few\.csv"):
        stack_files([files[0], tmp_path / "few.csv"], sample_train)
    write_scorer_tsv(tmp_path / "d.tsv", sample_train.ids, np.zeros((len(sample_train), 2), dtype=int))
    with pytest.raises(DataError, match=r"d\.tsv.*decisions without probabilities"):
        stack_files([files[0], tmp_path / "d.tsv"], sample_train)
    with pytest.raises(MemberError, match='no stacker is called "forest"'):
        stack_files(files, sample_train, kinds=("forest",))
