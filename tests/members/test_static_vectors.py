"""Beyond the contract: which words reach the answer, and that the space is the one asked for."""

import numpy as np
import pytest

from gapstack.data import Example, Span
from gapstack.errors import MismatchError
from gapstack.members import create, saved
from gapstack.members.identity import identity_of

TEXT = "The guard liked the nurse because they were lovely ."
ROW = Example("1", TEXT, Span(34, 38), Span(0, 9), Span(16, 25))
QUICK = {"seeds": 1, "training": {"epochs": 2}}


@pytest.fixture
def file(tmp_path, sample_train):
    """Random vectors of all words of the sample, in GloVe's text format."""
    found = sorted({word for row in sample_train for word in row.text.lower().split()})
    chosen = np.random.default_rng(0).normal(size=(len(found), 8))
    lines = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in zip(found, chosen, strict=True))
    (tmp_path / "space.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "space.txt"


def test_other_vectors_than_those_fitted_over_are_refused(file, sample_train, tmp_path):
    member = create("static_vectors", vectors=str(file), **QUICK).fit(sample_train[:40])
    saved.save(member, "static_vectors", tmp_path / "member")
    rows = sample_train[:5]
    loaded = saved.load(tmp_path / "member")
    np.testing.assert_array_equal(loaded.predict_proba(rows), member.predict_proba(rows))
    file.write_text(file.read_text().replace("1", "2"))
    with pytest.raises(MismatchError, match="vectors changed"):
        saved.load(tmp_path / "member")


def test_contextual_vectors_reach_the_answer_and_the_identity(sample_train, tmp_path):
    plain, both = create("static_vectors", **QUICK), create("static_vectors", contextual=True, **QUICK)
    answers = [member.fit(sample_train[:40]).predict_proba(sample_train[:5]) for member in (plain, both)]
    assert np.abs(answers[0] - answers[1]).max() > 1e-3
    assert "encoder" not in identity_of(plain)
    assert "encoder" in identity_of(both)
    saved.save(both, "static_vectors", tmp_path / "member")
    np.testing.assert_array_equal(saved.load(tmp_path / "member").predict_proba(sample_train[:5]), answers[1])
