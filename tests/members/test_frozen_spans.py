"""Beyond the contract: it learns, it computes nothing twice, and it says what it cannot do."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.members.frozen_spans import FrozenSpans

QUICK = {"seeds": 2, "epochs": 10, "width": 8, "hidden": 16, "batch_size": 32, "learning_rate": 5e-3}


@pytest.fixture
def member(tiny_encoder_folder) -> FrozenSpans:
    return FrozenSpans(encoder=str(tiny_encoder_folder), **QUICK)


def test_folds_that_are_learned_together_never_see_what_they_leave_out(member, sample_train):
    corpus, rows = sample_train[:45], np.arange(45)
    otherwise = [Label((row.label + 1) % 3) if place >= 30 else row.label for place, row in enumerate(corpus)]
    changed = Corpus([replace(row, label=label) for row, label in zip(corpus, otherwise, strict=True)])
    parts = [rows[:30], rows[15:]]
    one = member.fit_each([corpus.take(part) for part in parts])
    other = member.fit_each([changed.take(part) for part in parts])
    held = sample_train[60:].unlabelled()
    np.testing.assert_array_equal(one[0].predict_proba(held), other[0].predict_proba(held))
    assert np.abs(one[1].predict_proba(held) - other[1].predict_proba(held)).max() > 0.01


def test_text_without_pieces_is_refused_by_its_id(member, sample_train):
    member.fit(sample_train[:30])
    blank = Example("blank-1", "\u200b\u200c\u200d", Span(0, 1), Span(1, 2), Span(2, 3))
    with pytest.raises(MemberError, match=r"'blank-1'.*no piece"):
        member.predict_proba(Corpus([blank]))
