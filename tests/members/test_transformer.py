"""The transformer cues decide by the heads they should, and reach the bar on GAP."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Label
from gapstack.encoding.attention import Attention
from gapstack.errors import MemberError, NotFittedError
from gapstack.evaluation import score_decisions
from gapstack.members import create
from gapstack.members import transformer as module


@pytest.fixture
def planted(monkeypatch, sample_train):
    """Attention of 2 layers of 3 heads, of which L1H2 knows 9 answers of 10 and the others nothing."""
    random = np.random.default_rng(0)
    known = {}
    for example in sample_train:
        scores = random.random((2, 2, 2, 3)).astype(np.float32)
        if example.label != Label.NEITHER and random.random() < 0.9:
            scores[int(example.label), :, 1, 2] += 2
        known[example.text, example.pronoun, example.a] = scores

    def fake(corpus, *_):
        rows = [known[e.text, e.pronoun, e.a] for e in corpus]
        return Attention(np.array(rows), np.tile(np.eye(2, dtype=bool), (len(rows), 1, 1)))

    monkeypatch.setattr(module, "attention", fake)
    return sample_train


def test_single_finds_the_head_that_knows(planted):
    member = create("transformer_single").fit(planted)
    assert (member.layer_, member.head_) == (1, 2)
    table = member.head_table(planted)
    assert table.shape == (2, 3)
    assert table[1, 2] == pytest.approx(score_decisions(planted, member.decide(planted)).f1_overall)
    assert table[1, 2] > 80 > np.delete(table.ravel(), 5).max()


def test_single_keeps_to_the_head_it_is_given(planted):
    member = create("transformer_single", layer=0, head=1)
    before = member.decide(planted)
    assert (member.fit(planted).layer_, member.head_) == (0, 1)
    np.testing.assert_array_equal(member.decide(planted), before)
    assert create("transformer_single", layer=0).fit(planted).layer_ == 0
    with pytest.raises(NotFittedError):
        create("transformer_single").decide(planted)


def test_multi_keeps_the_head_that_knows_and_decides_names_apart(planted):
    member = create("transformer_multi").fit(planted)
    assert len(member.selected_) == 3
    assert 1 * 3 + 2 in member.selected_  # L1H2
    decided = member.decide(planted)
    assert score_decisions(planted, decided).f1_overall > 80
    names = member.predict_proba(planted)[:, :2]
    # what is TRUE by the paper's rule has more than half of what the trees gave, whatever the floor did
    assert (names[decided] > 0.4).all()


def test_labels_of_one_kind_are_refused(planted):
    with pytest.raises(MemberError, match="of both kinds"):
        create("transformer_multi").fit(planted.map(lambda e: replace(e, label=Label.NEITHER)))
