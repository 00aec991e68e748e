"""One comparison for all tests: planted members on the sample, of known order, one of them without probabilities."""

import numpy as np
import pytest

from gapstack.comparison import measure, read_entries
from gapstack.data.gap_files import write_submission


def base_predictions(labels, sharpness, seed):
    """Probabilities that are right the more often, the sharper."""
    rng = np.random.default_rng(seed)
    raw = np.exp(sharpness * np.eye(3)[labels] + rng.normal(size=(len(labels), 3)))
    return raw / raw.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def files(sample_test, tmp_path_factory):
    """A good, a middling and a poor submission, and a scorer TSV that is TRUE for both names in its first row."""
    folder = tmp_path_factory.mktemp("answers")
    for seed, (name, sharpness) in enumerate({"good": 4.0, "middling": 2.0, "poor": 0.2}.items()):
        answers = base_predictions(sample_test.labels, sharpness, seed)
        write_submission(folder / f"{name}.csv", sample_test.ids, answers)
    rows = [
        f"{i}\t{label == 0}\t{label == 1}"
        for i, label in zip(sample_test.ids, sample_test.labels, strict=True)
    ]
    rows[0] = f"{sample_test.ids[0]}\tTrue\tTrue"
    (folder / "decided.tsv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="session")
def made(files, sample_test):
    """The comparison of all four."""
    names = ("poor.csv", "decided.tsv", "good.csv", "middling.csv")
    rows, entries = read_entries([str(files / name) for name in names], sample_test)
    return measure([rows], entries, replicates=300, seed=1)
