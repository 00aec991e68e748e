import numpy as np
import pytest

from gapstack.data import Label
from gapstack.members import create
from gapstack.resolvers import shares
from tests.resolvers.test_shares import NearestWord, rows


@pytest.mark.parametrize("label", [Label.A, Label.B, Label.NEITHER])
def test_the_member_learns_what_the_resolver_is_worth(label, monkeypatch):
    monkeypatch.setattr(shares, "text_resolver", NearestWord)
    corpus = rows(30, label)
    found = create("running_text").fit(corpus).predict_proba(corpus)
    assert (found.argmax(axis=1) == label).all()


def test_rows_that_the_resolver_does_not_answer_are_predicted(monkeypatch):
    monkeypatch.setattr(shares, "text_resolver", NearestWord)
    member = create("running_text").fit(rows(12, Label.B) + rows(24, Label.A)[12:])
    monkeypatch.setattr(NearestWord, "found", staticmethod(lambda text: []))
    new = rows(40, Label.A)[36:]
    assert not shares.shares(new).any()
    answers = member.predict_proba(new)
    np.testing.assert_allclose(answers[:, Label.A], answers[:, Label.B])
